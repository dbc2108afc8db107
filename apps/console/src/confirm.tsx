import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useWords } from './language';
import { Fault } from './ui';

/** Begins an act once until it has ended: a second click may come before the page shows that it has begun. */
export function useSingle(isRunning: boolean, error: unknown, act: () => void): () => void {
  const hasBegun = useRef(false);
  useLayoutEffect(() => {
    hasBegun.current = isRunning;
  }, [isRunning, error]);
  return () => {
    if (hasBegun.current) return;
    hasBegun.current = true;
    act();
  };
}

/** The act of a form, in place of what the browser does with it. */
export const submits =
  (act: () => void) =>
  (event: Event): void => {
    event.preventDefault();
    // A question may be within a form, which is not sent by the answer.
    event.stopPropagation();
    act();
  };

/** A question before an act. With `typed` the act needs this text, so that nobody does it by a slip. */
export function Confirm({
  title,
  note,
  typed,
  act,
  progress,
  isRunning,
  error,
  errorOfAct,
  onConfirm,
  onCancel,
}: {
  readonly title: string;
  readonly note?: string;
  readonly typed?: string;
  readonly act: string;
  /** What is being done while it runs. */
  readonly progress?: string;
  readonly isRunning: boolean;
  readonly error?: Error | null;
  /** What the error means for this act, in place of its own words. */
  readonly errorOfAct?: string | undefined;
  readonly onConfirm: () => void;
  readonly onCancel: () => void;
}) {
  const { t } = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  // Two questions can be open: an act that runs, and the page that is left.
  const id = useId();
  const confirm = useSingle(isRunning, error, onConfirm);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      // Nothing outside takes the focus before the dialog has left the page.
      queueMicrotask(() => {
        const isLost = document.activeElement === document.body;
        if (isLost && before instanceof HTMLElement && before.isConnected) before.focus();
      });
    };
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={`${id}-title`} onCancel={onCancel} onClose={onCancel}>
      <form onSubmit={submits(confirm)}>
        <h2 id={`${id}-title`}>{title}</h2>
        {note !== undefined && <p id={`${id}-note`}>{note}</p>}
        {typed !== undefined && (
          <label>
            {t('typeToConfirm', { text: typed })}
            <input
              autocomplete="off"
              aria-describedby={note === undefined ? undefined : `${id}-note`}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
        )}
        <Fault error={error} ofAct={errorOfAct} />
        <div role="status">
          {isRunning && progress !== undefined && (
            <p>
              <progress aria-label={progress} /> {progress}
            </p>
          )}
        </div>
        <div class="actions">
          <button type="button" onClick={onCancel}>
            {t('cancel')}
          </button>
          <button
            class="danger"
            type="submit"
            disabled={isRunning || (typed !== undefined && text !== typed)}
          >
            {act}
          </button>
        </div>
      </form>
    </dialog>
  );
}
