import { Link, useLocation, useSearch } from 'wouter-preact';
import { useHistoryState } from 'wouter-preact/use-browser-location';
import { useWords } from '../language';
import { CategoryName, ServerName, UserLink, When } from '../parts';
import { Code, Loaded, Table } from '../ui';
import { isDirect } from './user-typed';
import { type Address, addressOf, filterOf, hrefOf } from './users-address';
import { UsersFilterForm } from './users-filter';
import { type ListedUser, type UsersPart, useUsers } from './users-query';
import './users.css';

/** The users of the bot. Filters and the page are in the address, so that the way back and a bookmark lead to them. */
export function UsersPage() {
  const { t } = useWords();
  const address = addressOf(useSearch());
  const [, navigate] = useLocation();
  // The cursors of the pages before, by which a page leads back; a bookmark has none.
  const before = useHistoryState<readonly string[] | null>() ?? [];
  const filter = filterOf(address);
  const users = useUsers(filter, address.after);
  const to = (after: string | undefined, cursors: readonly string[]): void =>
    navigate(hrefOf({ ...address, after }), { state: cursors });
  return (
    <div class="users">
      <UsersFilterForm address={address} />
      <Loaded from={users}>
        {(part) => (
          <div aria-busy={users.isPlaceholderData}>
            <Rows of={part} address={address} />
            <div class="pager">
              {address.after !== undefined && (
                <button type="button" onClick={() => to(before.at(-1) || undefined, before.slice(0, -1))}>
                  {t(before.length > 0 ? 'previous' : 'usersFirst')}
                </button>
              )}
              {part.next !== null && (
                <button
                  type="button"
                  disabled={users.isPlaceholderData}
                  onClick={() => to(part.next ?? undefined, [...before, address.after ?? ''])}
                >
                  {t(part.items.length === 0 ? 'usersSearchOn' : 'next')}
                </button>
              )}
            </div>
            {filter.order === 'recent' && part.next === null && part.items.length > 0 && (
              <p class="small">
                {t('usersRecentNote')}{' '}
                <Link href={hrefOf({ ...address, after: undefined, order: 'all' })}>{t('usersShowAll')}</Link>
              </p>
            )}
          </div>
        )}
      </Loaded>
    </div>
  );
}

function Rows({ of, address }: { readonly of: UsersPart; readonly address: Address }) {
  const { t } = useWords();
  if (of.items.length === 0) return <Nobody of={of} address={address} />;
  return (
    <Table
      caption={t('users')}
      of={{ items: of.items, page: 1, total_pages: 1, total_count: of.items.length }}
      columns={[
        {
          title: t('user'),
          cell: ({ user_id: user, guild_id: server, unreadable }) =>
            unreadable === true ? <em>{t('usersUnreadable')}</em> : <UserLink user={user} server={server} />,
        },
        { title: t('server'), cell: ({ guild_id: id }) => <UserServer id={id} /> },
        {
          title: t('status'),
          cell: (user) => <ConsentState of={user} />,
        },
        { title: t('usersCategories'), cell: (user) => <Categories of={user} /> },
        { title: t('usersChanged'), cell: ({ updated_at: at }) => <When at={at} /> },
      ]}
    />
  );
}

/** A list without an entry, and what leads on from it. */
function Nobody({ of, address }: { readonly of: UsersPart; readonly address: Address }) {
  const { t } = useWords();
  const { server, user, status, category, order, after } = address;
  if (of.next !== null) return <p class="empty">{t('usersNoneYet')}</p>;
  const isFiltered = [server, user, status, category].some((each) => each !== undefined);
  if (!isFiltered && after === undefined)
    return (
      <div class="empty">
        <p>{t(order === 'all' ? 'usersNone' : 'usersNoneRecent')}</p>
        {order !== 'all' && <Link href={hrefOf({ order: 'all' })}>{t('usersShowAll')}</Link>}
      </div>
    );
  return (
    <div class="empty">
      <p>{t('usersNoMatch')}</p>
      <p>
        {order !== 'all' && user === undefined && (
          <>
            <Link href={hrefOf({ ...address, after: undefined, order: 'all' })}>{t('usersSearchAll')}</Link>{' '}
            ·{' '}
          </>
        )}
        <Link href="/users">{t('usersNoFilter')}</Link>
      </p>
    </div>
  );
}

/** A server by its name; direct messages by their word. */
export function UserServer({ id }: { readonly id: string }) {
  const { t } = useWords();
  return isDirect(id) ? <em title={id}>{t('usersDirect')}</em> : <ServerName id={id} />;
}

/** The state of a consent. A user who has said no is not one who was never asked. */
export function ConsentState({ of: { status, declined_at: no } }: { readonly of: ListedUser }) {
  const isDeclined = status === 'none' && no != null;
  return <Code kind="consent" of={isDeclined ? 'declined' : status} class={`badge ${status}`} />;
}

/** The categories that a consent is about. One in another state than the consent says so. */
function Categories({ of }: { readonly of: ListedUser }) {
  const { t, named } = useWords();
  if (of.status === 'none') return <>–</>;
  if (of.categories === undefined) return <>{t('all')}</>;
  return (
    <>
      {of.categories.map(({ key, status }, at) => (
        <span key={key}>
          {at > 0 && ', '}
          <CategoryName of={key} />
          {status !== of.status && <span class="small"> ({named('consent', status)})</span>}
        </span>
      ))}
    </>
  );
}
