import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock, describeFault, notFound } from '@app/common';
import { type Tx, UnitOfWork } from '@app/database';
import { type EntityMetadata, IsNull } from 'typeorm';
import { ApiKey, Bot } from './bot.entity';
import { KeyDirectory } from './key-directory';

/** Rows that go in one unit: small enough that the requests of other bots pass in between. */
const BATCH = 1_000;

/**
 * Deletes a bot and every row it owns. The first unit voids its keys and puts the deletion on record; then the rows
 * go a batch at a time, since a bot can own millions and nobody else may wait for them; the bot itself goes last.
 */
@Injectable()
export class BotDeletion implements OnApplicationBootstrap {
  private readonly logger = new Logger(BotDeletion.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly keys: KeyDirectory,
    private readonly clock: Clock,
  ) {}

  /** Finishes what a crash has left half-way, before the server listens. */
  async onApplicationBootstrap(): Promise<void> {
    try {
      const left = await this.unitOfWork.read((tx) =>
        tx.all<{ id: string }>('SELECT id FROM bots WHERE deleted_at IS NOT NULL'),
      );
      for (const { id } of left) await this.purge(id);
    } catch (error) {
      this.logger.error(JSON.stringify(describeFault(error)));
    }
  }

  /** When this resolves no row of the bot is left, and its keys are void in every process. */
  async delete(botId: string): Promise<{ deletedAt: string }> {
    const deletedAt = this.clock.nowIso();
    await this.unitOfWork.write(async (tx) => {
      const { affected } = await tx.manager.update(
        Bot,
        { id: botId, deletedAt: IsNull() },
        { deletedAt, webhookUrl: null },
      );
      if (affected === 0) throw notFound('Bot');
      await tx.manager.delete(ApiKey, { botId });
      tx.afterCommit(() => this.keys.forget(botId));
    });
    await Promise.all([this.purge(botId), this.keys.forgottenEverywhere()]);
    return { deletedAt };
  }

  private async purge(botId: string): Promise<void> {
    const tables = await this.unitOfWork.read(async (tx) => tablesOfBots(tx));
    for (const { tablePath, primaryColumns } of tables) {
      const key = primaryColumns.map(({ databaseName }) => databaseName).join(', ');
      const sql = `DELETE FROM ${tablePath} WHERE (${key}) IN (SELECT ${key} FROM ${tablePath} WHERE bot_id = ? LIMIT ${BATCH})`;
      while ((await this.unitOfWork.write((tx) => tx.run(sql, botId))) > 0);
    }
    await this.unitOfWork.write((tx) => tx.manager.delete(Bot, { id: botId }));
    await this.unitOfWork.scrub();
  }
}

function tablesOfBots({ manager }: Tx): EntityMetadata[] {
  return manager.dataSource.entityMetadatas.filter(({ columns }) =>
    columns.some(({ databaseName }) => databaseName === 'bot_id'),
  );
}
