import { type DecryptionKey, encryptedBy } from './encryption-key';
import { UnreadableSecretError } from './unreadable-secret';

/** The stored details of an event, with the columns of their context. */
export interface StoredDetails {
  readonly id: string;
  readonly guild_id: string;
  readonly user_id: string;
  readonly details: string | null;
}

/** The context of the details of an event: they decrypt in no other event. */
export function detailsContext(botId: string, guildId: string, userId: string, id: string): string {
  return `audit_events/${botId}/${guildId}/${userId}/${id}`;
}

/**
 * The details as JSON text; null for an event without details, or with a destroyed key. `service` is the installation
 * key, `key` the subject key.
 * @throws UnreadableSecretError for details that were changed or are not encrypted
 */
export function openDetails(
  botId: string,
  { id, guild_id: guildId, user_id: userId, details }: StoredDetails,
  service: DecryptionKey,
  key: Pick<DecryptionKey, 'id' | 'decrypt'> | undefined,
): string | null {
  if (details === null) return null;
  const by = encryptedBy(details);
  if (by === undefined) throw new UnreadableSecretError();
  const context = detailsContext(botId, guildId, userId, id);
  if (by === service.id) return service.decrypt(details, context);
  return key?.id === by ? key.decrypt(details, context) : null;
}
