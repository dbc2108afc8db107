import { BOT_WIDE_GUILD_ID } from '@lethe/sdk';
import { useWords } from '../language';
import { useNamesOfServers } from '../queries';

/** Letters, numbers and signs with single blanks: what people can type as they see it. */
const TYPABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]+( [\p{L}\p{M}\p{N}\p{P}\p{S}]+)*$/u;
const TYPED_MAX = 60;

/** Direct messages, and calls that name no server: a place like a server, and not all of them. */
export const isDirect = (id: string): boolean => id === BOT_WIDE_GUILD_ID;

/** What is called, and typed to confirm an act in it: the name of a server, or its id where the name is none to type. */
export function useServerToType(id: string): string {
  const { t } = useWords();
  return serverToType(id, useNamesOfServers().get(id) ?? (isDirect(id) ? t('usersDirect') : id));
}

/** The same, where the name is known. */
export const serverToType = (id: string, name: string): string =>
  name.length <= TYPED_MAX && TYPABLE.test(name) ? name : id;

/** Where an act is done, for the title of its question. */
export function useWhere(id: string): string {
  const { t } = useWords();
  const server = useServerToType(id);
  return isDirect(id) ? t('inDirect') : t('inServer', { server });
}
