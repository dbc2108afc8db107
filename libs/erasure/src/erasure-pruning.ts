import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { findBot, lockBot } from '@app/bots';
import { eachOf, type SqlValue, type Tx, UnitOfWork } from '@app/database';
import type { Lease } from '@app/jobs';
import { firstIdAt } from '@app/kernel';

/** Rows of one unit, and rows read by one statement of a count, which answers requests in between. */
const BATCH = 500;

/** Ids are in the order of time, so the index on them skips requests that are too young. */
const OLD_ENTRIES = 'FROM keys.erasure_ledger WHERE bot_id = ? AND request_id < ? AND erased_at < ?';
/** A failed request has no `completed_at`: its age counts from its creation. */
const OLD_REQUESTS = `FROM deletion_requests
  WHERE bot_id = ? AND id < ? AND status <> 'processing' AND COALESCE(completed_at, created_at) < ?`;
const WITHOUT_ENTRY = `NOT EXISTS (SELECT 1 FROM keys.erasure_ledger l
  WHERE l.bot_id = deletion_requests.bot_id AND l.request_id = deletion_requests.id)`;

/** The entries of a bot by their keys: all old ones, or all. */
const ENTRIES = `SELECT request_id, erased_at, place FROM keys.erasure_ledger
  WHERE bot_id = ? AND request_id > ? AND request_id < ? ORDER BY request_id LIMIT ${BATCH}`;
/** Requests by their keys, and whether they go: no entry of theirs stays. */
const REQUESTS = `SELECT id, CASE WHEN status <> 'processing' AND COALESCE(completed_at, created_at) < ?
    AND NOT EXISTS (SELECT 1 FROM keys.erasure_ledger l WHERE l.bot_id = deletion_requests.bot_id
      AND l.request_id = deletion_requests.id
      AND (l.request_id >= ? OR l.erased_at >= ? OR l.place >= ?)) THEN 1 ELSE 0 END AS goes
  FROM deletion_requests WHERE bot_id = ? AND id > ? AND id < ? ORDER BY id LIMIT ${BATCH}`;
/** Greater than every id. */
const END = '~';

/**
 * Removes the records of old erasures (GDPR Art. 5(1)(e)). The entry in the ledger is removed in an earlier unit than its
 * request: an entry without a request means a restored backup, and the erasure would be repeated.
 */
@Injectable()
export class ErasurePruning {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /**
   * Removes the entries of a bot from before `beforeIso`, from the beginning of their chain; answers their number. The
   * newest entry with a place stays: the next one is chained to it.
   */
  async pruneLedger(lease: Lease, botId: string, beforeIso: string, stopping: AbortSignal): Promise<number> {
    const old = [botId, firstIdAt(beforeIso), beforeIso] as const;
    if ((await this.unitOfWork.get(`SELECT 1 ${OLD_ENTRIES} LIMIT 1`, ...old)) === undefined) return 0;
    const kept = await this.unitOfWork.snapshot((tx) => keptFrom(tx, botId, beforeIso));
    let entries = 0;
    for (let removed = BATCH; removed === BATCH && !stopping.aborted; entries += removed)
      removed = await lease.batch((tx) => removeEntries(tx, old, kept));
    return entries;
  }

  /** {@link pruneLedger} of deleted bots. None of their entries has to stay, since their chains have ended. */
  async pruneOfGoneBots(lease: Lease, beforeIso: string, stopping: AbortSignal): Promise<number> {
    let entries = 0;
    for (let botId = await this.goneAfter(''); botId !== undefined; botId = await this.goneAfter(botId)) {
      const old = [botId, firstIdAt(beforeIso), beforeIso] as const;
      for (let removed = BATCH; removed === BATCH && !stopping.aborted; entries += removed)
        removed = await lease.batch((tx) => removeEntries(tx, old, Number.MAX_SAFE_INTEGER));
      if (stopping.aborted) break;
    }
    return entries;
  }

  /** Removes the requests of a bot that ended before `beforeIso` and have no entry in the ledger; answers their number. */
  async pruneRequests(
    lease: Lease,
    botId: string,
    beforeIso: string,
    stopping: AbortSignal,
  ): Promise<number> {
    const old = [botId, firstIdAt(beforeIso), beforeIso];
    const sql = `SELECT id ${OLD_REQUESTS} AND ${WITHOUT_ENTRY} ORDER BY id LIMIT ${BATCH}`;
    let requests = 0;
    for (let removed = BATCH; removed === BATCH && !stopping.aborted; requests += removed) {
      // An ended request gets no further entry, so that no other unit changes what is read here.
      const found = await this.unitOfWork.read((tx) => tx.all<{ id: string }>(sql, ...old));
      if (found.length === 0) break;
      removed = await lease.batch(async (tx) => {
        const remove = 'DELETE FROM deletion_requests WHERE bot_id = ? AND id = ?';
        await Promise.all(found.map(({ id }) => tx.run(remove, botId, id)));
        return found.length;
      });
    }
    return requests;
  }

  /** Numbers of entries and requests that would be removed, each by its own time. */
  async expired(
    botId: string,
    ledgerBefore: string,
    requestsBefore: string,
  ): Promise<{ entries: number; requests: number }> {
    return this.unitOfWork.snapshot(async (tx) => {
      const kept = await keptFrom(tx, botId, ledgerBefore);
      const old = firstIdAt(ledgerBefore);
      let [entries, requests] = [0, 0];
      for await (const { erased_at: at, place } of entriesOf(tx, botId, old))
        if (at < ledgerBefore && (place === null || Number(place) < kept)) entries++;
      const stays = [requestsBefore, old, ledgerBefore, kept] as const;
      for await (const { goes } of requestsOf(tx, stays, botId, firstIdAt(requestsBefore))) requests += goes;
      return { entries, requests };
    });
  }

  /** The next deleted bot in the ledger; one index lookup for each bot, however many entries it has. */
  private async goneAfter(after: string): Promise<string | undefined> {
    const next = 'SELECT bot_id FROM keys.erasure_ledger WHERE bot_id > ? ORDER BY bot_id LIMIT 1';
    for (let botId = after; ;) {
      const row = await this.unitOfWork.get<{ bot_id: string }>(next, botId);
      if (row === undefined) return undefined;
      botId = row.bot_id;
      if ((await findBot(this.unitOfWork, botId)) === undefined) return botId;
    }
  }
}

interface Entry {
  readonly request_id: string;
  readonly erased_at: string;
  readonly place: number | string | null;
}

interface Request {
  readonly id: string;
  readonly goes: number;
}

function entriesOf(tx: Tx, botId: string, before: string): AsyncGenerator<Entry> {
  return eachOf<Entry>(BATCH, async (last) => {
    await nextTurn();
    return tx.all<Entry>(ENTRIES, botId, last?.request_id ?? '', before);
  });
}

function requestsOf(
  tx: Tx,
  stays: readonly SqlValue[],
  botId: string,
  before: string,
): AsyncGenerator<Request> {
  return eachOf<Request>(BATCH, async (last) => {
    await nextTurn();
    return tx.all<Request>(REQUESTS, ...stays, botId, last?.id ?? '', before);
  });
}

/** The first place that stays. New places are higher. */
async function keptFrom(tx: Tx, botId: string, beforeIso: string): Promise<number> {
  let [newest, kept] = [0, Infinity];
  for await (const { erased_at: at, place } of entriesOf(tx, botId, END)) {
    newest = Math.max(newest, Number(place));
    if (at >= beforeIso && place !== null) kept = Math.min(kept, Number(place));
  }
  return kept === Infinity ? newest : kept;
}

/** The lock on the bot excludes `LedgerChain`, which gives places under the same lock. */
async function removeEntries(
  tx: Tx,
  old: readonly [botId: string, ...string[]],
  kept: number,
): Promise<number> {
  await lockBot(tx, old[0], 'NO KEY UPDATE');
  const found = await tx.all<{ request_id: string }>(
    `SELECT request_id ${OLD_ENTRIES} AND (place IS NULL OR place < ?) ORDER BY request_id LIMIT ${BATCH}`,
    ...old,
    kept,
  );
  const remove = 'DELETE FROM keys.erasure_ledger WHERE bot_id = ? AND request_id = ?';
  await Promise.all(found.map(({ request_id: id }) => tx.run(remove, old[0], id)));
  return found.length;
}
