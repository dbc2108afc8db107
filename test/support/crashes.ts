import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { SqliteDatabase } from '@app/database';
import { type Build, useBuild } from './build';
import { killedAt } from './child-script';
import { ChildService, type Ending } from './child-service';
import { engine, newDatabase, type TestDatabase } from './database';
import { digestsOf, type StoredIds, storedIds } from './digests';
import { directoryOnDisk } from './disk';
import type { SubjectIds } from './snowflakes';
import { until } from './until';

const LETHE_MASTER_KEY = Buffer.alloc(32, 'kill').toString('base64');

/** Acts once. True when the act is acknowledged; false when the process ended before, or when nothing is left to do. */
export type Act = (caller: number) => Promise<boolean>;

/** When the process is killed: by what it has done, never by the time. */
export interface Kill {
  readonly callers: number;
  /** At this acknowledged act, */
  readonly after: number;
  /** and not before this holds. */
  readonly once?: () => boolean | Promise<boolean>;
}

/** The service in a process of its own, on a database of its own: it is killed, and started again on the same port. */
export class Crashes {
  readonly directory = directoryOnDisk();
  /** The file of the database, on SQLite. */
  readonly path = join(this.directory, 'lethe.db');
  database: TestDatabase;
  private service: ChildService;

  /** Further `settings` take effect with the first start. */
  constructor(
    private readonly build: Build,
    readonly settings: Record<string, string> = {},
  ) {}

  get url(): string {
    return this.service.url;
  }

  async start(): Promise<this> {
    await (await this.made()).start();
    return this;
  }

  /** A start that must be refused. */
  async refused(settings: Readonly<Record<string, string>> = {}): Promise<Ending> {
    return new ChildService(this.build.directory, this.path, { ...this.settings, ...settings }).refused();
  }

  /** @throws Error when the process has ended by itself */
  async kill(): Promise<void> {
    const { code, signal, stderr } = await this.service.end('SIGKILL');
    if (signal !== 'SIGKILL') throw new Error(`the service ended by itself with ${code}: ${stderr}`);
  }

  /**
   * Lets callers act, each one act after another, until the process is killed under them.
   *
   * @throws Error when all callers end before the act that the kill waits for
   */
  async killDuring(act: Act, { callers, after, once = () => true }: Kill): Promise<void> {
    let acknowledged = 0;
    let reach: () => void;
    const reached = new Promise<void>((resolve) => (reach = resolve));
    const call = async (caller: number): Promise<void> => {
      while (await act(caller)) if (++acknowledged === after) reach();
    };
    const calling = Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)));
    const ended = calling.then(() => {
      throw new Error(`the callers ended after ${acknowledged} of ${after} acknowledged acts`);
    });
    await Promise.race([reached, ended]);
    if (!(await once())) await Promise.race([until(once), ended]);
    await this.kill();
    await calling;
  }

  /** Ends what the killed process had leased, as after a while; the calls that it was making are due again. */
  async endLeases(): Promise<void> {
    const past = new Date(0).toISOString();
    const due =
      'UPDATE webhook_deliveries SET locked_until = ?, next_attempt_at = ? WHERE locked_by IS NOT NULL';
    await this.database.run(due, past, past);
    await this.database.run('DELETE FROM job_leases');
  }

  /** A start that is killed before the `nth` statement, or as soon as the process listens. */
  async killStart(nth: number): Promise<void> {
    await this.made();
    const hold = killedAt({ at: '', count: nth }, this.build.workingDirectory);
    const starting = new ChildService(this.build.directory, this.path, { ...this.settings, ...hold });
    const held = await starting.start().then(
      () => 'HELD',
      (error: unknown) => String(error),
    );
    const { stderr } = await starting.end('SIGKILL');
    if (!held.includes('HELD')) throw new Error(`the service could not be started: ${stderr}`);
  }

  /** Ends the process in order. */
  terminate(): Promise<Ending> {
    return this.service.end('SIGTERM');
  }

  /** The ids of a subject as the service stores them. */
  async stored({ id }: { readonly id: string }, who: SubjectIds): Promise<StoredIds> {
    return storedIds(await digestsOf(this.database, { LETHE_MASTER_KEY }), id, who);
  }

  async count(from: string, ...values: readonly string[]): Promise<number> {
    const [row] = await this.database.rows<{ n: number }>(`SELECT COUNT(*) AS n FROM ${from}`, ...values);
    return Number(row?.n);
  }

  /** Only SQLite has a file that can be damaged. */
  requireWhole(path = this.path): void {
    if (engine === 'postgres') return;
    const file = new SqliteDatabase(path, { readonly: true });
    expect(file.pragma('integrity_check', { simple: true })).toBe('ok');
    file.close();
  }

  async remove(): Promise<void> {
    await this.service?.end('SIGKILL');
    await this.database?.drop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  private async made(): Promise<ChildService> {
    this.database ??= await newDatabase(this.directory);
    Object.assign(this.settings, { DATABASE_URL: this.database.url, LETHE_MASTER_KEY });
    return (this.service ??= new ChildService(this.build.directory, this.path, this.settings));
  }
}

/** One such service for the tests of the calling file. */
export function useCrashes(settings: Record<string, string> = {}): Crashes {
  const crashes = new Crashes(useBuild(), settings);
  beforeAll(() => crashes.start());
  afterAll(() => crashes.remove());
  return crashes;
}

/** Does the work for each item, for some of them at the same time. */
export async function forEach<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items];
  const next = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: 8 }, next));
}
