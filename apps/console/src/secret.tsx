import { useState } from 'preact/hooks';
import { useWords } from './language';

/** A secret that is shown once, with a button that copies it. */
export function Secret({ text }: { readonly text: string }) {
  const { t } = useWords();
  const [isCopied, setCopied] = useState(false);
  return (
    <div class="notice good" role="status">
      <p>{t('shownOnce')}</p>
      <p>
        <code>{text}</code>
      </p>
      <button
        type="button"
        onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
      >
        {isCopied ? t('copied') : t('copy')}
      </button>
    </div>
  );
}
