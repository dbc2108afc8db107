import { useState } from 'preact/hooks';
import { useMutation, useQuery } from '@tanstack/preact-query';
import { useWords } from '../language';
import { lethe } from '../service';
import { Fault, Loaded, Table } from '../ui';
import { Value } from '../value';
import type { EventFilter, ShownEvent } from './audit-check';
import { EventCheck, PageCheck } from './audit-checks';

const ID = /^\d{17,20}$/;

const TYPES = [
  'consent_requested',
  'consent_accepted',
  'consent_revoked',
  'data_submitted',
  'data_exported',
  'data_deleted',
  'deletion_requested',
  'deletion_completed',
  'deletion_failed',
] as const;

type Filter = EventFilter & { readonly event_type?: (typeof TYPES)[number] };

/** The audit log with filters. The browser checks an event, or the page that is shown, against what was signed. */
export function AuditPage() {
  const { t, time, named } = useWords();
  const [page, setPage] = useState(1);
  const [filter, setFilter] = useState<Filter>({});
  const events = useQuery({
    queryKey: ['audit', filter, page],
    queryFn: () => lethe.audit.events(filter).page(page),
  });
  // Checked is what is shown then: new events and erasures change the page.
  const latest = useMutation({
    mutationFn: async () => (await events.refetch({ throwOnError: true })).data?.items ?? [],
  });
  const anew = (): Promise<readonly ShownEvent[]> => latest.mutateAsync();
  return (
    <>
      <Filters
        onChange={(to) => {
          setPage(1);
          setFilter(to);
        }}
      />
      <Loaded from={events}>
        {(found) => (
          <>
            {found.items.length > 0 && (
              <PageCheck key={JSON.stringify([filter, page])} filter={filter} shown={anew} />
            )}
            <Table
              caption={t('audit')}
              of={found}
              onPage={setPage}
              columns={[
                { title: t('time'), cell: ({ created_at: at }) => <span class="line">{time(at)}</span> },
                {
                  title: t('event'),
                  cell: ({ event_type: name, source }) => (
                    <>
                      <code>{name}</code> <span class="small">{named('source', source)}</span>
                    </>
                  ),
                },
                {
                  title: `${t('user')} / ${t('server')}`,
                  cell: (event) =>
                    event.erased === true ? (
                      <em>{t('eraseMark')}</em>
                    ) : (
                      <>
                        {event.user_id}
                        <br />
                        {event.guild_id}
                      </>
                    ),
                },
                { title: t('details'), cell: ({ details }) => <Value of={details} /> },
                { title: t('proof'), cell: (event) => <EventCheck key={event.id} event={event} /> },
              ]}
            />
          </>
        )}
      </Loaded>
      <Fault error={latest.error} />
    </>
  );
}

function Filters({ onChange }: { readonly onChange: (to: Filter) => void }) {
  const { t } = useWords();
  const [type, setType] = useState<(typeof TYPES)[number] | ''>('');
  const [ids, setIds] = useState({ user_id: '', guild_id: '' });
  const apply = (name: typeof type, { user_id, guild_id }: typeof ids): void => {
    setType(name);
    setIds({ user_id, guild_id });
    onChange({
      ...(name !== '' && { event_type: name }),
      ...(ID.test(user_id) && { user_id }),
      ...(ID.test(guild_id) && { guild_id }),
    });
  };
  const field = (name: keyof typeof ids, title: string) => (
    <label>
      {title}
      <input
        inputMode="numeric"
        autocomplete="off"
        value={ids[name]}
        aria-invalid={ids[name] !== '' && !ID.test(ids[name])}
        onInput={({ currentTarget }) => apply(type, { ...ids, [name]: currentTarget.value.trim() })}
      />
    </label>
  );
  return (
    <form class="row" onSubmit={(event) => event.preventDefault()}>
      <label>
        {t('event')}
        <select value={type} onChange={({ currentTarget }) => apply(currentTarget.value as typeof type, ids)}>
          <option value="">{t('all')}</option>
          {TYPES.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      {field('user_id', t('userId'))}
      {field('guild_id', t('guildId'))}
    </form>
  );
}
