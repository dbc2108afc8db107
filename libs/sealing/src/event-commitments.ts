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

/** An event as it stands in the log. */
export interface StoredEvent extends Skeleton, StoredDetails {}

/** An event with all that can be known of it. */
export interface OpenEvent extends Skeleton {
  readonly botId: string;
  readonly parts: Parts;
  /** Digests stand where its ids stood. */
  readonly isErased: boolean;
  /** It has details that nobody can read. */
  readonly isClosed: boolean;
  readonly key: DecryptionKey | undefined;
  readonly saltedBy: SaltedBy;
}

/** What a batch keeps of its events; all are base64url. */
export interface BatchSeal {
  readonly entries: string;
  readonly root: string;
  readonly identities: string;
}

/** Computes what events are sealed by, from what it is given alone, so that a thread can do it. */
export class EventCommitments {
  /** `digestKey` is that of digests in the place of ids, `service` the installation's key. */
  constructor(
    private readonly digestKey: Buffer,
    private readonly service: DecryptionKey,
  ) {}

  /** `key` is that of its subject, where there is one. */
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

  /** What stands for the event's parts when it is sealed now, or was sealed like this. */
  commitment(event: OpenEvent, by: SaltedBy = event.saltedBy): Buffer {
    const salts = this.salts(event, by);
    return salts === undefined ? randomBytes(32) : commitmentOf(event.parts, salts);
  }

  /** Undefined where they are gone, or never were. */
  salts({ id, key }: OpenEvent, by: SaltedBy): Salts | undefined {
    if (by === SALTED_BY.subject) return key?.salts(id);
    return by === SALTED_BY.nobody ? undefined : this.service.salts(id);
  }

  /**
   * A keyed hash over whose events they are, the same before and after an erasure: so no digest can be exchanged for
   * another, and nobody can be made out to have been erased.
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

  /** `keys` has a place for each event; `breathe` is waited for before each, with its place. */
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
