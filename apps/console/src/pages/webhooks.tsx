import { useState } from 'preact/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { attemptsOf, type Outcome, outcomeOf } from '../delivery-outcome';
import { useWords } from '../language';
import { useBot } from '../queries';
import { lethe } from '../service';
import { useAllowed } from '../session';
import { Code, Fault, Loaded, Table } from '../ui';

/** The deliveries of the bot with their attempts, and what can be sent again. */
export function WebhooksPage() {
  const { t, time } = useWords();
  const queries = useQueryClient();
  const canSend = useAllowed('admin');
  const [page, setPage] = useState(1);
  const [shown, setShown] = useState<string | undefined>();
  const bot = useBot();
  const deliveries = useQuery({
    queryKey: ['deliveries', page],
    queryFn: () => lethe.webhooks.deliveries().page(page),
  });
  const refresh = async (): Promise<void> => {
    await Promise.all(
      ['bot', 'deliveries', 'delivery'].map((name) => queries.invalidateQueries({ queryKey: [name] })),
    );
  };
  const sent = async (id: string, before: number): Promise<SentTo> => {
    void refresh();
    const { webhook_url: url } = await lethe.bots.me();
    return { ...(await outcomeOf(() => lethe.webhooks.delivery(id), before)), url };
  };
  const test = useMutation({
    mutationFn: async () => sent((await lethe.webhooks.test()).id, 0),
    onSettled: refresh,
  });
  const again = useMutation({
    mutationFn: async (id: string) => {
      setShown(id);
      const before = attemptsOf(await lethe.webhooks.delivery(id));
      await lethe.webhooks.redeliver(id);
      return sent(id, before);
    },
    onSettled: refresh,
  });
  return (
    <>
      <Loaded from={bot}>
        {({ webhook_url: url }) => (
          <p class="small">
            {url === null ? (
              t('noTarget')
            ) : (
              <>
                {t('target')} <code>{url}</code>
              </>
            )}
          </p>
        )}
      </Loaded>
      {canSend && (
        <div class="actions">
          <button type="button" disabled={test.isPending} onClick={() => test.mutate()}>
            {t('sendTest')}
          </button>
        </div>
      )}
      <div role="status" aria-live="polite">
        <Sent of={test} />
      </div>
      <Fault error={test.error} />
      <Loaded from={deliveries}>
        {(found) => (
          <Table
            caption={t('webhooks')}
            of={found}
            onPage={setPage}
            columns={[
              { title: t('time'), cell: ({ created_at: at }) => time(at) },
              { title: t('event'), cell: ({ event }) => <Code kind="webhook" of={event} /> },
              {
                title: t('status'),
                cell: ({ status }) => <Code kind="delivery" of={status} class={`badge ${status}`} />,
              },
              {
                title: t('lastOutcome'),
                cell: ({ last_outcome: last, last_status_code: code }) => (
                  <Result outcome={last} status={code} />
                ),
              },
              { title: t('nextAttempt'), cell: ({ next_attempt_at: at }) => time(at) },
              {
                title: t('attempts'),
                cell: ({ id, attempt_count: attempts }) => (
                  <button
                    type="button"
                    aria-expanded={shown === id}
                    onClick={() => setShown(shown === id ? undefined : id)}
                  >
                    {attempts}
                  </button>
                ),
              },
              {
                title: t('redeliver'),
                cell: ({ id, status }) =>
                  canSend ? (
                    <button type="button" disabled={again.isPending} onClick={() => again.mutate(id)}>
                      {t(status === 'pending' ? 'tryNow' : 'redeliver')}
                    </button>
                  ) : (
                    '–'
                  ),
              },
            ]}
            below={({ id }) =>
              shown === id && (
                <tr>
                  <td class="below" colSpan={7}>
                    <div role="status" aria-live="polite">
                      {again.variables === id && <Sent of={again} />}
                    </div>
                    {again.variables === id && <Fault error={again.error} />}
                    <Attempts id={id} />
                  </td>
                </tr>
              )
            }
          />
        )}
      </Loaded>
    </>
  );
}

/** What became of a call that was asked for here, and the address at that time. */
interface SentTo extends Outcome {
  readonly url: string | null;
}

function Sent({ of }: { readonly of: { readonly isPending: boolean; readonly data: SentTo | undefined } }) {
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

function Result({ outcome, status }: { readonly outcome: string | null; readonly status: number | null }) {
  if (outcome === null) return <>–</>;
  return (
    <Code kind="outcome" of={outcome}>
      {status !== null && ` (${status})`}
    </Code>
  );
}

function Attempts({ id }: { readonly id: string }) {
  const { t, time, count } = useWords();
  const delivery = useQuery({ queryKey: ['delivery', id], queryFn: () => lethe.webhooks.delivery(id) });
  return (
    <Loaded from={delivery}>
      {({ attempts }) => (
        <Table
          caption={t('attempts')}
          of={{ items: attempts, page: 1, total_pages: 1, total_count: attempts.length }}
          columns={[
            { title: t('attempts'), cell: ({ number }) => count(number) },
            { title: t('time'), cell: ({ started_at: at }) => time(at) },
            {
              title: t('result'),
              cell: ({ outcome, status_code: code }) => <Result outcome={outcome} status={code} />,
            },
            { title: t('durationMs'), cell: ({ duration_ms: ms }) => (ms === null ? '–' : count(ms)) },
          ]}
        />
      )}
    </Loaded>
  );
}
