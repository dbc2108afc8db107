import { useQuery } from '@tanstack/preact-query';
import type { Outcome } from '../delivery-outcome';
import { useWords } from '../language';
import { When } from '../parts';
import { useBot } from '../queries';
import { lethe } from '../service';
import { ago } from '../times';
import { Code, Loaded, Table } from '../ui';

/** What became of a call that was asked for here, and the address at that time. */
export interface SentTo extends Outcome {
  readonly url: string | null;
}

export function Sent({
  of,
}: {
  readonly of: { readonly isPending: boolean; readonly data: SentTo | undefined };
}) {
  const { t, time, count, named } = useWords();
  if (of.isPending) return <p class="notice">{t('awaited')}</p>;
  if (of.data === undefined) return null;
  const { delivery, attempt, isUnderWay, url } = of.data;
  const isDelivered = attempt?.outcome === 'confirmed';
  const what =
    attempt === undefined
      ? delivery.status === 'pending'
        ? t(isUnderWay ? 'callUnderWay' : 'notSentYet')
        : `${t('callFailed')}: ${named('delivery', delivery.status)}`
      : isDelivered
        ? t('callDelivered')
        : `${t('callFailed')}: ${named('outcome', attempt.outcome)}`;
  const facts = [
    url === null ? undefined : new URL(url).host,
    attempt?.status_code == null ? undefined : `${t('statusCode')} ${attempt.status_code}`,
    attempt?.duration_ms == null ? undefined : `${count(attempt.duration_ms)} ms`,
    delivery.next_attempt_at === null || isUnderWay
      ? undefined
      : `${t('nextAttempt')}: ${time(delivery.next_attempt_at)}`,
  ];
  return (
    <p class={`notice ${attempt === undefined ? 'warn' : isDelivered ? 'good' : 'bad'}`}>
      {[what, ...facts.filter((fact) => fact !== undefined)].join(' · ')}
    </p>
  );
}

export function Result({
  outcome,
  status,
}: {
  readonly outcome: string | null;
  readonly status: number | null;
}) {
  if (outcome === null) return <>–</>;
  return (
    <Code kind="outcome" of={outcome}>
      {status !== null && ` (${status})`}
    </Code>
  );
}

/** When a call is tried next. A call that is due stays so while the receiver does not answer: one call at a time tries it. */
export function Next({ at }: { readonly at: string }) {
  const { t, time, language } = useWords();
  const { data: bot } = useBot();
  if (Date.parse(at) > Date.now())
    return (
      <>
        {t('nextAttempt')}: {ago(language, at) === undefined ? time(at) : <When at={at} />}
      </>
    );
  const isWaiting = bot?.webhook_health?.status === 'failing';
  return <time dateTime={at}>{t(isWaiting ? 'dueAndWaits' : 'dueSince', { time: time(at) })}</time>;
}

/** The attempts of a call, the latest ones last. */
export function Attempts({ id }: { readonly id: string }) {
  const { t, count } = useWords();
  const delivery = useQuery({ queryKey: ['delivery', id], queryFn: () => lethe.webhooks.delivery(id) });
  return (
    <Loaded from={delivery}>
      {({ attempts, next_attempt_at: next }) => (
        <>
          {next !== null && (
            <p class="small">
              <Next at={next} />
            </p>
          )}
          <Table
            caption={t('attempts')}
            of={{ items: attempts, page: 1, total_pages: 1, total_count: attempts.length }}
            columns={[
              { title: t('attempts'), cell: ({ number }) => count(number) },
              { title: t('time'), cell: ({ started_at: at }) => <When at={at} /> },
              {
                title: t('result'),
                cell: ({ outcome, status_code: code }) => <Result outcome={outcome} status={code} />,
              },
              { title: t('durationMs'), cell: ({ duration_ms: ms }) => (ms === null ? '–' : count(ms)) },
            ]}
          />
        </>
      )}
    </Loaded>
  );
}
