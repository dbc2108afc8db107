import { Injectable } from '@nestjs/common';
import { noteDeletedBot, SubjectKeys } from '@app/crypto';
import { type Job, JobLeases, type Lease, LeaseLost, PeriodicJob, type Tx, UnitOfWork } from '@app/database';
import { ApiError, Clock, notFound } from '@app/kernel';
import { IsNull } from 'typeorm';
import { ApiKeyDirectory } from './api-key-directory';
import { lockBot } from './bot-queries';
import { ApiKey, Bot } from './bot.entity';

/** Rows deleted in one unit: few enough for requests of other bots to run in between. */
const BATCH = 1_000;

/**
 * Deletes a bot and every row it owns, except the digests of the subjects it has erased. The first unit voids its keys
 * and records the deletion. Then the rows are deleted in parts, since a bot can own millions; the bot itself is deleted
 * last. A lease names the process that deletes; when that process dies another one continues.
 */
@PeriodicJob({ lookEveryMs: 15_000, atStart: 'now' })
@Injectable()
export class BotDeletion implements Job {
  readonly name = 'bot-deletions';
  readonly everyMs = 15_000;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly keys: ApiKeyDirectory,
    private readonly subjectKeys: SubjectKeys,
    private readonly clock: Clock,
    private readonly leases: JobLeases,
  ) {}

  /** Continues every deletion of a bot that no process is carrying out. */
  run(all: Lease, stopping: AbortSignal): Promise<void> {
    return all.keep(async () => {
      const left = await this.unitOfWork.read((tx) =>
        tx.all<{ id: string }>('SELECT id FROM bots WHERE deleted_at IS NOT NULL'),
      );
      const faults: unknown[] = [];
      for (const { id } of left) {
        if (stopping.aborted) break;
        const lease = await this.unitOfWork.write((tx) => this.leases.take(tx, leaseOf(id)));
        if (lease === undefined) continue;
        // A bot whose rows cannot be deleted delays no other.
        await this.purge(id, lease, stopping).catch((error: unknown) => {
          // What is left for later hides no other fault.
          if (error instanceof ApiError) faults.push(error);
          else faults.unshift(error);
        });
      }
      if (faults.length > 0) throw faults[0];
    });
  }

  /**
   * Resolves when no row of the bot is left and its keys are void in every process.
   * @throws ApiError 503 when the rows cannot be deleted now, or another process has taken over the deletion.
   */
  async delete(botId: string): Promise<{ deletedAt: string }> {
    const deletedAt = this.clock.nowIso();
    const lease = await this.unitOfWork.write(async (tx) => {
      const { affected } = await tx.manager.update(
        Bot,
        { id: botId, deletedAt: IsNull() },
        // Overwritten here, so that the purge can scrub it before the row is deleted.
        { deletedAt, name: '', privacyContact: null, webhookUrl: null },
      );
      if (affected === 0) throw notFound('Bot');
      await tx.manager.delete(ApiKey, { botId });
      tx.afterCommit(() => this.keys.forget(botId));
      return this.leases.take(tx, leaseOf(botId));
    });
    const purging = lease === undefined ? Promise.reject(goesOn()) : this.purge(botId, lease);
    const [purged] = await Promise.allSettled([purging, this.keys.forgottenEverywhere()]);
    if (purged.status === 'rejected') throw purged.reason;
    return { deletedAt };
  }

  private async purge(botId: string, lease: Lease, stopping?: AbortSignal): Promise<void> {
    try {
      // Keys first: from then on the stored texts cannot be decrypted.
      const steps = [(tx: Tx) => this.destroySome(tx, botId)];
      for (const sql of await this.unitOfWork.read(async (tx) => deletionsOfRows(tx)))
        steps.push((tx) => tx.run(sql, botId, botId));
      for (const step of steps) {
        for (let deleted = 1; deleted > 0;) {
          if (stopping?.aborted === true) return await this.unitOfWork.write((tx) => lease.end(tx));
          deleted = await lease.batch(step);
        }
      }
      // Before the last unit: after it no process would continue.
      await this.unitOfWork.scrubRows();
      do await this.unitOfWork.scrubKeys();
      while (!(await lease.batch((tx) => this.end(tx, botId, lease))));
    } catch (error) {
      const isLeft = error instanceof ApiError && error.code === 'service_unavailable';
      throw isLeft || error instanceof LeaseLost ? goesOn() : error;
    } finally {
      lease.release();
    }
  }

  /** Notes beside the keys why they are missing, for a backup of the data from before; returns the number of destroyed keys. */
  private async destroySome(tx: Tx, botId: string): Promise<number> {
    const destroyed = await this.subjectKeys.destroySome(tx, botId);
    if (destroyed > 0) await noteDeletedBot(tx, botId, this.clock.nowIso());
    return destroyed;
  }

  /** Deletes the bot; false when a late subject had a key, which has to be scrubbed first. */
  private async end(tx: Tx, botId: string, lease: Lease): Promise<boolean> {
    // The lock excludes new subjects, whose keys no foreign key ties to the bot.
    await lockBot(tx, botId, 'UPDATE');
    if ((await this.destroySome(tx, botId)) > 0) return false;
    await tx.manager.delete(Bot, { id: botId });
    await lease.end(tx);
    return true;
  }
}

function leaseOf(botId: string): string {
  return `bot-deletion/${botId}`;
}

function goesOn(): ApiError {
  return new ApiError(
    'service_unavailable',
    'The keys of the bot are void; its rows are still being deleted',
  );
}

/**
 * One statement for each table with rows of bots; each deletes one part of the rows. The row of a subject is deleted only with
 * its key.
 */
function deletionsOfRows({ manager }: Tx): string[] {
  return manager.dataSource.entityMetadatas
    .filter(({ tableName }) => tableName !== 'subjects')
    .filter(({ columns }) => columns.some(({ databaseName }) => databaseName === 'bot_id'))
    .map(({ tablePath, primaryColumns }) => {
      const key = primaryColumns.map(({ databaseName }) => databaseName).join(', ');
      const some = `SELECT ${key} FROM ${tablePath} WHERE bot_id = ? LIMIT ${BATCH}`;
      return `DELETE FROM ${tablePath} WHERE bot_id = ? AND (${key}) IN (${some})`;
    });
}
