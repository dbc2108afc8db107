import { Injectable } from '@nestjs/common';
import { ConsentService } from '@app/consent';
import { SubjectKeys } from '@app/crypto';
import { pages, type Tx, UnitOfWork } from '@app/database';
import type { Batches } from '@app/jobs';
import { Clock, firstIdAt } from '@app/kernel';
import type { Digest } from '@app/primitives';
import { SubjectDataHolders, subjectAt } from '@app/subjects';

/** Erasures of one unit. */
const BATCH = 50;
/** How far back it looks, in days: no update takes longer. */
const LOOKED_BACK_DAYS = 8;

interface Row {
  readonly id: string;
  readonly guild_id: Digest;
  readonly user_id: Digest;
  readonly erased_rows: string;
}

/**
 * Removes what erasures have left that a process of an older version carried out during an update: it did not know the
 * tables of the newer one. The counts of an erasure name the tables that it knew.
 */
@Injectable()
export class ErasureRemains {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly holders: SubjectDataHolders,
    private readonly consents: ConsentService,
    private readonly keys: SubjectKeys,
    private readonly clock: Clock,
  ) {}

  /**
   * Asks the holders of those tables once more for each such erasure of a bot. The others have done their part, and keep what an
   * erasure leaves them, such as calls that still have to be made. With one version nothing is found, by one statement.
   */
  async *remove(botId: string): Batches {
    const tables = this.holders.erasedTables();
    const sql = `SELECT id, guild_id, user_id, erased_rows FROM deletion_requests
      WHERE bot_id = ? AND id > ? AND status = 'completed'
      AND (${tables.map(() => 'erased_rows NOT LIKE ?').join(' OR ')}) ORDER BY id LIMIT ${BATCH}`;
    const known = tables.map((table) => `%"${table}":%`);
    const from = firstIdAt(this.clock.daysAgoIso(LOOKED_BACK_DAYS));
    const read = (after?: Row): Promise<Row[]> =>
      this.unitOfWork.read((tx) => tx.all(sql, botId, after?.id ?? from, ...known));
    for await (const found of pages(BATCH, read)) yield (tx) => this.removeOf(tx, botId, found);
  }

  /** Something that is held again is not touched: its own erasure takes all of it. Counts as no record. */
  private async removeOf(tx: Tx, botId: string, found: readonly Row[]): Promise<number> {
    const subjects = found.map((row) => subjectAt(botId, row));
    await this.consents.lock(tx, subjects);
    for (const [at, subject] of subjects.entries()) {
      if ((await this.keys.idOf(tx, subject)) !== undefined) continue;
      const { id, erased_rows } = found[at] as Row;
      const [rows] = await this.holders.count(tx, [subject]);
      const counted = JSON.parse(erased_rows) as object;
      const others = this.holders.all().filter(({ tables }) => tables.some((table) => !(table in counted)));
      await this.holders.erase(tx, [subject], others);
      const counts = { ...rows, ...counted };
      const sql = 'UPDATE deletion_requests SET erased_rows = ? WHERE bot_id = ? AND id = ?';
      await tx.run(sql, JSON.stringify(counts), botId, id);
    }
    return 0;
  }
}
