import { useMemo } from 'preact/hooks';
import { useQuery } from '@tanstack/preact-query';
import type { Language } from './language';
import { lethe } from './service';

/** The bot of the session. */
export function useBot() {
  return useQuery({ queryKey: ['bot'], queryFn: () => lethe.bots.me() });
}

/** Entries of a list whose names a page shows; above it the ids are shown in their place. */
export const NAMED_MAX = 1_000;
const NAMES_MS = 60_000;

async function first<Item>(
  list: AsyncIterable<Item>,
  isWanted: (item: Item) => boolean = () => true,
): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const item of list) {
    if (isWanted(item)) found.push(item);
    if (found.length === NAMED_MAX) break;
  }
  return found;
}

/** The servers of the bot, up to a bound. A damaged one has no id to choose. */
export function useServers() {
  return useQuery({
    queryKey: ['servers'],
    queryFn: () => first(lethe.servers.list(), ({ unreadable }) => unreadable !== true),
    staleTime: NAMES_MS,
  });
}

/** The categories of the bot, up to a bound. */
export function useCategories() {
  return useQuery({
    queryKey: ['category-names'],
    queryFn: () => first(lethe.categories.list()),
    staleTime: NAMES_MS,
  });
}

/** The names of the servers by their ids. A server without a name is not in it. */
export function useNamesOfServers(): ReadonlyMap<string, string> {
  const { data } = useServers();
  return useMemo(
    () => new Map(data?.flatMap(({ guild_id: id, name }) => (name ? [[id, name] as const] : []))),
    [data],
  );
}

/** The labels of the categories by their keys. */
export function useNamesOfCategories(language: Language): ReadonlyMap<string, string> {
  const { data } = useCategories();
  return useMemo(
    () => new Map(data?.map((category) => [category.key, category[`label_${language}`]])),
    [data, language],
  );
}
