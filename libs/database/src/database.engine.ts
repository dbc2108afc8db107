import type { DataSource, DataSourceOptions, EntityTarget, ObjectLiteral } from 'typeorm';
import type { Ballast } from './sqlite.ballast';
import type { UnitOfWork } from './unit-of-work';

/** Reports a fault that no caller gets as an answer. */
export type OnFault = (error: unknown) => void;

/**
 * The access of a process to the database. `migrate` brings the schema up to date first. `check` only checks that the
 * schema is up to date. `read` changes nothing: on SQLite such a process may read a file that a service holds. `keys` is
 * for a copy of the keys alone, beside which it makes an empty database.
 */
export type Access = 'migrate' | 'check' | 'read' | 'keys';

/** One engine: its connection options, and how its database is opened. */
export interface DatabaseEngine {
  /** The options of TypeORM. The caller adds entities and migrations. */
  readonly options: DataSourceOptions;
  /** The place of the data for the operator, without a password. */
  readonly place: string;
  /**
   * A connection for changes of the schema, not yet initialised. It has no time-outs and excludes other processes while
   * it runs or reverts migrations.
   */
  schemaSource(options: DataSourceOptions): DataSource;
  /** @throws StartError */
  open(options: DataSourceOptions, access: Access, onFault: OnFault): Promise<OpenDatabase>;
}

export interface OpenDatabase {
  /** On SQLite, where a size is configured. */
  readonly ballast?: Ballast;
  readonly source: DataSource;
  readonly unitOfWork: UnitOfWork;
  /** Waits for the running units and releases everything except `source`. */
  close(): Promise<void>;
}

export type Entities = readonly EntityTarget<ObjectLiteral>[];
