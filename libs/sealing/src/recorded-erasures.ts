import { Inject, Injectable } from '@nestjs/common';
import {
  encryptedBy,
  isDestroyed,
  keysDestroyedUntil,
  ledgerBegins,
  ledgerEntriesOf,
  type NotedErasure,
  subjectAt,
} from '@app/crypto';
import type { Tx } from '@app/database';
import { Clock, type Config, CONFIG, firstIdAt } from '@app/kernel';
import type { OpenEvent } from './event-commitments';
import { EventOpener } from './event-opener';

/** The events of an erasure before its end. They have a key of the subject. */
const OF_ERASURE: ReadonlySet<string> = new Set(['deletion_requested', 'deletion_failed']);

/** The details of the end of an erasure. */
interface End {
  readonly request_id?: string;
  readonly reapplied?: boolean;
}

/** Events with what is on record about the keys that are erased. */
export interface Judged {
  readonly events: readonly OpenEvent[];
  /** Erased events whose erasure is not on record. */
  readonly unrecorded: readonly OpenEvent[];
  /** Ends of erasures that the ledger lacks, or has about another subject: a restored backup would undo them. */
  readonly unlisted: readonly OpenEvent[];
}

/**
 * Compares the log with the ledger of erasures. Tells an erasure from a removed key: by the ledger, or by the end of the
 * erasure in the log itself. And finds the erasures that were removed from the ledger, or changed there.
 */
@Injectable()
export class RecordedErasures {
  constructor(
    private readonly opener: EventOpener,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Events are judged as the unit `tx` has read them. */
  async judge(tx: Tx, botId: string, events: readonly OpenEvent[]): Promise<Judged> {
    const asked = new Map<string, boolean>();
    const deleted = await keysDestroyedUntil(tx, botId);
    const inLedger = async (keyId: string, { created_at }: OpenEvent): Promise<boolean> => {
      if (created_at <= deleted) return true;
      const is = asked.get(keyId) ?? (await isDestroyed(tx, botId, keyId));
      asked.set(keyId, is);
      return is;
    };
    const since = ledgerBegins(this.clock, this.config);
    const judged: OpenEvent[] = [];
    const unrecorded: OpenEvent[] = [];
    for (const event of events) {
      const keyId = event.isAboutErasure || event.key !== undefined ? undefined : encryptedBy(event.stored);
      // The data is older than the keys, and the next start erases the subject again: no one can read the event.
      const isAhead = keyId !== undefined && !event.isErased && (await inLedger(keyId, event));
      judged.push(isAhead ? { ...event, isErased: true } : event);
      if (keyId === undefined || !event.isErased || event.created_at < since) continue;
      if (!(await inLedger(keyId, event)) && !(await this.isDoneAgain(tx, botId, event)))
        unrecorded.push(event);
    }
    return { events: judged, unrecorded, unlisted: await this.unlisted(tx, botId, events) };
  }

  /** Whether the log has the end of an erasure of this subject under this request, at this time. No one can make one without the keys. */
  async hasEnd(tx: Tx, erasure: NotedErasure & { readonly bot_id: string }): Promise<boolean> {
    const { bot_id: botId, request_id: id, erased_at: at } = erasure;
    const ends = await this.opener.endsAt(tx, subjectAt(botId, erasure), at);
    return ends.some((end) => endOf(end)?.request_id === id);
  }

  private async unlisted(tx: Tx, botId: string, events: readonly OpenEvent[]): Promise<OpenEvent[]> {
    const ends = events.flatMap((event) => {
      const id = endOf(event)?.request_id;
      return id === undefined ? [] : [{ id, event }];
    });
    if (ends.length === 0) return [];
    const entries = await ledgerEntriesOf(
      tx,
      botId,
      ends.map(({ id }) => id),
    );
    const listed = new Map(entries.map((entry) => [entry.request_id, entry]));
    // The limit is read after the ledger: retention removes only entries that are older.
    const since = ledgerBegins(this.clock, this.config);
    return ends
      .filter(({ id, event: { guild_id: guildId, user_id: userId } }) => {
        const entry = listed.get(id);
        const isSame = entry?.guild_id === guildId && entry.user_id === userId && entry.erased_at >= since;
        return id >= firstIdAt(since) && !isSame;
      })
      .map(({ event }) => event);
  }

  /**
   * Whether the event began an erasure that was done again after a restore. The ledger keeps the entry of the first time,
   * with the key of that time. The end of the second is encrypted for its subject by the installation key, so that
   * no one can make one without the keys; the other events of a subject are not covered by it.
   */
  private async isDoneAgain(tx: Tx, botId: string, event: OpenEvent): Promise<boolean> {
    if (!OF_ERASURE.has(event.event_type)) return false;
    const end = await this.opener.endAfter(tx, botId, event);
    return end !== undefined && endOf(end)?.reapplied === true;
  }
}

/** Undefined for another event, and for one that was not made with the keys. */
function endOf({ event_type: type, isAboutErasure, isClosed, parts }: OpenEvent): End | undefined {
  if (type !== 'deletion_completed' || !isAboutErasure || isClosed) return undefined;
  return JSON.parse(parts.details ?? '{}') as End;
}
