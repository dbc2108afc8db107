import { useOperatorWords } from './words';

/**
 * Something that is wrong, with what the operator does about it. Where it is translated, the sentence of the service is
 * beneath: it has the names, numbers and times.
 */
export function Advised({
  id,
  level,
  said,
}: {
  readonly id: string;
  readonly level?: 'fault' | 'warning';
  readonly said: { readonly says: string; readonly mend: string };
}) {
  const { t, advice } = useOperatorWords();
  const translated = advice(id);
  const { says, mend } = translated ?? said;
  const lang = translated === undefined ? 'en' : undefined;
  return (
    <>
      <p title={id}>
        <strong>
          {level !== undefined && `${t(level)}: `}
          <span lang={lang}>{says}</span>
        </strong>
      </p>
      {translated !== undefined && (
        <p class="note" lang="en">
          {said.says}
        </p>
      )}
      <p>
        {t('whatToDo')}: <span lang={lang}>{mend}</span>
      </p>
    </>
  );
}
