import { useState } from 'preact/hooks';
import { useCopied } from './copied';
import { useWords } from './language';
import { Leaving } from './leaving';

/** A secret that is shown once, with a button that copies it. Asks before the page is left without a copy. */
export function Secret({ text, name }: { readonly text: string; readonly name?: string }) {
  const { t } = useWords();
  const [kept, setKept] = useState<string | undefined>();
  const keep = (): void => setKept(text);
  const [isCopied, copy] = useCopied(text, keep);
  return (
    <div class="notice good" role="status">
      <Leaving isAsked={kept !== text} loses="secret" />
      {name !== undefined && (
        <p>
          <strong>
            <bdi>{name}</bdi>
          </strong>
        </p>
      )}
      <p>{t('shownOnce')}</p>
      <p>
        <code onCopy={keep}>{text}</code>
      </p>
      {copy && (
        <button type="button" onClick={copy}>
          {t(isCopied ? 'copied' : 'copy')}
        </button>
      )}
    </div>
  );
}
