import { useState } from 'preact/hooks';
import { useQuery } from '@tanstack/preact-query';
import { useLocation, useSearch } from 'wouter-preact';
import { useHistoryState } from 'wouter-preact/use-browser-location';
import { useWords } from '../language';
import { ServerName, UserLink, When } from '../parts';
import { Loaded, Table } from '../ui';
import './audit.css';
import { LogCheck } from './audit-checks';
import { ListDownload, LogDownload } from './audit-downloads';
import { type AuditFilter, askedBy, type Place, searchOf } from './audit-filter';
import { Filters } from './audit-filters';
import { Below, ErasedOr, Line, What, Who } from './audit-row';
import { readBy } from './audit-source';
import { type Screen, screenOf } from './audit-walk';

/** The audit log: what it is filtered by and where it is read is in the address. */
export function AuditPage() {
  const { t } = useWords();
  const search = useSearch();
  const [, navigate] = useLocation();
  const { filter, place, bad } = askedBy(search);
  const events = useQuery({
    queryKey: ['audit', filter, place],
    queryFn: () => screenOf(readBy(filter), filter, place),
  });
  const show = (to: AuditFilter, at?: Place): void =>
    navigate(`/audit${searchOf(to, at)}`, { state: { isWalked: at !== undefined } });
  // Checked is what is shown then: new events and erasures change the page.
  const anew = async () => {
    const { data } = await events.refetch({ throwOnError: true });
    return { events: data?.events ?? [], filter };
  };
  const { from, to } = filter;
  return (
    <div class="log">
      <Filters filter={filter} onChange={show} />
      {bad.length > 0 && <p class="notice warn">{t('badFilter', { what: bad.join(', ') })}</p>}
      {from !== undefined && to !== undefined && from > to && <p class="notice warn">{t('badPeriod')}</p>}
      <Loaded from={events}>
        {(screen) => <Rows key={search} screen={screen} isFiltered={search !== ''} onOnly={show} />}
      </Loaded>
      <Pager screen={events.data} place={place} onPlace={(at) => show(filter, at)} />
      <section class="log-tools">
        <h2 class="hidden">{t('logTools')}</h2>
        <LogCheck page={search} shown={anew} />
        <LogDownload />
        <ListDownload filter={filter} format="csv" />
        <ListDownload filter={filter} format="json" />
      </section>
      <p class="small">{t('logToolsLead')}</p>
    </div>
  );
}

function Rows({
  screen,
  isFiltered,
  onOnly,
}: {
  readonly screen: Screen;
  readonly isFiltered: boolean;
  readonly onOnly: (filter: AuditFilter) => void;
}) {
  const { t, time } = useWords();
  const [open, setOpen] = useState<string | undefined>();
  const { events, lookedTo } = screen;
  const columns = [
    { title: t('time'), cell: (event) => <When at={event.created_at} /> },
    { title: t('event'), cell: (event) => <What event={event} /> },
    { title: t('who'), cell: (event) => <Who event={event} /> },
    {
      title: t('user'),
      cell: (event) => (
        <ErasedOr event={event}>
          <UserLink user={event.user_id} server={event.guild_id} />
        </ErasedOr>
      ),
    },
    {
      title: t('server'),
      cell: (event) => (
        <ErasedOr event={event}>
          <ServerName id={event.guild_id} />
        </ErasedOr>
      ),
    },
    {
      title: t('details'),
      cell: (event) => (
        <Line
          event={event}
          isOpen={open === event.id}
          onClick={() => setOpen(open === event.id ? undefined : event.id)}
        />
      ),
    },
  ] satisfies Parameters<typeof Table<Screen['events'][number]>>[0]['columns'];
  if (events.length === 0 && lookedTo === undefined)
    return <p class="empty">{t(isFiltered ? 'logNoneFound' : 'logNone')}</p>;
  return (
    <>
      {events.length > 0 && (
        <Table
          caption={t('audit')}
          of={{ items: events, page: 1, total_pages: 1, total_count: events.length }}
          columns={columns}
          below={(event) =>
            open === event.id && <Below event={event} columns={columns.length} onOnly={onOnly} />
          }
        />
      )}
      {lookedTo !== undefined && <p class="notice">{t('lookedTo', { time: time(lookedTo) })}</p>}
    </>
  );
}

function Pager({
  screen,
  place,
  onPlace,
}: {
  readonly screen: Screen | undefined;
  readonly place: Place | undefined;
  readonly onPlace: (place?: Place) => void;
}) {
  const { t, count } = useWords();
  const state = useHistoryState<{ readonly isWalked?: boolean } | null>();
  const next = screen?.next;
  return (
    <div class="pager">
      <button type="button" disabled={place === undefined} onClick={() => onPlace()}>
        {t('newest')}
      </button>
      <button
        type="button"
        disabled={place === undefined || state?.isWalked !== true}
        onClick={() => history.back()}
      >
        {t('newer')}
      </button>
      <button type="button" disabled={next === undefined} onClick={() => onPlace(next)}>
        {t('older')}
      </button>
      {screen?.total !== undefined && (
        <span>
          {t('entries')} {count(screen.total)}
        </span>
      )}
    </div>
  );
}
