import { Turns } from '@app/kernel';
import {
  type DecryptionKey,
  encryptedBy,
  merkleRoot,
  openDetails,
  type Salts,
  type StoredDetails,
  UnreadableSecretError,
} from '@app/crypto';
import { createHmac, type Hmac, randomBytes } from 'node:crypto';
import {
  commitmentOf,
  type Entry,
  framed,
  HINT_BYTES,
  leafOf,
  packed,
  type Parts,
  SALTED_BY,
  type SaltedBy,
  type Skeleton,
} from './audit-leaf';

/** An event as it is stored in the log. */
export interface StoredEvent extends Skeleton, StoredDetails {}

/** The key of a subject, with the ids of the subject. */
interface EventKey extends DecryptionKey {
  readonly ids?: { readonly user_id: string; readonly guild_id: string };
}

/** An event with its decrypted parts and its salts. */
export interface OpenEvent extends Skeleton, Pick<StoredDetails, 'user_id' | 'guild_id'> {
  readonly parts: Parts;
  /** Its details as they are stored. */
  readonly stored: string;
  /** It is about an erasure: its details have the installation key. */
  readonly isAboutErasure: boolean;
  /** The key of its subject is destroyed. */
  readonly isErased: boolean;
  /** Its details cannot be decrypted although their key is not destroyed. */
  readonly isClosed: boolean;
  readonly key: EventKey | undefined;
  readonly saltedBy: SaltedBy;
}

/** The part of a batch that is computed from its events; all texts are base64url. */
interface BatchSeal {
  readonly entries: string;
  readonly root: string;
  readonly identities: string;
}

/** The batches of all logs take turns, some events in each. */
const turns = new Turns();

/** Computes the commitments of events. */
export class EventCommitments {
  /** `digestKey` makes the digests that replace ids; `service` is the installation key. */
  constructor(
    private readonly digestKey: Buffer,
    private readonly service: DecryptionKey,
  ) {}

  /** `key` is the present key of the subject, if it can be read. */
  open(botId: string, event: StoredEvent, key: EventKey | undefined): OpenEvent {
    const { seq, id, event_type, source, created_at, user_id, guild_id, details, key_id: keyId } = event;
    const by = encryptedBy(details);
    const isAboutErasure = by === this.service.id;
    const isErased = by !== undefined && by !== keyId;
    const present = isErased ? undefined : key;
    let opened: string | undefined;
    let isClosed = false;
    try {
      opened = openDetails(botId, event, this.service, key);
    } catch (error) {
      if (!(error instanceof UnreadableSecretError)) throw error;
      isClosed = true;
    }
    const salted = isErased || isClosed ? SALTED_BY.nobody : SALTED_BY.subject;
    // Field by field: a spread takes more time than the decryption.
    return {
      seq,
      id,
      event_type,
      source,
      created_at,
      user_id,
      guild_id,
      parts: {
        user: isAboutErasure ? user_id : (present?.ids?.user_id ?? null),
        guild: isAboutErasure ? guild_id : (present?.ids?.guild_id ?? null),
        details: opened ?? null,
      },
      stored: details,
      isAboutErasure,
      isErased,
      isClosed,
      key: present,
      saltedBy: isAboutErasure ? SALTED_BY.installation : salted,
    };
  }

  /** The commitment to the event's parts, salted as at the present state or as given. */
  commitment(event: OpenEvent, by: SaltedBy = event.saltedBy): Buffer {
    const salts = this.salts(event, by);
    return salts === undefined ? randomBytes(32) : commitmentOf(event.parts, salts);
  }

  /** Undefined where the salts cannot be computed: random ones, or a destroyed key. */
  salts({ id, key }: OpenEvent, by: SaltedBy): Salts | undefined {
    if (by === SALTED_BY.subject) return key?.salts(id);
    return by === SALTED_BY.installation ? this.service.salts(id) : undefined;
  }

  /**
   * A keyed hash over the subjects of the events and their stored details; equal before and after an erasure. A digest
   * that is exchanged, an event that is falsely marked as erased, or other details of an erased one, do not fit it.
   */
  identities(events: readonly OpenEvent[], entries: readonly Entry[]): string {
    const hash = this.identitiesHash();
    for (const [at, event] of events.entries()) addIdentity(hash, event, entries[at]?.saltedBy);
    return hash.digest('base64url');
  }

  /**
   * `keys` has one place for each event. Between the events other work has its turn.
   * @throws ConcurrentChange when a key was destroyed meanwhile
   */
  async seal(
    botId: string,
    stored: readonly StoredEvent[],
    keys: readonly (EventKey | undefined)[],
  ): Promise<BatchSeal> {
    const entries: Entry[] = [];
    // Continued with each event: over a whole batch it is one long stretch.
    const identities = this.identitiesHash();
    const leaves = await turns.map(stored, (each, at) => {
      const event = this.open(botId, each, keys[at]);
      const { saltedBy } = event;
      const commitment = this.commitment(event);
      const leaf = leafOf(botId, event, commitment);
      addIdentity(identities, event, saltedBy);
      entries.push({ commitment, saltedBy, hint: leaf.subarray(0, HINT_BYTES) });
      return leaf;
    });
    return {
      entries: packed(entries),
      root: merkleRoot(leaves).toString('base64url'),
      identities: identities.digest('base64url'),
    };
  }

  private identitiesHash(): Hmac {
    return createHmac('sha256', this.digestKey).update('audit-identities/');
  }
}

function addIdentity(
  hash: Hmac,
  { id, user_id: user, guild_id: guild, stored }: OpenEvent,
  by: SaltedBy | undefined,
): void {
  hash.update(framed([id, user, guild, stored, String(by ?? '')]));
}
