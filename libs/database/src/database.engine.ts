import type { DataSource, DataSourceOptions, EntityTarget, ObjectLiteral } from 'typeorm';
import type { UnitOfWork } from './unit-of-work';

/** What tells of a fault that no caller can be told of. */
export type OnFault = (error: unknown) => void;

/**
 * What a process may do to the database: `migrate` brings the schema up to date first, `check` leaves that to others and
 * only looks whether it is, and `read` is for who changes nothing: on SQLite it may decrypt a file that a service holds.
 */
export type Access = 'migrate' | 'check' | 'read';

/** One engine: how its connections are made and opened, and what works on them. */
export interface DatabaseEngine {
  /** How TypeORM connects; entities and migrations are added by who uses it. */
  readonly options: DataSourceOptions;
  /** What the operator is told of where the data is; no password. */
  readonly place: string;
  /**
   * A connection for changing the schema, not yet initialised: it runs and reverts migrations while nobody else does,
   * and has no time-outs.
   */
  schemaSource(options: DataSourceOptions): DataSource;
  /** @throws StartError */
  open(options: DataSourceOptions, access: Access, onFault: OnFault): Promise<OpenDatabase>;
}

export interface OpenDatabase {
  readonly source: DataSource;
  readonly unitOfWork: UnitOfWork;
  /** Waits for the units under way and gives everything back, but for `source`. */
  close(): Promise<void>;
}

export type Entities = readonly EntityTarget<ObjectLiteral>[];
