export { appliedMigrations, engineVersion, keepsFilesOfLog } from './applied-migrations';
export { Batcher, type Waiting } from './shared-calls';
export {
  addColumn,
  BelongsToBot,
  createBotTable,
  createKeyTable,
  createTable,
  digest,
  DigestColumn,
  id,
  IdColumn,
  integer,
  IntegerColumn,
  isPostgres,
  json,
  JsonColumn,
  nullable,
  parsed,
  partsOf,
  primary,
  PrimaryDigestColumn,
  PrimaryIdColumn,
  snowflake,
  SnowflakeColumn,
  text,
  TextColumn,
  time,
  TimeColumn,
  varchar,
} from './schema';
export { indexName } from './index-names';
export {
  asPartlyDone,
  botDeleted,
  databaseUnavailable,
  driverCode,
  isConnectionLost,
  isDamage,
  isOfFullDisk,
  isTimeOut,
  isUnavailable,
  isUndone,
  translateFault,
} from './database-faults';
export {
  bringUpToDate,
  type DatabaseEngine,
  type KeysMigration,
  MOVE_TABLE,
  needsMigrations,
  opened,
  requireKnown,
} from './database.engine';
export { allMigrations, databaseEngine, DatabaseModule, type MigrationClass } from './database.module';
export { databaseBytes, KEY_TABLES, keysPath, requireKeyTables, requireUnusedKeys } from './key-tables';
export {
  amongValues,
  type Engine,
  containing,
  finding,
  givenRows,
  insertion,
  type SqlList,
  type SqlPart,
  type SqlValue,
  Tx,
} from './tx';
export { eachOf, inPortions, pages } from './pages';
export {
  directClient,
  ofConnection,
  PostgresDataSource,
  postgresOptions,
  requireUnused,
  WITHOUT_TIME_LIMITS,
} from './postgres.options';
export { PostgresSchemaSource } from './postgres.schema-source';
export { PostgresUnitOfWork } from './postgres.unit-of-work';
export { NO_SIGNALS, Signals } from './signals';
export { DiskWatch } from './sqlite.ballast';
export { SqliteDatabase, withSqliteFile, WRITING } from './sqlite.driver';
export { openingFault, PlaceFault } from './sqlite.engine';
export { SqliteConnection, SqliteKeys } from './sqlite.tx';
export { SqliteCheckpoints, SqliteTruncation } from './sqlite.checkpoints';
export {
  FileInUse,
  foldLog,
  isFilled,
  lockBeside,
  lockFile,
  requireFilled,
  requireWhole,
  restoringPath,
  sqliteOptions,
  WITHOUT_DATABASE,
} from './sqlite.options';
export { SqliteReading, SqliteTurnReader } from './sqlite.reads';
export { SqliteUnitOfWork } from './sqlite.unit-of-work';
export { ConcurrentChange, type SharedWork, UnitOfWork } from './unit-of-work';
export { type Batches, type BotSweep, inBatches, sweepBots } from './bot-sweep';
export { CLOCK_LEASE, ClockWatch, notBeforeServer } from './clock-watch';
export { JobLease, JobLeases, lastingUntil, Lease, LEASE_MS, LeaseLost } from './job-leases';
export { type Job, JobRunner, PeriodicJob, PeriodicJobs } from './job-runner';
export { JobsModule } from './jobs.module';
