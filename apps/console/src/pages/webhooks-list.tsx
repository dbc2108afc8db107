import { useState } from 'preact/hooks';
import { keepPreviousData, useQuery } from '@tanstack/preact-query';
import { Link, useSearchParams } from 'wouter-preact';
import type { Schemas } from '@lethe/sdk';
import { Choice } from '../choice';
import { useWords } from '../language';
import { UserLink, When } from '../parts';
import { lethe } from '../service';
import { Code, Fault, Loaded, Table } from '../ui';
import { WORDS } from '../words';
import { Attempts, Next, Result, Sent, type SentTo } from './webhooks-sent';

type Delivery = Schemas['DeliveryView'];

const STATES = Object.keys(WORDS.en.delivery) as Delivery['status'][];
const EVENTS = Object.keys(WORDS.en.webhook) as Delivery['event'][];
const REFRESH_MS = 15_000;

/** The act that sends a call again. */
export interface Again {
  readonly isPending: boolean;
  readonly variables: string | undefined;
  readonly data: SentTo | undefined;
  readonly error: Error | null;
  readonly mutate: (id: string) => void;
}

/** The calls of a state and an event, newest first, page by page. Filter and place are in the address. */
export function Deliveries({ again }: { readonly again: Again | undefined }) {
  const { t, named } = useWords();
  const [address, setAddress] = useSearchParams();
  const status = STATES.find((each) => each === address.get('status'));
  const event = EVENTS.find((each) => each === address.get('event'));
  const after = address.get('after');
  const deliveries = useQuery({
    queryKey: ['deliveries', status, event, after],
    queryFn: () =>
      lethe.request('GET /webhooks/deliveries', {
        ...(status && { status }),
        ...(event && { event }),
        ...(after !== null && { after }),
      }),
    placeholderData: keepPreviousData,
    ...(after === null && { refetchInterval: REFRESH_MS }),
  });
  /** A change begins with the newest calls. */
  const filter = (name: 'status' | 'event', value: string | undefined): void => {
    const changed = new URLSearchParams(address);
    changed.delete('after');
    if (value === undefined) changed.delete(name);
    else changed.set(name, value);
    setAddress(changed);
  };
  const isFiltered = status !== undefined || event !== undefined;
  return (
    <>
      <div class="row">
        <Choice
          name={t('status')}
          all={t('anyState')}
          of={STATES.map((each) => [each, named('delivery', each)])}
          chosen={status}
          onChoose={(value) => filter('status', value)}
        />
        <Choice
          name={t('event')}
          all={t('anyEvent')}
          of={EVENTS.map((each) => [each, named('webhook', each)])}
          chosen={event}
          onChoose={(value) => filter('event', value)}
        />
        {(isFiltered || after !== null) && <Link href="/webhooks">{t('clearFilter')}</Link>}
      </div>
      <Loaded from={deliveries}>
        {({ deliveries: found, pagination }) => (
          <>
            {found.length === 0 ? (
              <p class="empty">{t(isFiltered ? 'noCallsOfFilter' : 'noCalls')}</p>
            ) : (
              <Calls of={found} again={again} />
            )}
            <Pager
              next={pagination.next}
              total={pagination.total_count}
              onPlace={(place) => {
                const changed = new URLSearchParams(address);
                if (place === null) changed.delete('after');
                else changed.set('after', place);
                setAddress(changed);
              }}
            />
          </>
        )}
      </Loaded>
    </>
  );
}

/** The way to older calls and back. A page that was opened by its address has the newest calls before it. */
function Pager({
  next,
  total,
  onPlace,
}: {
  readonly next: string | null;
  readonly total: number;
  readonly onPlace: (after: string | null) => void;
}) {
  const { t, count } = useWords();
  const [address] = useSearchParams();
  const after = address.get('after');
  const [walked, setWalked] = useState<readonly (string | null)[]>([]);
  if (after === null && next === null) return null;
  return (
    <div class="pager">
      <button
        type="button"
        disabled={after === null}
        onClick={() => {
          onPlace(walked.at(-1) ?? null);
          setWalked(walked.slice(0, -1));
        }}
      >
        {t('newer')}
      </button>
      <span>
        {t('entries')} {count(total)}
      </span>
      <button
        type="button"
        disabled={next === null}
        onClick={() => {
          setWalked([...walked, after]);
          onPlace(next);
        }}
      >
        {t('older')}
      </button>
    </div>
  );
}

function Calls({ of, again }: { readonly of: readonly Delivery[]; readonly again: Again | undefined }) {
  const { t, count } = useWords();
  const [shown, setShown] = useState<string | undefined>();
  const columns = [
    { title: t('time'), cell: ({ created_at: at }: Delivery) => <When at={at} /> },
    { title: t('event'), cell: ({ event }: Delivery) => <Code kind="webhook" of={event} class="line" /> },
    {
      title: t('status'),
      cell: ({ status }: Delivery) => <Code kind="delivery" of={status} class={`badge ${status}`} />,
    },
    {
      title: t('user'),
      cell: ({ user_id: user, guild_id: server }: Delivery) =>
        user !== null && (server === null ? user : <UserLink user={user} server={server} />),
    },
    {
      title: t('lastOutcome'),
      cell: ({ last_outcome: last, last_status_code: code, next_attempt_at: next }: Delivery) => (
        <>
          {(last !== null || next === null) && <Result outcome={last} status={code} />}
          {next !== null && (
            <span class="small">
              {last !== null && ' · '}
              <Next at={next} />
            </span>
          )}
        </>
      ),
    },
    {
      title: t('attempts'),
      cell: ({ id, attempt_count: attempts }: Delivery) => (
        <button
          type="button"
          aria-expanded={shown === id}
          onClick={() => setShown(shown === id ? undefined : id)}
        >
          {count(attempts)}
        </button>
      ),
    },
    ...(again === undefined
      ? []
      : [
          {
            title: t('act'),
            cell: ({ id, status }: Delivery) => (
              <button
                class="line"
                type="button"
                disabled={again.isPending}
                onClick={() => {
                  setShown(id);
                  again.mutate(id);
                }}
              >
                {t(status === 'pending' ? 'tryNow' : 'redeliver')}
              </button>
            ),
          },
        ]),
  ];
  return (
    <div class="deliveries">
      <Table
        caption={t('webhooks')}
        of={{ items: of, page: 1, total_pages: 1, total_count: of.length }}
        columns={columns}
        below={({ id }) =>
          shown === id && (
            <tr>
              <td class="below" colSpan={columns.length}>
                <div role="status" aria-live="polite">
                  {again?.variables === id && <Sent of={again} />}
                </div>
                {again?.variables === id && <Fault error={again.error} />}
                <Attempts id={id} />
              </td>
            </tr>
          )
        }
      />
    </div>
  );
}
