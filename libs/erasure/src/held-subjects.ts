import { Injectable } from '@nestjs/common';
import { pages, type Tx, UnitOfWork } from '@app/database';
import { isDigest } from '@app/primitives';
import { type Subject, SubjectDataHolders } from '@app/subjects';

import type { EntityMetadata } from 'typeorm';

/** Subjects or users of one read. */
const PAGE = 500;

interface Ids {
  readonly guild_id: string;
  readonly user_id: string;
}

/** The order in which the subjects of a table are read: that of an index. */
interface Walk {
  readonly table: string;
  readonly order: readonly ['guild_id', 'user_id'] | readonly ['user_id', 'guild_id'] | readonly ['user_id'];
}

/**
 * Finds all subjects about which anything is held: in every table of a holder with `guild_id` and `user_id`, and among
 * the subject keys.
 */
@Injectable()
export class HeldSubjects {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly holders: SubjectDataHolders,
  ) {}

  /** Page by page; a subject may come several times. */
  async *of(botId: string): AsyncGenerator<readonly Subject[]> {
    for (const walk of await this.walks()) {
      const read = (after: Ids | undefined): Promise<Ids[]> =>
        this.unitOfWork.read((tx) => pageOf(tx, walk, botId, after));
      for await (const rows of pages(1, read)) {
        const plain = rows.filter((row) => !isDigest(row.user_id));
        yield plain.map((row) => ({ botId, guildId: row.guild_id, userId: row.user_id }));
      }
    }
  }

  private async walks(): Promise<Walk[]> {
    const metadata = await this.unitOfWork.read(async (tx) => tx.manager.connection.entityMetadatas);
    const tables = this.holders.all().flatMap((holder) => holder.tables);
    const known = metadata.filter(
      ({ tableName }) => tables.includes(tableName) && isAboutSubjects(tableName),
    );
    function isAboutSubjects(table: string): boolean {
      const names = metadata.find(({ tableName }) => tableName === table)?.columns.map((c) => c.databaseName);
      return ['bot_id', 'guild_id', 'user_id'].every((name) => names?.includes(name) === true);
    }
    const keys: Walk = { table: 'keys.subject_keys', order: ['guild_id', 'user_id'] };
    return [...known.map((one) => ({ table: one.tableName, order: orderOf(one) })), keys];
  }
}

function orderOf({ primaryColumns, indices }: EntityMetadata): Walk['order'] {
  const keys = [primaryColumns, ...indices.map(({ columns }) => columns)].map((columns) =>
    columns.map(({ databaseName }) => databaseName),
  );
  const begins = (...names: string[]): boolean =>
    keys.some((key) => ['bot_id', ...names].every((name, place) => key[place] === name));
  if (begins('guild_id', 'user_id')) return ['guild_id', 'user_id'];
  if (begins('user_id', 'guild_id')) return ['user_id', 'guild_id'];
  return begins('user_id') ? ['user_id'] : ['guild_id', 'user_id'];
}

/** The subjects behind `after` in the order of the walk. */
async function pageOf(tx: Tx, { table, order }: Walk, botId: string, after: Ids | undefined): Promise<Ids[]> {
  const columns = order.join(', ');
  const behind = after === undefined ? '' : `AND (${columns}) > (${order.map(() => '?').join(', ')})`;
  const values = [botId, ...(after === undefined ? [] : order.map((name) => after[name]))];
  const page = `SELECT DISTINCT ${columns} FROM ${table} WHERE bot_id = ? AND user_id IS NOT NULL ${behind}
    ORDER BY ${columns} LIMIT ${PAGE}`;
  if (order.length === 2) return tx.all<Ids>(page, ...values);
  // No index has the guilds of a user in order: the guilds of all users of the page are read together.
  return tx.all<Ids>(
    `SELECT DISTINCT user_id, guild_id FROM ${table} WHERE bot_id = ? AND user_id IN (${page}) ORDER BY user_id, guild_id`,
    ...[botId, ...values],
  );
}
