import { Injectable } from '@nestjs/common';
import { findBot } from '@app/bots';
import { pages, UnitOfWork } from '@app/database';
import type { Batches } from '@app/jobs';
import { firstIdAt } from '@app/kernel';

/** Rows of one unit. */
const BATCH = 500;

/** Ids are in the order of time, so the index on them skips requests that are too young. */
const OLD_ENTRIES = 'FROM keys.erasure_ledger WHERE bot_id = ? AND request_id < ? AND erased_at < ?';
/** A failed request has no `completed_at`: its age counts from its creation. */
const OLD_REQUESTS = `FROM deletion_requests
  WHERE bot_id = ? AND id < ? AND status <> 'processing' AND COALESCE(completed_at, created_at) < ?`;
const WITHOUT_ENTRY = `NOT EXISTS (SELECT 1 FROM keys.erasure_ledger l
  WHERE l.bot_id = deletion_requests.bot_id AND l.request_id = deletion_requests.id)`;

/**
 * Removes the records of old erasures (GDPR Art. 5(1)(e)). The entry in the ledger is removed in an earlier unit than its
 * request: an entry without a request means a restored backup, and the erasure would be repeated.
 */
@Injectable()
export class ErasurePruning {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** Removes the entries of a bot from before `beforeIso`. */
  pruneLedger(botId: string, beforeIso: string): Batches {
    const remove = 'DELETE FROM keys.erasure_ledger WHERE bot_id = ? AND request_id = ?';
    const find = `SELECT request_id AS id ${OLD_ENTRIES} ORDER BY request_id LIMIT ${BATCH}`;
    return this.pruned(find, remove, botId, beforeIso);
  }

  /** {@link pruneLedger} of deleted bots. */
  async *pruneOfGoneBots(beforeIso: string): Batches {
    for (let botId = await this.goneAfter(''); botId !== undefined; botId = await this.goneAfter(botId))
      yield* this.pruneLedger(botId, beforeIso);
  }

  /** Removes the requests of a bot that ended before `beforeIso` and have no entry in the ledger. */
  pruneRequests(botId: string, beforeIso: string): Batches {
    const remove = 'DELETE FROM deletion_requests WHERE bot_id = ? AND id = ?';
    const find = `SELECT id ${OLD_REQUESTS} AND ${WITHOUT_ENTRY} ORDER BY id LIMIT ${BATCH}`;
    return this.pruned(find, remove, botId, beforeIso);
  }

  /** Numbers of entries and requests that would be removed, each by its own time. */
  async expired(
    botId: string,
    ledgerBefore: string,
    requestsBefore: string,
  ): Promise<{ entries: number; requests: number }> {
    const old = [botId, firstIdAt(ledgerBefore), ledgerBefore] as const;
    return this.unitOfWork.snapshot(async (tx) => {
      const entries = await tx.get<Total>(`SELECT COUNT(*) AS total ${OLD_ENTRIES}`, ...old);
      const requests = await tx.get<Total>(
        `SELECT COUNT(*) AS total ${OLD_REQUESTS}
         AND (${WITHOUT_ENTRY} OR id IN (SELECT request_id ${OLD_ENTRIES}))`,
        ...[botId, firstIdAt(requestsBefore), requestsBefore, ...old],
      );
      return { entries: Number(entries?.total ?? 0), requests: Number(requests?.total ?? 0) };
    });
  }

  /** Removes what `find` finds of a bot from before `beforeIso`. It has ended, so that no other unit changes it. */
  private async *pruned(find: string, remove: string, botId: string, beforeIso: string): Batches {
    const read = (): Promise<{ id: string }[]> =>
      this.unitOfWork.read((tx) => tx.all(find, botId, firstIdAt(beforeIso), beforeIso));
    for await (const found of pages(BATCH, read))
      yield async (tx) => {
        await Promise.all(found.map(({ id }) => tx.run(remove, botId, id)));
        return found.length;
      };
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

interface Total {
  readonly total: number | string;
}
