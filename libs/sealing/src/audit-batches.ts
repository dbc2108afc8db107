import { hasEventBetween } from '@app/audit';
import type { Tx } from '@app/database';
import type { BatchHead } from './audit-leaf';

/** A stored batch. */
export interface BatchRow extends BatchHead {
  readonly min_id: string;
  readonly max_id: string;
  readonly entries: string;
  readonly chain: string;
  readonly signature: string;
}

/** How far a bot's log is sealed and pruned; zeros for a log without batches. */
export interface Head {
  readonly number: number;
  readonly last_seq: number;
  readonly chain: string;
  readonly pruned_number: number;
  readonly pruning: string | null;
}

const BATCH = `bot_id, number, first_seq, last_seq, events, min_id, max_id, entries, root, identities, previous, chain,
  sealed_at, signature`;

/** Most batches read to find the batch of an id. More are needed only when clocks differ by hours. */
const LOOKED_AT_MAX = 10_000;
const PAGE = 200;

export function headOf(tx: Tx, botId: string): Promise<Head | undefined> {
  return tx.get<Head>(
    'SELECT number, last_seq, chain, pruned_number, pruning FROM audit_heads WHERE bot_id = ?',
    botId,
  );
}

/** The place of the last sealed event; 0 for a log without batches. */
export async function lastSealed(tx: Tx, botId: string): Promise<number> {
  return (await headOf(tx, botId))?.last_seq ?? 0;
}

/** Batches after the number `after`, in order. */
export function batchesAfter(tx: Tx, botId: string, after: number, limit: number): Promise<BatchRow[]> {
  return tx.all<BatchRow>(
    `SELECT ${BATCH} FROM audit_batches WHERE bot_id = ? AND number > ? ORDER BY number LIMIT ?`,
    ...[botId, after, limit],
  );
}

/** Batches up to `number`, newest first. */
export function batchesBackFrom(tx: Tx, botId: string, number: number, limit: number): Promise<BatchRow[]> {
  return tx.all<BatchRow>(
    `SELECT ${BATCH} FROM audit_batches WHERE bot_id = ? AND number <= ? ORDER BY number DESC LIMIT ?`,
    ...[botId, number, limit],
  );
}

/** The batch of an event. Ids follow the time, except where clocks differ or units wait. */
export async function batchOf(tx: Tx, botId: string, eventId: string): Promise<BatchRow | undefined> {
  for (let skipped = 0; skipped < LOOKED_AT_MAX; skipped += PAGE) {
    const later = await tx.all<{ number: number; min_id: string }>(
      `SELECT number, min_id FROM audit_batches WHERE bot_id = ? AND max_id >= ? ORDER BY max_id
       LIMIT ${PAGE} OFFSET ?`,
      ...[botId, eventId, skipped],
    );
    for (const { number, min_id: lowest } of later) {
      const [batch] = lowest <= eventId ? await batchesAfter(tx, botId, number - 1, 1) : [];
      if (batch && (await hasEventBetween(tx, botId, batch.first_seq, batch.last_seq, eventId))) return batch;
    }
    if (later.length < PAGE) return undefined;
  }
  return undefined;
}

/** Appends a batch to the head that it was made for; false when another process was faster. */
export async function appendBatch(tx: Tx, batch: BatchRow, head: Head | undefined): Promise<boolean> {
  const { bot_id: botId, number, last_seq: last, chain } = batch;
  const moved =
    head === undefined
      ? await tx.run(
          `INSERT INTO audit_heads (bot_id, number, last_seq, chain, pruned_number) VALUES (?, ?, ?, ?, 0)
           ON CONFLICT DO NOTHING`,
          ...[botId, number, last, chain],
        )
      : await tx.run(
          `UPDATE audit_heads SET number = ?, last_seq = ?, chain = ? WHERE bot_id = ? AND number = ? AND chain = ?`,
          ...[number, last, chain, botId, head.number, head.chain],
        );
  if (moved === 0) return false;
  await tx.run(
    `INSERT INTO audit_batches (${BATCH}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[botId, number, batch.first_seq, last, batch.events, batch.min_id, batch.max_id, batch.entries],
    ...[batch.root, batch.identities, batch.previous, chain, batch.sealed_at, batch.signature],
  );
  return true;
}
