export { BACKUP_PARTS, type BackupPart } from './backup-manifest';
export { botByBot } from './bot-by-bot';
export {
  BelongsToBot,
  IdColumn,
  IntegerColumn,
  JsonColumn,
  PrimaryIdColumn,
  PrimarySnowflakeColumn,
  SnowflakeColumn,
  TextColumn,
  TimeColumn,
} from './columns';
export { asPartlyDone, botDeleted, databaseUnavailable, translateFault } from './database-faults';
export { allMigrations, databaseEngine, DatabaseModule } from './database.module';
export { moveEngine, type MovePlace, type MoveStep } from './engine-move';
export { JobLeases, Lease, LEASE_MS, LeaseLost } from './job-leases';
export { type Job, JobRunner } from './job-runner';
export { KEY_TABLES, keysPath } from './key-tables';
export { PostgresDataSource, postgresOptions } from './postgres.options';
export { PostgresUnitOfWork } from './postgres.unit-of-work';
export { bringUpToDate, requireKnown } from './schema-version';
export {
  addColumn,
  CONTINUE_AUDIT_ORDER,
  CONTINUE_SEALED_ORDER,
  createBotTable,
  createTable,
  id,
  indexName,
  integer,
  isPostgres,
  nullable,
  partsOf,
  primary,
  snowflake,
  type TableShape,
  text,
  time,
} from './schema';
export { SharedActs } from './shared-acts';
export { NO_SIGNALS, Signals } from './signals';
export { backUpSqlite } from './sqlite.backup';
export { requireFilled, sqliteOptions } from './sqlite.options';
export { SqliteReading } from './sqlite.reading';
export { type Restored, restoreSqlite } from './sqlite.restore';
export { SqliteTurnReader } from './sqlite.turn-reader';
export { SqliteConnection } from './sqlite.tx';
export { SqliteUnitOfWork } from './sqlite.unit-of-work';
export { StartError } from './start-error';
export {
  HoldsSubjectData,
  type Subject,
  type SubjectDataHolder,
  SubjectDataHolders,
  type SubjectExport,
} from './subject-data';
export { lockSubject } from './subject-lock';
export { type Engine, type SqlList, type SqlValue, Tx } from './tx';
export { ConcurrentChange, type SharedAct, UnitOfWork } from './unit-of-work';
