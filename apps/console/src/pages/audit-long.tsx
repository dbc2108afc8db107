import { useEffect, useRef, useState } from 'preact/hooks';
import { useMutation } from '@tanstack/preact-query';
import { useWords } from '../language';

export interface Long<T> {
  readonly isRunning: boolean;
  readonly done: number;
  readonly data: T | undefined;
  readonly isCancelled: boolean;
  readonly error: Error | null;
  readonly begin: () => void;
  readonly cancel: () => void;
}

/** An act that takes its time: it tells how far it is, can be cancelled, and ends with its page. */
export function useLong<T>(
  act: (signal: AbortSignal, onDone: (done: number) => void) => Promise<T>,
): Long<T> {
  const running = useRef<AbortController>();
  const [done, setDone] = useState(0);
  useEffect(() => () => running.current?.abort(), []);
  const run = useMutation({
    mutationFn: async () => {
      const control = new AbortController();
      running.current = control;
      setDone(0);
      try {
        return { data: await act(control.signal, setDone) };
      } catch (error) {
        if (control.signal.aborted) return { isCancelled: true };
        throw error;
      }
    },
  });
  const ended = run.isPending ? undefined : run.data;
  return {
    isRunning: run.isPending,
    done,
    data: ended !== undefined && 'data' in ended ? ended.data : undefined,
    isCancelled: ended !== undefined && 'isCancelled' in ended,
    error: run.error,
    begin: () => {
      if (!run.isPending) run.mutate();
    },
    cancel: () => running.current?.abort(),
  };
}

/** How far an act is, with the way to end it. Without `of` its size is not known. */
export function Progress({
  text,
  done,
  of,
  onCancel,
}: {
  readonly text: string;
  readonly done: number;
  readonly of?: number;
  readonly onCancel: () => void;
}) {
  const { t } = useWords();
  const bar = of === undefined || of === 0 ? {} : { max: of, value: Math.min(done, of) };
  return (
    <div class="actions">
      <progress aria-label={text} {...bar} />
      <span>{text}</span>
      <button type="button" onClick={onCancel}>
        {t('cancel')}
      </button>
    </div>
  );
}
