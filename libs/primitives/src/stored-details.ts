import { type DecryptionKey, encryptedBy } from './encryption-key';
import { UnreadableSecretError } from './unreadable-secret';

/** Where the details of an event stand, and what stands there. */
export interface StoredDetails {
  readonly id: string;
  readonly guild_id: string;
  readonly user_id: string;
  readonly details: string | null;
}

/** What the details of an event are bound to: they decrypt at no other. */
export function detailsContext(botId: string, guildId: string, userId: string, id: string): string {
  return `audit_events/${botId}/${guildId}/${userId}/${id}`;
}

/**
 * As they were given, as JSON text; null for none, and where the key was destroyed. `service` is the installation's
 * key, `key` that of the subject.
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
