import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { type DataSource, type Migration, MigrationExecutor, type QueryRunner } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import { StartError } from '@app/kernel';
import { driverCode } from './database-faults';
import { IN_RECOVERY, ofSchema, placeOf, PostgresDataSource } from './postgres.options';
import { DEADLOCK, LOCKED, withReason } from './postgres.start-faults';

/** The advisory lock for changes of the schema. The number is arbitrary; nothing else in the database uses it. */
const SCHEMA_LOCK = 5_138_008_101;
/** How long to wait for the lock of another process, in milliseconds. The connection of a killed one takes a moment to end. */
const LOCK_WAIT_MS = 3_000;
const OLDEST_VERSION = 140_000;
/** How often a change of the schema is begun that the server ends in a deadlock with running instances. */
const TRIES_MAX = 5;
/** How long a change waits for a table. Every request to the table waits behind it until then, for less than it may by default. */
const TABLE_WAIT_MS = 2_000;
/** How long the requests have the table before the change is begun again: twice as long each time, up to the second. */
const [PAUSE_MS, PAUSE_MAX_MS] = [1_000, 30_000];

/**
 * Changes the schema of a PostgreSQL database. Processes change the schema one at a time; the later ones find the work
 * done. The connection that does the work holds the lock, so the lock ends with the work.
 * @throws StartError, without a password, for faults that the operator can correct.
 */
export class PostgresSchemaSource extends PostgresDataSource {
  private readonly place: string;

  constructor(
    options: PostgresDataSourceOptions,
    url: string,
    /** The setting that names the server. */
    private readonly setting: string,
    /** Refuses a server that cannot be meant. */
    private readonly check: (source: DataSource) => Promise<void> = async () => undefined,
  ) {
    super(ofSchema(options, url));
    this.place = placeOf(url);
  }

  private holder: QueryRunner | undefined;

  override async initialize(): Promise<this> {
    return this.withReason(async () => {
      await super.initialize();
      try {
        await requireVersion(this);
        await requirePrimary(this, `(${this.place})`, this.setting);
        await this.check(this);
      } catch (error) {
        await this.destroy();
        throw error;
      }
      return this;
    });
  }

  override runMigrations(options?: Parameters<DataSource['runMigrations']>[0]): Promise<Migration[]> {
    return this.alone((executor) => executor.executePendingMigrations(), options);
  }

  override undoLastMigration(options?: Parameters<DataSource['undoLastMigration']>[0]): Promise<void> {
    return this.alone((executor) => executor.undoLastMigration(), options);
  }

  /**
   * Excludes other processes from changing the schema until this source is destroyed. Resolves to false when another
   * process is changing it now.
   */
  async lock(): Promise<boolean> {
    this.holder = this.createQueryRunner();
    return isLocked(this.holder, LOCK_WAIT_MS);
  }

  override async destroy(): Promise<void> {
    await this.holder?.release();
    await super.destroy();
  }

  private alone<T>(
    work: (executor: MigrationExecutor) => Promise<T>,
    options: Parameters<DataSource['runMigrations']>[0] = {},
  ): Promise<T> {
    return this.withReason(async () => {
      const runner = this.createQueryRunner();
      const begin = (): Promise<T> => {
        const executor = new MigrationExecutor(this, runner);
        executor.transaction = options.transaction ?? 'all';
        executor.fake = options.fake ?? false;
        return work(executor);
      };
      try {
        return await despiteRivals(() => locked(runner, begin), runner);
      } finally {
        await runner.release();
      }
    });
  }

  private withReason<T>(work: () => Promise<T>): Promise<T> {
    return withReason(this.place, this.setting, work);
  }
}

/** Takes the lock, or resolves to false when another process has it for all of this time. */
async function isLocked(runner: QueryRunner, waitMs: number): Promise<boolean> {
  try {
    await runner.query(`SET lock_timeout = '${waitMs}ms'`);
    await runner.query('SELECT pg_advisory_lock($1)', [SCHEMA_LOCK]);
    return true;
  } catch (error) {
    if (driverCode(error) === LOCKED) return false;
    throw error;
  }
}

/** Not locked between two tries: a start that has nothing to migrate does not wait for one that waits for a table. */
async function locked<T>(runner: QueryRunner, begin: () => Promise<T>): Promise<T> {
  for (
    let waitMs = LOCK_WAIT_MS;
    !(await isLocked(runner, waitMs));
    waitMs = Math.min(2 * waitMs, PAUSE_MAX_MS)
  )
    new Logger('Database').warn(
      'Another process changes the schema (pg_stat_activity shows it as lethe-schema). This one waits until it ends',
    );
  try {
    await runner.query(`SET lock_timeout = '${TABLE_WAIT_MS}ms'`);
    return await begin();
  } finally {
    await runner.query('RESET lock_timeout').catch(() => undefined);
    await runner.query('SELECT pg_advisory_unlock($1)', [SCHEMA_LOCK]).catch(() => undefined);
  }
}

/**
 * A deadlock undoes the work as a whole, and so does a table that another transaction holds, so that the work can begin again. It does
 * until a table is free: a dump holds all of them for hours.
 */
async function despiteRivals<T>(begin: () => Promise<T>, runner: QueryRunner): Promise<T> {
  for (let tries = 1, pauseMs = PAUSE_MS; ;)
    try {
      return await begin();
    } catch (error) {
      if (driverCode(error) === LOCKED) {
        new Logger('Database').error(
          'The migrations wait for a table that a transaction holds, such as one of pg_dump: pg_stat_activity shows it. They are begun again until it ends',
        );
        await pause(pauseMs);
        pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS);
        // The connection was lost meanwhile.
        if (runner.isReleased) throw error;
      } else if (driverCode(error) !== DEADLOCK || tries++ === TRIES_MAX) throw error;
    }
}

async function requireVersion(source: DataSource): Promise<void> {
  const [row] = await source.query<{ server_version_num: string }[]>('SHOW server_version_num');
  if (Number(row?.server_version_num) < OLDEST_VERSION)
    throw new StartError(
      'The PostgreSQL server is too old: Lethe needs version 14 or later. Upgrade it, or name another one with DATABASE_URL.',
    );
}

async function requirePrimary(source: DataSource, place: string, setting: string): Promise<void> {
  const [row] = await source.query<{ standby: boolean }[]>(IN_RECOVERY);
  if (row?.standby === true)
    throw new StartError(
      `The database ${place} is a standby or in recovery and can only be read. Promote it, or correct ${setting}.`,
    );
}
