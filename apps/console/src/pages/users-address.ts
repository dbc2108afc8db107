import { CONSENT_STATUSES, type ConsentStatus } from '@lethe/sdk';
import { isId } from './user-ids';
import type { UsersFilter } from './users-query';

/** The query of the address of the list. */
export interface Address {
  readonly server?: string | undefined;
  readonly user?: string | undefined;
  readonly status?: ConsentStatus | undefined;
  readonly category?: string | undefined;
  /** All users in a fixed order, in place of those with the newest events. */
  readonly order?: 'all' | undefined;
  readonly after?: string | undefined;
}

/** What an address asks for. A part that no filter can have is left out: the form shows that it is not in force. */
export function addressOf(search: string): Address {
  const given = new URLSearchParams(search);
  const part = (name: string): string | undefined => given.get(name) || undefined;
  const [server, user] = [part('server'), part('user')];
  return {
    server: isId(server) ? server : undefined,
    user: isId(user) ? user : undefined,
    status: CONSENT_STATUSES.find((status) => status === part('status')),
    category: part('category'),
    order: part('order') === 'all' ? 'all' : undefined,
    after: part('after'),
  };
}

/** The ids in an address that are none. */
export function badIdsOf(search: string): readonly string[] {
  const given = new URLSearchParams(search);
  return ['server', 'user'].flatMap((name) => given.get(name) || []).filter((id) => !isId(id));
}

export function hrefOf(address: Address): string {
  const query = new URLSearchParams(
    Object.entries(address).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  ).toString();
  return query === '' ? '/users' : `/users?${query}`;
}

/** One user is looked for in every server, not only in the newest events. */
export function filterOf({ server, user, status, category, order }: Address): UsersFilter {
  return {
    ...(server !== undefined && { guild_id: server }),
    ...(user !== undefined && { user_id: user }),
    ...(status !== undefined && { status }),
    ...(category !== undefined && { category }),
    order: order === 'all' || user !== undefined ? 'key' : 'recent',
  };
}
