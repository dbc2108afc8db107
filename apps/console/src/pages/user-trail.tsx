import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { useQuery } from '@tanstack/preact-query';
import { useWords } from '../language';
import { When } from '../parts';
import { lethe } from '../service';
import { Code, Loaded, type Loading, Table } from '../ui';
import { DetailsLine, What, Who } from './audit-row';
import type { ShownEvent } from './audit-walk';
import { Coverage } from './user-coverage';
import type { Ids } from './user-ids';
import { UserServer } from './users';

const PAGE_SIZE = 10;
/** Events of erasures among which that of the service is looked for. */
const LOOKS_MAX = 1_000;

/** A list of what happened. Without an entry it is left out where nothing is held about the user. */
function Trail<Page extends { readonly total_count: number }>({
  title,
  from,
  isHeld,
  children,
}: {
  readonly title: string;
  readonly from: Loading<Page>;
  readonly isHeld: boolean;
  readonly children: (page: Page) => ComponentChildren;
}) {
  if (!isHeld && (from.data?.total_count ?? 0) === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <Loaded from={from}>{children}</Loaded>
    </section>
  );
}

/** The events of the audit log about a user in one server. */
export function Events({ ids, isHeld }: { readonly ids: Ids; readonly isHeld: boolean }) {
  const { t } = useWords();
  const [page, setPage] = useState(1);
  const events = useQuery({
    queryKey: ['events-of-user', ids, page],
    queryFn: () => lethe.audit.events(ids).page(page, PAGE_SIZE),
  });
  // Of its own, so that neither newer events nor another page hide it.
  const { data: erasure } = useQuery({
    queryKey: ['events-of-user', ids, 'erasure'],
    queryFn: () => erasureIn(lethe.audit.events({ ...ids, event_type: 'deletion_completed' })),
  });
  return (
    <>
      <Trail title={t('audit')} from={events} isHeld={isHeld}>
        {(found) => (
          <>
            <Table
              caption={t('audit')}
              of={found}
              onPage={setPage}
              columns={[
                { title: t('time'), cell: ({ created_at: at }) => <When at={at} /> },
                { title: t('event'), cell: (event) => <What event={event} class="line" /> },
                { title: t('who'), cell: (event) => <Who event={event} /> },
                { title: t('details'), cell: (event) => <DetailsLine event={event} /> },
              ]}
            />
            {found.total_count > 0 && (
              <p class="after">
                <Link href={`/audit?server=${ids.guild_id}&user=${ids.user_id}`}>{t('userInLog')}</Link>
              </p>
            )}
          </>
        )}
      </Trail>
      {typeof erasure === 'string' && <Coverage of={erasure} />}
    </>
  );
}

/** The id of the newest erasure among events about erasures; null where none of the first ones is of the service. */
async function erasureIn(events: AsyncIterable<ShownEvent>): Promise<string | null> {
  let looks = 0;
  for await (const { source, details } of events) {
    // A bot may write events of this type itself.
    if (source === 'service') {
      const { request_id: id } = (details ?? {}) as { readonly request_id?: unknown };
      return typeof id === 'string' ? id : null;
    }
    if ((looks += 1) === LOOKS_MAX) break;
  }
  return null;
}

/** The webhook calls about a user, of every server: the service filters them by the user alone. */
export function Deliveries({ ids, isHeld }: { readonly ids: Ids; readonly isHeld: boolean }) {
  const { t } = useWords();
  const [page, setPage] = useState(1);
  const { user_id } = ids;
  const deliveries = useQuery({
    queryKey: ['deliveries-of-user', user_id, page],
    queryFn: () => lethe.webhooks.deliveries({ user_id }).page(page, PAGE_SIZE),
  });
  return (
    <Trail title={t('userCalls')} from={deliveries} isHeld={isHeld}>
      {(found) => (
        <div class="calls">
          <Table
            caption={t('userCalls')}
            of={found}
            onPage={setPage}
            columns={[
              { title: t('time'), cell: ({ created_at: at }) => <When at={at} /> },
              { title: t('event'), cell: ({ event }) => <Code kind="webhook" of={event} /> },
              {
                title: t('server'),
                cell: ({ guild_id: id }) => (id === null ? t('all') : <UserServer id={id} />),
              },
              {
                title: t('status'),
                cell: ({ status }) => <Code kind="delivery" of={status} class={`badge ${status}`} />,
              },
              {
                title: t('lastOutcome'),
                cell: ({ last_outcome: outcome }) =>
                  outcome === null ? '–' : <Code kind="outcome" of={outcome} />,
              },
            ]}
          />
        </div>
      )}
    </Trail>
  );
}
