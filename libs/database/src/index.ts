export { Batcher, type Waiting } from './batcher';
export {
  BelongsToBot,
  IdColumn,
  IntegerColumn,
  json,
  JsonColumn,
  parsed,
  PrimaryIdColumn,
  DigestColumn,
  PrimaryDigestColumn,
  SnowflakeColumn,
  TextColumn,
  TimeColumn,
} from './columns';
export {
  asPartlyDone,
  botDeleted,
  databaseUnavailable,
  driverCode,
  isConnectionLost,
  isDamage,
  isUndone,
  translateFault,
} from './database-faults';
export type { DatabaseEngine } from './database.engine';
export {
  allMigrations,
  DATABASE_DAMAGED,
  databaseEngine,
  DatabaseModule,
  type MigrationClass,
} from './database.module';
export { databaseBytes, KEY_TABLES, keysPath, requireUnusedKeys } from './key-tables';
export { finding, insertion } from './insert-rows';
export { eachOf, inPortions, pages } from './pages';
export { PostgresDataSource, postgresOptions } from './postgres.options';
export { PostgresSchemaSource } from './postgres.engine';
export { PostgresUnitOfWork } from './postgres.unit-of-work';
export {
  bringUpToDate,
  type KeysMigration,
  MOVE_TABLE,
  needsMigrations,
  requireKnown,
} from './schema-version';
export {
  addColumn,
  createBotTable,
  createKeyTable,
  createTable,
  id,
  indexName,
  integer,
  isPostgres,
  nullable,
  partsOf,
  primary,
  digest,
  snowflake,
  type TableShape,
  text,
  time,
  varchar,
} from './schema';
export { NO_SIGNALS, Signals } from './signals';
export { DiskWatch } from './sqlite.ballast';
export { SqliteDatabase } from './sqlite.driver';
export { SqliteConnection, SqliteKeys } from './sqlite.tx';
export { SqliteTruncation } from './sqlite.truncation';
export {
  FileInUse,
  foldLog,
  isFilled,
  requireFilled,
  restoringPath,
  sqliteOptions,
  takeFile,
} from './sqlite.options';
export { SqliteReading, SqliteTurnReader } from './sqlite.reads';
export { SqliteCheckpoints } from './sqlite.checkpoints';
export { SqliteUnitOfWork } from './sqlite.unit-of-work';
export { amongValues, type Engine, givenRows, type SqlList, type SqlPart, type SqlValue, Tx } from './tx';
export { ConcurrentChange, type SharedWork, UnitOfWork } from './unit-of-work';
