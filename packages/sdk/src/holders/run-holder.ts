import { requireNumber, TIMER_MAX_MS } from '../numbers';
import { isDay, momentMs } from '../times';
import { HolderError, type Place } from './answer';
import { type DoneTask, HolderRounds, type Round } from './holder-rounds';
import { type HolderClient, HolderService, statusOf } from './holder-service';
import { Journal } from './journal';
import { limited } from './limited.store';
import { Signer, type SigningKey } from './statement';
import type { Keeps, Store } from './store';

export interface HolderOptions {
  /** The name of the holder in Lethe, a slug: `database`. */
  readonly key: string;
  /** With `webhook` the service calls the bot for each task: {@link HolderLoop.wake}. Without it a new holder is `pull`. */
  readonly kind?: 'pull' | 'webhook';
  /** What the holder keeps, erased in this order. */
  readonly stores: readonly (Store | readonly Store[])[];
  /** How users read it in the evidence of their erasure; by default as it is declared already, or else `key`. */
  readonly label_de?: string;
  readonly label_en?: string;
  /** Signs each answer: an Ed25519 key in PEM, or its KeyObject. */
  readonly privateKey?: SigningKey | string;
  /** The pause between two rounds; 60 by default. */
  readonly everySeconds?: number;
  /** How long one call of a store may take; 120 by default. After that the store has failed, and is tried again. */
  readonly storeTimeoutSeconds?: number;
  /** What failed, in words without ids; a warning of the process by default. */
  readonly onError?: (error: unknown) => void;
  /** Called after each task, with its answer. */
  readonly onTask?: (task: DoneTask) => void;
  /** Counts and reports to `onTask`, and changes nothing, here or in Lethe: `result` and `answered` are what a real run would answer. */
  readonly dryRun?: boolean;
  readonly timers?: HolderTimers;
}

/** The timers of a loop. */
export interface HolderTimers {
  set(run: () => void, ms: number): unknown;
  clear(timer: unknown): void;
}

export interface HolderLoop {
  /** Does a round now, or waits for the one that runs. @throws LetheError where the service does not answer */
  once(): Promise<Round>;
  /** Begins a round as soon as none runs: what to do for the event `holder_task`. What fails is reported. */
  wake(): void;
  /** Ends the loop, and resolves once the store that is being erased has answered or has no time left. */
  stop(): Promise<void>;
}

const EVERY_SECONDS = 60;
const STORE_SECONDS = 120;
/** The longest pause after rounds that failed as a whole. */
const PAUSE_MAX_SECONDS = 900;

const LOST =
  'was not known to the service, as after a restore, and is declared again. Erasures meanwhile may have no task: compare your users with GET /users.';

const UNDECLARED = 'A dry run declares no holder: run lethe holders push before, which erases nothing.';

const TIMERS: HolderTimers = {
  set: (run, ms) => setTimeout(run, ms).unref(),
  clear: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
};

/**
 * Declares a holder of the bot, and answers its tasks from now on: every erasure in Lethe is done in the stores too, and what
 * they have about a user is brought to an export. The process may end at any moment, and several processes may run the same holder.
 * @throws TypeError for options that cannot work
 */
export function runHolder(lethe: HolderClient, options: HolderOptions): HolderLoop {
  return new Loop(lethe, options);
}

class Loop implements HolderLoop {
  private readonly end = new AbortController();
  private readonly service: HolderService;
  private readonly rounds: HolderRounds;
  private readonly stores: readonly Store[];
  private readonly signer: Signer | undefined;
  private readonly timers: HolderTimers;
  private running: Promise<Round> | undefined;
  private timer: unknown;
  private isDeclared = false;
  /** Whether the service did not know it, which is reported once it is declared again: here, or by `lethe holders push`. */
  private isLost = false;
  /** Why the declaration was refused, which is reported once. */
  private reported: string | undefined;
  private failures = 0;

  constructor(
    lethe: HolderClient,
    private readonly options: HolderOptions,
  ) {
    const { key, privateKey, everySeconds, dryRun = false, onTask, timers = TIMERS } = options;
    const { storeTimeoutSeconds = STORE_SECONDS } = options;
    requireNumber('everySeconds', everySeconds, 1, TIMER_MAX_MS / 1000);
    requireNumber('storeTimeoutSeconds', storeTimeoutSeconds, 1, TIMER_MAX_MS / 1000);
    this.timers = timers;
    const given = options.stores.flat();
    requireStores(given);
    this.stores = given.map((store) => limited(store, storeTimeoutSeconds));
    this.signer = privateKey === undefined ? undefined : new Signer(privateKey);
    const { signal } = this.end;
    this.service = new HolderService(lethe, key, this.signer, signal);
    const places = this.stores.map((store): Place => {
      const journal =
        store.marks === undefined ? undefined : new Journal(store.marks, `${key}/${store.name}`);
      return { store, journal };
    });
    const onError = (error: unknown) => this.report(error);
    const told = (task: DoneTask): void =>
      guarded(() => onTask?.(dryRun ? { ...task, dryRun } : task), onError);
    this.rounds = new HolderRounds(this.service, places, { isDryRun: dryRun, signal, onError, onTask: told });
    this.plan(0);
  }

  once(): Promise<Round> {
    this.running ??= this.round().finally(() => (this.running = undefined));
    return this.running;
  }

  wake(): void {
    const next = (): Promise<Round> => this.once();
    (this.running?.then(next, next) ?? next()).catch((error: unknown) => {
      if (!this.end.signal.aborted) this.report(error);
    });
  }

  async stop(): Promise<void> {
    this.end.abort();
    this.timers.clear(this.timer);
    await this.running?.catch(() => undefined);
  }

  private async round(): Promise<Round> {
    this.end.signal.throwIfAborted();
    const { dryRun = false } = this.options;
    const wasDeclared = this.isDeclared;
    if (!wasDeclared && !dryRun) await this.declare();
    try {
      const round = await this.rounds.run();
      this.reportLoss();
      return round;
    } catch (error) {
      if (dryRun && statusOf(error) === 404)
        throw new HolderError(`${UNDECLARED} Lethe answered: ${(error as Error).message}`);
      // The service has lost it, as by a backup from before the declaration.
      if (!wasDeclared || statusOf(error) !== 404) throw error;
      this.isLost = true;
      await this.declare();
      this.reportLoss();
      return this.rounds.run();
    }
  }

  private reportLoss(): void {
    if (!this.isLost) return;
    this.isLost = false;
    this.report(new HolderError(`The holder ${this.options.key} ${LOST}`));
  }

  /** A holder that is declared otherwise still has tasks: a table that the key may not add keeps no erasure of the others. */
  private async declare(): Promise<void> {
    const { key, kind, label_de, label_en } = this.options;
    const refused = await this.service.declare({
      key,
      ...(kind && { kind }),
      ...(label_de && { label_de }),
      ...(label_en && { label_en }),
      covers: this.stores.map(({ name }) => name),
      public_key: this.signer?.publicKey ?? null,
    });
    this.isDeclared = refused === undefined;
    if (refused !== undefined && refused.message !== this.reported) this.report(refused);
    this.reported = refused?.message;
  }

  private plan(seconds: number): void {
    if (this.end.signal.aborted) return;
    this.timer = this.timers.set(() => void this.turn(), seconds * 1000);
  }

  private async turn(): Promise<void> {
    const every = this.options.everySeconds ?? EVERY_SECONDS;
    try {
      await this.once();
      this.failures = 0;
    } catch (error) {
      if (this.end.signal.aborted) return;
      this.failures += 1;
      this.report(error);
    }
    this.plan(
      this.failures === 0 ? every : Math.max(every, Math.min(PAUSE_MAX_SECONDS, every * 2 ** this.failures)),
    );
  }

  private report(error: unknown): void {
    const { onError } = this.options;
    const words = (): string => (error instanceof Error ? error.message : String(error));
    // Of the report itself there is no report.
    if (onError !== undefined)
      guarded(
        () => onError(error),
        () => undefined,
      );
    else process.emitWarning(words(), 'LetheHolderWarning');
  }
}

/** The service has no later time. */
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** A function of the bot that fails, or whose promise does, ends no round and no process. */
function guarded(act: () => unknown, onError: (error: unknown) => void): void {
  void (async () => act())().catch(onError);
}

function requireStores(stores: readonly Store[]): void {
  const names = stores.map(({ name }) => name);
  if (names.length === 0 || names.length > 50) throw new TypeError('A holder has 1 to 50 stores.');
  const wrong = names.find((name) => name.length === 0 || name.length > 64);
  if (wrong !== undefined) throw new TypeError(`The name of a store has 1 to 64 characters: ${wrong}`);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined)
    throw new TypeError(`Two stores are called ${twice}: give one of them another name.`);
  for (const { name, keeps } of stores) {
    if (keeps === undefined) continue;
    const { length } = [...keeps.basis];
    if (length === 0 || length > 200 || !isTime(keeps.until))
      throw new TypeError(
        `keeps of ${name} needs a basis of 1 to 200 characters, and as until a Date, a day (2032-01-01) or a time with its zone, before the year 10000.`,
      );
  }
}

/** A text that is no ISO 8601 is not guessed: JavaScript reads 01.12.2032 as the 12th of January. */
function isTime(until: Keeps['until']): boolean {
  if (typeof until === 'string' && !isDay(until) && momentMs(until) === undefined) return false;
  return new Date(until).getTime() <= LAST_MS;
}
