import type { Statement } from 'better-sqlite3';
import { SqliteDatabase } from '@app/database';
import { Client } from 'pg';

const ABOUT_ROWS = /^(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i;

type Method = (this: unknown, ...given: unknown[]) => unknown;

/** Every SQL text that the drivers of this process run while the log is open, each once. */
export class SqlLog {
  private readonly found = new Map<string, number>();
  private readonly undo: (() => void)[] = [];
  /** The number of runs of statements about rows. */
  runs = 0;

  open(): this {
    this.wrap(Client.prototype, 'query', (_, [given]) =>
      typeof given === 'object' && given !== null ? (given as { text?: unknown }).text : given,
    );
    const database = new SqliteDatabase(':memory:');
    const statement: unknown = Object.getPrototypeOf(database.prepare('SELECT 1'));
    database.close();
    for (const method of ['get', 'all', 'run', 'iterate'])
      this.wrap(statement, method, (self) => (self as Statement).source);
    return this;
  }

  close(): void {
    for (const undo of this.undo.splice(0)) undo();
  }

  /** The statements about rows, in the order of their first run. */
  statements(): string[] {
    return [...this.found.keys()].filter((text) => ABOUT_ROWS.test(text));
  }

  /** How often statements of this form were run. */
  runsOf(form: RegExp): number {
    return [...this.found].reduce((sum, [text, runs]) => (form.test(text) ? sum + runs : sum), 0);
  }

  private wrap(prototype: unknown, name: string, textOf: (self: unknown, given: unknown[]) => unknown): void {
    const methods = prototype as Record<string, Method>;
    const original = methods[name];
    if (original === undefined) throw new Error(`the driver has no method ${name}`);
    const note = (text: string): void => {
      this.found.set(text, (this.found.get(text) ?? 0) + 1);
      if (ABOUT_ROWS.test(text)) this.runs++;
    };
    methods[name] = function (...given) {
      const text = textOf(this, given);
      if (typeof text === 'string') note(text.trim());
      return original.apply(this, given);
    };
    this.undo.push(() => (methods[name] = original));
  }
}
