import { merkleRoot } from '@app/crypto';
import type { BatchRow } from './audit-batches';
import { chainOf, type Entry, HINT_BYTES, leafOf, SALTED_BY, unpacked } from './audit-leaf';
import type { EventCommitments, OpenEvent } from './event-commitments';

/** A fault in a sealed log. */
export interface LogFault {
  readonly bot_id: string;
  /** Undefined for a fault outside of a batch. */
  readonly batch?: number;
  readonly seq?: number;
  readonly fault:
    | 'event_changed'
    | 'event_missing'
    | 'event_added'
    | 'event_unreadable'
    | 'batch'
    | 'head'
    | 'counts'
    | 'ledger';
  /** For the operator; names no user. */
  readonly message: string;
}

/** The end of a batch, from which the next one has to continue. */
export interface BatchPlace {
  readonly number: number;
  readonly last_seq: number;
  readonly chain: string;
}

/** A fault without the number of its batch. */
export type BatchFault = Pick<LogFault, 'fault' | 'message' | 'seq'>;

/** All faults between a batch, except for its signature, and the stored events. */
export function faultsOf(
  commitments: EventCommitments,
  batch: BatchRow,
  events: readonly OpenEvent[],
  before: BatchPlace,
): BatchFault[] {
  const entries = unpacked(batch.entries) ?? [];
  const found = [...ofRow(batch, entries, before), ...ofEvents(commitments, batch, entries, events)];
  if (found.length > 0) return found;
  const leaves = events.map((event, at) => leafAt(batch.bot_id, event, entries[at]));
  const root = merkleRoot(leaves).toString('base64url');
  const wrongRoot = batchFaults([root !== batch.root, 'its root is not that of its events']);
  return wrongRoot.length > 0 ? wrongRoot : ofWhole(commitments, batch, entries, events);
}

function ofRow(batch: BatchRow, entries: readonly Entry[], before: BatchPlace): BatchFault[] {
  const { number, previous, chain, events } = batch;
  return batchFaults(
    [number !== before.number + 1, `it follows batch ${before.number}: those in between are missing`],
    [previous !== before.chain, 'it does not follow from the batch before it'],
    [chain !== chainOf(batch), 'its chain value is not that of its fields'],
    [entries.length !== events, 'it has not one entry for each of its events'],
  );
}

/** Compares events with entries and reports where they differ. */
function ofEvents(
  commitments: EventCommitments,
  { bot_id: botId, last_seq: last }: BatchRow,
  entries: readonly Entry[],
  events: readonly OpenEvent[],
): BatchFault[] {
  const found: BatchFault[] = [];
  const fits = (event: OpenEvent | undefined, entry: Entry | undefined): boolean =>
    event !== undefined &&
    entry !== undefined &&
    leafAt(botId, event, entry).subarray(0, HINT_BYTES).equals(entry.hint);
  let at = 0;
  for (const [index, event] of events.entries()) {
    const entry = entries[at];
    if (fits(event, entry)) {
      const fault = entry && ofContent(commitments, event, entry);
      if (fault !== undefined) found.push(fault);
      at += 1;
      continue;
    }
    const later = entries.findIndex((other, place) => place > at && fits(event, other));
    if (later > 0) {
      found.push(missing(later - at, event.seq));
      at = later + 1;
    } else if (entry === undefined || fits(events[index + 1], entry)) {
      found.push({
        fault: 'event_added',
        seq: event.seq,
        message: 'it was not there when its batch was sealed',
      });
    } else {
      found.push({ fault: 'event_changed', seq: event.seq, message: 'it was changed, moved or exchanged' });
      at += 1;
    }
  }
  if (at < entries.length) found.push(missing(entries.length - at, last + 1));
  return found;
}

/** Checks the personal parts, as far as they still exist, against the commitment in the leaf. */
function ofContent(
  commitments: EventCommitments,
  event: OpenEvent,
  { commitment, saltedBy }: Entry,
): BatchFault | undefined {
  const { seq, isErased, isClosed } = event;
  if (saltedBy === SALTED_BY.nobody || (isErased && saltedBy === SALTED_BY.subject)) return undefined;
  if (saltedBy === SALTED_BY.subject && event.key === undefined) {
    const message = 'the key of its user is missing: an erasure is not finished, or the key was removed';
    return { fault: 'event_unreadable', seq, message };
  }
  // Without salts the commitment is random, and equals no stored one.
  if (!isClosed && commitments.commitment(event, saltedBy).equals(commitment)) return undefined;
  return { fault: 'event_changed', seq, message: 'its user, guild or details were changed' };
}

/** Checks the batch as a whole when every event fits. */
function ofWhole(
  commitments: EventCommitments,
  batch: BatchRow,
  entries: readonly Entry[],
  events: readonly OpenEvent[],
): BatchFault[] {
  const ids = events.map(({ id }) => id).sort();
  return batchFaults(
    [
      commitments.identities(events, entries) !== batch.identities,
      'the digest of a user or guild, the stored details of an event, or how it was salted, was changed',
    ],
    [
      ids[0] !== batch.min_id || ids.at(-1) !== batch.max_id,
      'the range of its ids is not that of its events',
    ],
    [
      events[0]?.seq !== batch.first_seq || events.at(-1)?.seq !== batch.last_seq,
      'its place in the log is not that of its events',
    ],
  );
}

function leafAt(botId: string, event: OpenEvent, entry: Entry | undefined): Buffer {
  return leafOf(botId, event, entry?.commitment ?? Buffer.alloc(0));
}

function batchFaults(...checks: readonly (readonly [isWrong: boolean, message: string])[]): BatchFault[] {
  return checks.flatMap(([isWrong, message]) => (isWrong ? [{ fault: 'batch' as const, message }] : []));
}

function missing(count: number, beforeSeq: number): BatchFault {
  return { fault: 'event_missing', message: `${count} missing before seq ${beforeSeq}` };
}
