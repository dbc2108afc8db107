import { SqliteDatabase } from '@app/database';
import { Client } from 'pg';
import { engine } from './database';

/** Statements of background work: neither counted nor made to fail. */
const BACKGROUND =
  /job_leases|^SELECT bot_id FROM|UPDATE webhook_deliveries|FROM webhook_deliveries|pg_notify|LISTEN|default_transaction|^ROLLBACK/;

type Query = (this: unknown, ...given: unknown[]) => unknown;

/** Makes chosen statements of the tested service fail in its driver, as with a broken database. */
export class StatementFaults {
  private left = Infinity;
  private lasting = false;
  /** Whether the chosen statement has run. */
  fired = false;

  /** The `nth` statement from now on fails; with `lasting` every later one too, until `heal`. */
  failAt(nth: number, lasting = false): void {
    Object.assign(this, { left: nth, lasting, fired: false });
  }

  heal(): void {
    this.left = Infinity;
  }

  /** Replaces methods of the driver until the mocks are restored. */
  install(): void {
    if (engine === 'postgres')
      this.wrap(Client.prototype, 'query', textOfQuery, (error) => Promise.reject(error));
    else this.installForSqlite();
  }

  private installForSqlite(): void {
    const database = new SqliteDatabase(':memory:');
    const statement = Object.getPrototypeOf(database.prepare('SELECT 1')) as object;
    database.close();
    const textOf = (self: unknown): string => (self as { source: string }).source;
    for (const name of ['run', 'get', 'all'])
      this.wrap(statement, name, textOf, (error) => {
        throw error;
      });
  }

  private wrap(
    target: object,
    name: string,
    textOf: (self: unknown, given: unknown) => string,
    refuse: (error: Error) => unknown,
  ): void {
    const original = Reflect.get(target, name) as Query;
    const fails = (text: string): boolean => this.fails(text);
    jest.spyOn(target as Record<string, Query>, name).mockImplementation(function (this: unknown, ...given) {
      return fails(textOf(this, given[0])) ? refuse(fault()) : original.apply(this, given);
    });
  }

  private fails(text: string): boolean {
    if (this.left === Infinity || BACKGROUND.test(text)) return false;
    this.left -= 1;
    const hit = this.left === 0 || (this.lasting && this.left < 0);
    this.fired ||= hit;
    return hit;
  }
}

const fault = (): Error =>
  Object.assign(new Error('injected'), { code: engine === 'postgres' ? '53100' : 'SQLITE_IOERR' });

function textOfQuery(_: unknown, given: unknown): string {
  return typeof given === 'string' ? given : (given as { text: string }).text;
}
