import { SqliteDatabase } from '@app/database';
import { type Build, useBuild } from './build';
import { killable, killedAt } from './child-script';
import type { ChildService, Ending } from './child-service';
import type { Answer, Json } from './client';
import { engine } from './database';
import { digestsOf, type StoredIds, storedIds } from './digests';
import { directoryOnDisk } from './disk';
import { Installation, lasting } from './installation';
import type { SubjectIds } from './snowflakes';
import { unlessCut } from './unless-cut';
import { until } from './until';

/** An act that was sent, and its answer if that came before the process ended. */
export interface Sent<Given, Data = Json> {
  readonly given: Given;
  answer?: Answer<Data>;
}

/** The acknowledged ones: the service must keep them. Every other one took effect, or it did not. */
export function answered<Given, Data>(sent: readonly Sent<Given, Data>[]): Required<Sent<Given, Data>>[] {
  return sent.filter((one): one is Required<Sent<Given, Data>> => one.answer !== undefined);
}

/** Callers who each send one act after another, and the act at which the process is killed: never a time. */
export interface Kill<Given, Data> {
  readonly callers: number;
  /** What a caller sends next; undefined when nothing is left. */
  readonly next: (caller: number) => Given | undefined;
  readonly send: (given: Given) => Promise<Answer<Data>>;
  /** At this acknowledged act, */
  readonly after: number;
  /** and not before this holds. */
  readonly once?: (sent: readonly Sent<Given, Data>[]) => boolean | Promise<boolean>;
  /** What happens to the files while no process has them. */
  readonly meanwhile?: () => unknown;
}

/** Sessions that still carry out what they had got before their process ended, such as a COMMIT. */
const AT_WORK = `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`;

/** An installation on a disk whose process is killed, and started again on the same port. */
export class Crashes extends Installation {
  private process: ChildService | undefined;

  constructor(
    build: Build,
    settings: Readonly<Record<string, string>> = {},
    private readonly isKillable = false,
  ) {
    const LETHE_MASTER_KEY = Buffer.alloc(32, 'kill').toString('base64');
    super({ build, settings: { LETHE_MASTER_KEY, ...settings }, makeDirectory: directoryOnDisk });
  }

  get url(): string {
    return this.running.url;
  }

  async start(): Promise<this> {
    await this.running.start();
    return this;
  }

  /** A start that must be refused. */
  refused(settings?: Readonly<Record<string, string>>): Promise<Ending> {
    return this.child(settings).refused();
  }

  /** @throws Error when the process has ended by itself */
  async kill(): Promise<void> {
    const { code, signal, stderr } = await this.running.end('SIGKILL');
    if (signal !== 'SIGKILL') throw new Error(`the service ended by itself with ${code}: ${stderr}`);
    if (engine === 'postgres') await until(async () => (await this.database.rows(AT_WORK)).length === 0);
  }

  /**
   * Sends an act to the process, which kills itself before the first statement of this kind. Answers what came before its
   * end, which is awaited. The service is one of `useKillable`.
   */
  async killedBefore<Answered>(
    statement: string,
    act: () => Promise<Answered>,
  ): Promise<Answered | undefined> {
    await this.running.ask(statement);
    const answer = await unlessCut(act());
    // It ends by itself, and not because its answer has come first.
    await expect(this.running.untilOf(async () => false)).rejects.toThrow('HELD');
    return answer;
  }

  /**
   * Kills the process under the acts of callers and starts it again. Answers all acts, in the order in which they were sent.
   *
   * @throws Error for a refusal, and when all callers end before the act that the kill waits for
   */
  async killed<Given, Data = Json>(kill: Kill<Given, Data>): Promise<Sent<Given, Data>[]> {
    const { callers, next, send, after, once = () => true, meanwhile } = kill;
    const sent: Sent<Given, Data>[] = [];
    let acknowledged = 0;
    let reach: () => void;
    const reached = new Promise<void>((resolve) => (reach = resolve));
    const call = async (caller: number): Promise<void> => {
      for (let given = next(caller); given !== undefined; given = next(caller)) {
        const one: Sent<Given, Data> = { given };
        sent.push(one);
        const answer = await unlessCut(send(given));
        if (answer === undefined) return;
        if (answer.status >= 300) throw new Error(`refused: ${answer.status} ${answer.text}`);
        one.answer = answer;
        if (++acknowledged === after) reach();
      }
    };
    const calling = Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)));
    const ended = calling.then(() => {
      throw new Error(`the callers ended after ${acknowledged} of ${after} acknowledged acts`);
    });
    await Promise.race([reached, ended]);
    const isTime = () => once(sent);
    if (!(await isTime())) await Promise.race([until(isTime), ended]);
    await this.kill();
    await calling;
    await meanwhile?.();
    await this.start();
    return sent;
  }

  /** Ends what the killed process had leased, as after a while; the calls that it was making are due again. */
  async endLeases(): Promise<void> {
    const past = new Date(0).toISOString();
    const due =
      'UPDATE webhook_deliveries SET locked_until = ?, next_attempt_at = ? WHERE locked_until IS NOT NULL';
    await this.database.run(due, past, past);
    await this.database.run('DELETE FROM job_leases');
  }

  /** A start that is killed before the `nth` statement, or as soon as the process listens. */
  async killStart(nth: number): Promise<void> {
    const starting = this.child(killedAt({ at: '', count: nth }, this.root));
    const held = await starting.start().then(
      () => 'HELD',
      (error: unknown) => String(error),
    );
    const { stderr } = await starting.end('SIGKILL');
    if (!held.includes('HELD')) throw new Error(`the service could not be started: ${stderr}`);
  }

  /** Ends the process in order. */
  terminate(): Promise<Ending> {
    return this.running.end('SIGTERM');
  }

  /** The ids of a subject as the service stores them. */
  async stored({ id }: { readonly id: string }, who: SubjectIds): Promise<StoredIds> {
    return storedIds(await digestsOf(this.database, this.environment), id, who);
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

  private get running(): ChildService {
    return (this.process ??= this.child(this.isKillable ? killable(this.root) : {}));
  }
}

/** One such service for the tests of the calling file. */
export function useCrashes(settings?: Readonly<Record<string, string>>, isKillable?: boolean): Crashes {
  const crashes = lasting(new Crashes(useBuild(), settings, isKillable));
  beforeAll(() => crashes.start().then(() => undefined));
  return crashes;
}

/** A service that kills itself before the statement that a test names (`killedBefore`). */
export const useKillable = (): Crashes => useCrashes({}, true);
