import { Injectable } from '@nestjs/common';
import {
  type DecryptionKey,
  type Digest,
  encryptedBy,
  ifReadable,
  InstallationKeys,
  type JoinedKey,
  type Subject,
  subjectKeyJoin,
  SubjectKeys,
  unlessUnreadable,
} from '@app/crypto';
import { amongValues, type Tx } from '@app/database';

const KEY = subjectKeyJoin('delivery');
const SELECT_KEYS = `SELECT delivery.id, ${KEY.columns}
  FROM webhook_deliveries delivery ${KEY.join} WHERE delivery.bot_id = ?`;

/** What decides by which key a text is encrypted. */
interface Owner {
  readonly botId: string;
  readonly subject?: Subject | undefined;
  /** The erasure that the call is about. */
  readonly requestId?: string | null | undefined;
}

/** The columns of a delivery that its text is bound to, and the text. */
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

  async encrypt(tx: Tx, of: Owner, id: string, body: string): Promise<string> {
    const subject = endsWith(of);
    const key = subject === undefined ? this.service.installation : await this.keys.forWriting(tx, subject);
    return key.encrypt(body, contextOfBody(of.botId, id));
  }

  /** {@link encrypt} for a stored delivery; null if its subject was erased meanwhile, and the delivery with it, or its key does not open. */
  async reencrypt(tx: Tx, of: Owner, id: string, body: string): Promise<string | null> {
    const subject = endsWith(of);
    if (subject === undefined) return this.encrypt(tx, of, id, body);
    // Never with a new key: an erasure does not wait for this unit.
    const key = await this.keys.inForce(tx, subject).catch(unlessUnreadable);
    return key === undefined ? null : key.encrypt(body, contextOfBody(of.botId, id));
  }

  /**
   * Undefined for a body that was changed, or whose key is destroyed or lost.
   * @throws UnreadableSecretError where the master key of its key is missing
   */
  async decrypt(tx: Tx, botId: string, stored: StoredDelivery): Promise<string | undefined> {
    const subject = this.subjectOf(botId, stored);
    const key = subject === undefined ? this.service.installation : await this.keys.inForce(tx, subject);
    return decryptedBy(key, botId, stored);
  }

  /**
   * {@link decrypt} for several deliveries, whose keys one statement reads. The unit must not write: on SQLite only reads
   * can join data and keys.
   */
  async decryptAll(
    tx: Tx,
    botId: string,
    deliveries: readonly StoredDelivery[],
  ): Promise<(string | undefined)[]> {
    const ids = deliveries.map(({ id }) => id);
    const among = amongValues(tx, 'delivery.id', ids);
    const sql = `${SELECT_KEYS} AND ${among.sql}`;
    const rows = await tx.all<JoinedKey & { readonly id: string }>(sql, botId, among.value);
    const keys = new Map(rows.map((row) => [row.id, row]));
    return deliveries.map((stored) => {
      const subject = this.subjectOf(botId, stored);
      const joined = keys.get(stored.id);
      const key =
        subject === undefined ? this.service.installation : joined && this.keys.openJoined(subject, joined);
      return decryptedBy(key, botId, stored);
    });
  }

  /** Undefined if the body has the installation key. */
  private subjectOf(botId: string, stored: StoredDelivery): Subject | undefined {
    const { guild_id: guildId, user_id: userId, payload } = stored;
    if (guildId === null || userId === null) return undefined;
    return encryptedBy(payload) === this.service.installation.id ? undefined : { botId, guildId, userId };
  }
}

/** The subject with whose key a call ends: every one about a subject but that about its erasure. */
function endsWith({ subject, requestId = null }: Owner): Subject | undefined {
  return requestId === null ? subject : undefined;
}

function decryptedBy(
  key: Pick<DecryptionKey, 'decrypt'> | undefined,
  botId: string,
  { id, payload }: StoredDelivery,
): string | undefined {
  return ifReadable(() => key?.decrypt(payload, contextOfBody(botId, id)));
}

function contextOfBody(botId: string, id: string): string {
  return `webhook_deliveries/${botId}/${id}`;
}
