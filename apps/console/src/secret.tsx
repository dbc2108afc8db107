import { useCopied } from './copied';
import { useWords } from './language';

/** A secret that is shown once, with a button that copies it. */
export function Secret({ text }: { readonly text: string }) {
  const { t } = useWords();
  const [isCopied, copy] = useCopied(text);
  return (
    <div class="notice good" role="status">
      <p>{t('shownOnce')}</p>
      <p>
        <code>{text}</code>
      </p>
      {copy && (
        <button type="button" onClick={copy}>
          {t(isCopied ? 'copied' : 'copy')}
        </button>
      )}
    </div>
  );
}
