import { createHmac, randomBytes } from 'node:crypto';
import {
  isDigest,
  keyedDigest,
  merkleRoot,
  type DecryptionKey,
  type Salts,
  UnreadableSecretError,
  openDetails,
  type StoredDetails,
} from '@app/primitives';
import { commitmentOf, framed, leafOf, type Parts, type Skeleton } from './audit-leaf';
import { type Entry, HINT_BYTES, packed, SALTED_BY, type SaltedBy } from './batch-entries';

/** An event as it is stored in the log. */
export interface StoredEvent extends Skeleton, StoredDetails {}

/** An event with its decrypted details and its salts. */
export interface OpenEvent extends Skeleton {
  readonly botId: string;
  readonly parts: Parts;
  /** Its ids are replaced by digests. */
  readonly isErased: boolean;
  /** It has details that cannot be decrypted. */
  readonly isClosed: boolean;
  readonly key: DecryptionKey | undefined;
  readonly saltedBy: SaltedBy;
}

/** The part of a batch that is computed from its events; all texts are base64url. */
export interface BatchSeal {
  readonly entries: string;
  readonly root: string;
  readonly identities: string;
}

/** Computes the commitments of events from its arguments alone, so that a thread can do it. */
export class EventCommitments {
  /** `digestKey` makes the digests that replace ids; `service` is the installation key. */
  constructor(
    private readonly digestKey: Buffer,
    private readonly service: DecryptionKey,
  ) {}

  /** `key` is the subject key, if it exists. */
  open(botId: string, event: StoredEvent, key: DecryptionKey | undefined): OpenEvent {
    const {
      seq,
      id,
      event_type: type,
      source,
      created_at: createdAt,
      user_id: user,
      guild_id: guild,
    } = event;
    const isErased = isDigest(user);
    const details = this.detailsOf(botId, event, key);
    const isClosed = event.details !== null && details === null;
    return {
      botId,
      seq,
      id,
      event_type: type,
      source,
      created_at: createdAt,
      parts: { user, guild, details },
      isErased,
      isClosed,
      key,
      saltedBy: saltedBy(event.details, isErased, isClosed),
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
    return by === SALTED_BY.nobody ? undefined : this.service.salts(id);
  }

  /**
   * A keyed hash over the subjects of the events; equal before and after an erasure. A digest that is exchanged, or an
   * event that is falsely marked as erased, does not fit it.
   */
  identities(botId: string, events: readonly OpenEvent[], salted: readonly SaltedBy[]): string {
    const digests = new Map<string, string>();
    const digest = (kind: 'user' | 'guild', value: string): string => {
      if (isDigest(value)) return value;
      const known = digests.get(kind + value) ?? keyedDigest(this.digestKey, botId, kind, value);
      digests.set(kind + value, known);
      return known;
    };
    const hash = createHmac('sha256', this.digestKey).update('audit-identities/');
    for (const [at, { id, parts }] of events.entries())
      hash.update(
        framed([id, digest('user', parts.user), digest('guild', parts.guild), String(salted[at] ?? '')]),
      );
    return hash.digest('base64url');
  }

  /** `keys` has one place for each event. `breathe` is awaited before each event, with its place. */
  async seal(
    botId: string,
    stored: readonly StoredEvent[],
    keys: readonly (DecryptionKey | undefined)[],
    breathe?: (at: number) => Promise<void> | undefined,
  ): Promise<BatchSeal> {
    const entries: Entry[] = [];
    const leaves: Buffer[] = [];
    const events: OpenEvent[] = [];
    for (const [at, each] of stored.entries()) {
      await breathe?.(at);
      const event = this.open(botId, each, keys[at]);
      const commitment = this.commitment(event);
      const leaf = leafOf(botId, event, commitment);
      events.push(event);
      leaves.push(leaf);
      entries.push({ commitment, saltedBy: event.saltedBy, hint: leaf.subarray(0, HINT_BYTES) });
    }
    return {
      entries: packed(entries),
      root: merkleRoot(leaves).toString('base64url'),
      identities: this.identities(
        botId,
        events,
        events.map((event) => event.saltedBy),
      ),
    };
  }

  private detailsOf(botId: string, event: StoredEvent, key: DecryptionKey | undefined): string | null {
    try {
      return openDetails(botId, event, this.service, key);
    } catch (error) {
      if (error instanceof UnreadableSecretError) return null;
      throw error;
    }
  }
}

function saltedBy(stored: string | null, isErased: boolean, isClosed: boolean): SaltedBy {
  if (isClosed) return SALTED_BY.nobody;
  if (isErased) return SALTED_BY.erased;
  return stored === null ? SALTED_BY.service : SALTED_BY.subject;
}
