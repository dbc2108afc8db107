import { type DecryptionKey, encryptedBy } from './encryption-key';
import type { Digest } from './keyed-digest';
import { UnreadableSecretError } from './unreadable-secret';

/** The stored details of an event, with the columns of their context. */
export interface StoredDetails {
  readonly id: string;
  readonly guild_id: Digest;
  readonly user_id: Digest;
  readonly details: string;
  /** The present key of the subject; null without one. */
  readonly key_id: string | null;
}

/** The context of the details of an event: they decrypt in no other event. */
export function detailsContext(botId: string, guildId: Digest, userId: Digest, id: string): string {
  return `audit_events/${botId}/${guildId}/${userId}/${id}`;
}

/**
 * The details as JSON text; undefined when their key was destroyed. `service` is the installation key, `key` the present
 * key of the subject, undefined for a lost one.
 * @throws UnreadableSecretError for details that were changed, are not encrypted, or whose key is lost
 */
export function openDetails(
  botId: string,
  { id, guild_id: guildId, user_id: userId, details, key_id: keyId }: StoredDetails,
  service: Pick<DecryptionKey, 'id' | 'decrypt'>,
  key: Pick<DecryptionKey, 'id' | 'decrypt'> | undefined,
): string | undefined {
  const by = encryptedBy(details);
  if (by !== service.id && by !== undefined && by !== keyId) return undefined;
  const opener = by === service.id ? service : key;
  if (by === undefined || opener === undefined) throw new UnreadableSecretError();
  return opener.decrypt(details, detailsContext(botId, guildId, userId, id));
}
