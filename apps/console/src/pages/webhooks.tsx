import { useState } from 'preact/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { useWords } from '../language';
import { lethe } from '../service';
import { useAllowed } from '../session';
import { Fault, Loaded, Table } from '../ui';

/** The deliveries of the bot with their attempts, and what can be sent again. */
export function WebhooksPage() {
  const { t, time, named } = useWords();
  const queries = useQueryClient();
  const canSend = useAllowed('admin');
  const [page, setPage] = useState(1);
  const [shown, setShown] = useState<string | undefined>();
  const deliveries = useQuery({
    queryKey: ['deliveries', page],
    queryFn: () => lethe.webhooks.deliveries().page(page),
  });
  const again = useMutation({
    mutationFn: (id: string) => lethe.webhooks.redeliver(id),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['deliveries'] }),
  });
  const test = useMutation({ mutationFn: () => lethe.webhooks.test() });
  return (
    <>
      {canSend && (
        <div class="actions">
          <button type="button" disabled={test.isPending} onClick={() => test.mutate()}>
            {t('sendTest')}
          </button>
        </div>
      )}
      <div role="status" aria-live="polite">
        {test.data !== undefined && <p class="notice good">{t('testSent')}</p>}
        {again.data !== undefined && <p class="notice good">{t('redelivered')}</p>}
      </div>
      <Fault error={test.error ?? again.error} />
      <Loaded from={deliveries}>
        {(found) => (
          <Table
            caption={t('webhooks')}
            of={found}
            onPage={setPage}
            columns={[
              { title: t('time'), cell: ({ created_at: at }) => time(at) },
              { title: t('event'), cell: ({ event }) => <code>{event}</code> },
              {
                title: t('status'),
                cell: ({ status }) => <span class={`badge ${status}`}>{named('delivery', status)}</span>,
              },
              {
                title: t('lastOutcome'),
                cell: ({ last_outcome: outcome, last_status_code: code }) =>
                  outcome === null ? '–' : `${outcome}${code === null ? '' : ` (${code})`}`,
              },
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
                  canSend && status !== 'pending' ? (
                    <button type="button" disabled={again.isPending} onClick={() => again.mutate(id)}>
                      {t('redeliver')}
                    </button>
                  ) : (
                    '–'
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      {shown !== undefined && <Attempts id={shown} />}
    </>
  );
}

function Attempts({ id }: { readonly id: string }) {
  const { t, time, count } = useWords();
  const delivery = useQuery({ queryKey: ['delivery', id], queryFn: () => lethe.webhooks.delivery(id) });
  return (
    <section>
      <h2>{t('attempts')}</h2>
      <Loaded from={delivery}>
        {({ attempts }) => (
          <Table
            caption={t('attempts')}
            of={{ items: attempts, page: 1, total_pages: 1, total_count: attempts.length }}
            onPage={() => undefined}
            columns={[
              { title: t('attempts'), cell: ({ number }) => count(number) },
              { title: t('time'), cell: ({ started_at: at }) => time(at) },
              {
                title: t('result'),
                cell: ({ outcome, status_code: code }) => `${outcome}${code === null ? '' : ` (${code})`}`,
              },
              { title: t('durationMs'), cell: ({ duration_ms: ms }) => (ms === null ? '–' : count(ms)) },
            ]}
          />
        )}
      </Loaded>
    </section>
  );
}
