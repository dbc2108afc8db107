import { Injectable } from '@nestjs/common';
import { InstallationKeys, SubjectKeys } from '@app/crypto';
import type { Tx } from '@app/database';
import { type Digest, encryptedBy, UnreadableSecretError } from '@app/primitives';
import type { Subject } from '@app/subjects';
import type { DeliveryEvent } from './delivery.entity';

/** A stored delivery, as far as its text is bound to it. */
export interface StoredDelivery {
  readonly id: string;
  readonly guild_id: Digest | null;
  readonly user_id: Digest | null;
  readonly payload: string;
}

/**
 * Encrypts the bodies of webhook calls, since they name their subject: with the key of the subject, so that they end with
 * it. The call about an erasure outlives that key and has the installation key; so has a ping, which names no user.
 */
@Injectable()
export class DeliveryTexts {
  constructor(
    private readonly keys: SubjectKeys,
    private readonly service: InstallationKeys,
  ) {}

  async encrypt(
    tx: Tx,
    { botId, event, subject }: { botId: string; event: DeliveryEvent; subject?: Subject | undefined },
    id: string,
    body: string,
  ): Promise<string> {
    const key =
      event === 'consent_revoked' && subject !== undefined
        ? await this.keys.forWriting(tx, subject)
        : this.service.installation;
    return key.encrypt(body, contextOf(botId, id));
  }

  /** {@link encrypt} of a stored delivery; null where its subject was erased meanwhile, and the delivery with it. */
  async reencrypt(
    tx: Tx,
    of: { botId: string; event: DeliveryEvent; subject: Subject | undefined },
    id: string,
    body: string,
  ): Promise<string | null> {
    const { botId, event, subject } = of;
    if (event !== 'consent_revoked' || subject === undefined) return this.encrypt(tx, of, id, body);
    // Never with a new key: an erasure does not wait for this unit.
    const key = await this.keys.inForce(tx, subject);
    return key === undefined ? null : key.encrypt(body, contextOf(botId, id));
  }

  /** @throws UnreadableSecretError for a body that was changed, or whose key is destroyed or lost */
  async decrypt(tx: Tx, botId: string, stored: StoredDelivery): Promise<string> {
    const { id, guild_id: guildId, user_id: userId, payload } = stored;
    const isOwn = encryptedBy(payload) === this.service.installation.id;
    const key =
      isOwn || guildId === null || userId === null
        ? this.service.installation
        : await this.keys.inForce(tx, { botId, guildId, userId });
    if (key === undefined) throw new UnreadableSecretError();
    return key.decrypt(payload, contextOf(botId, id));
  }
}

function contextOf(botId: string, id: string): string {
  return `webhook_deliveries/${botId}/${id}`;
}
