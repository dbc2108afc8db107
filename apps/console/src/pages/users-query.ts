import { keepPreviousData, useQuery } from '@tanstack/preact-query';
import type { Answer } from '@lethe/sdk';
import { lethe } from '../service';
import type { Ids } from './user-ids';

export type ListedUser = Answer<'GET /users'>['users'][number];

/** What the list of users is filtered by; all of it is in the address of the page. */
export interface UsersFilter {
  readonly user_id?: string;
  readonly guild_id?: string;
  readonly status?: ListedUser['status'];
  readonly category?: string;
  readonly order: 'recent' | 'key';
}

export interface UsersPart {
  readonly items: readonly ListedUser[];
  readonly next: string | null;
}

const PAGE_SIZE = 20;
/** A page of the service has no user where few pass a filter. So many of them are asked for before the reader is. */
const LOOKS_MAX = 5;

async function firstWithUsers(filter: UsersFilter, after: string | undefined): Promise<UsersPart> {
  for (let look = 1, at = after; ; look++) {
    const { items, next } = await lethe.users.list(filter).page(at, PAGE_SIZE);
    if (items.length > 0 || next === null || look === LOOKS_MAX) return { items, next };
    at = next;
  }
}

/** One page of the list; the one before is shown until it is there. */
export function useUsers(filter: UsersFilter, after: string | undefined) {
  return useQuery({
    queryKey: ['users', filter, after],
    queryFn: () => firstWithUsers(filter, after),
    placeholderData: keepPreviousData,
  });
}

const OF_USER_MAX = 100;

/** The servers in which anything is held about a user, up to a bound. */
export function useServersOfUser(userId: string) {
  return useQuery({
    queryKey: ['servers-of-user', userId],
    queryFn: (): Promise<UsersPart> => lethe.users.list({ user_id: userId }).page(undefined, OF_USER_MAX),
  });
}

export const userKey = (ids: Ids): readonly unknown[] => ['user', ids];

/** What is known of a user in one server; null where nothing is held. */
export function useUser(ids: Ids) {
  return useQuery({
    queryKey: userKey(ids),
    queryFn: async (): Promise<ListedUser | null> => (await lethe.users.list(ids).page()).items[0] ?? null,
  });
}
