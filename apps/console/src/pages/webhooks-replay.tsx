import { useState } from 'preact/hooks';
import { useMutation } from '@tanstack/preact-query';
import { useWords } from '../language';
import { lethe } from '../service';
import { Confirm, submits } from '../confirm';

/** The calls since a time, sent again: the form, its confirmation and what became of it. */
export function Replay({ url, onSent }: { readonly url: string; readonly onSent: () => Promise<void> }) {
  const { t, time, count } = useWords();
  const [since, setSince] = useState('');
  const [isOfUndelivered, setOfUndelivered] = useState(true);
  const [isAsking, setAsking] = useState(false);
  const [isInFuture, setInFuture] = useState(false);
  const replay = useMutation({
    // The field has the time zone of the browser, the interface takes a moment.
    mutationFn: () =>
      lethe.webhooks.replay({ since: new Date(since).toISOString(), undelivered_only: isOfUndelivered }),
    onSuccess: async () => {
      setAsking(false);
      await onSent();
    },
  });
  const ask = (): void => {
    const isLater = new Date(since).getTime() > Date.now();
    setInFuture(isLater);
    replay.reset();
    setAsking(!isLater);
  };
  return (
    <details class="replay">
      <summary>{t('replay')}</summary>
      <p class="small">{t('replayLead')}</p>
      <form class="row" onSubmit={submits(ask)}>
        <label>
          {t('replaySince')}
          <input
            type="datetime-local"
            required
            value={since}
            aria-invalid={isInFuture}
            aria-describedby={isInFuture ? 'replay-fault' : undefined}
            onInput={({ currentTarget }) => setSince(currentTarget.value)}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={isOfUndelivered}
            onChange={({ currentTarget }) => setOfUndelivered(currentTarget.checked)}
          />{' '}
          {t('replayUndelivered')}
        </label>
        <button type="submit">{t('replayAct')} …</button>
      </form>
      {isInFuture && (
        <p id="replay-fault" class="notice bad" role="alert">
          {t('replayFuture')}
        </p>
      )}
      <div role="status" aria-live="polite">
        {replay.data !== undefined && (
          <p class="notice good">
            {replay.data.queued === 0
              ? t('replayNone')
              : t('replayDone', { number: count(replay.data.queued) })}
          </p>
        )}
      </div>
      {isAsking && (
        <Confirm
          title={t('replayTitle')}
          note={t(isOfUndelivered ? 'replayNoteUndelivered' : 'replayNoteAll', {
            time: time(new Date(since).toISOString()),
            host: new URL(url).host,
          })}
          act={t('replayAct')}
          progress={t('replayRunning')}
          isRunning={replay.isPending}
          error={replay.error}
          onConfirm={() => replay.mutate()}
          onCancel={() => setAsking(false)}
        />
      )}
    </details>
  );
}
