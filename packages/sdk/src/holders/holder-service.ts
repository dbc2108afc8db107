import { Deadline } from '../deadline';
import type { Lethe } from '../lethe';
import type { Schemas } from '../routes';
import type { CallOptions } from '../transport';
import type { Answered, Task } from './answer';
import { HolderError } from './answer';
import type { ExportAnswer } from './export-answer';
import { digestOf, type Signer, type Statement } from './statement';

/** The client of a bot, with any categories. */
export type HolderClient = Pick<Lethe, 'holders' | 'bots' | 'users'>;

/** What Lethe answers where it takes no declaration. All else is about the service. */
const REFUSALS = [400, 403, 409];
/** A call waits for the limiter of the service, which begins anew each minute. */
const PATIENT_MS = 150_000;
const RETRIES = 3;
/** Twelve requests a minute: less than half of the smallest limit, 30. The rest is for the users of the bot. */
const PAUSE_MS = 5_000;

type Stated = Omit<Statement, 'bot_id' | 'holder' | 'task_id' | 'at'>;

/** Where else the user of a task is known. */
export interface Elsewhere {
  /** Whether the guild of the task itself has a reason to keep data: the user is back. */
  readonly isBack: () => Promise<boolean>;
  /** Whether no other guild has a reason to keep data. */
  readonly isLast: () => Promise<boolean>;
  /** Whether Lethe holds nothing at all in another guild. */
  readonly isAlone: () => Promise<boolean>;
}

type Held = Schemas['ListedUserView'];

/** How a holder is declared. What is not given is as it is declared already. */
export interface Declared {
  readonly key: string;
  readonly kind?: 'pull' | 'webhook';
  readonly label_de?: string;
  readonly label_en?: string;
  readonly covers: readonly string[];
  readonly public_key: string | null;
}

/**
 * The part of the service that one holder speaks to. Every call ends with `signal`. Once the service has limited a call, there is a
 * pause before each one about a task, until the round ends.
 */
export class HolderService {
  private readonly options: CallOptions;
  private botId?: string;
  private isLimited = false;
  /** Of the questions about other consents, since the round began. */
  private readonly faults = new Set<unknown>();

  constructor(
    private readonly lethe: HolderClient,
    private readonly key: string,
    private readonly signer: Signer | undefined,
    private readonly signal: AbortSignal,
  ) {
    const onRetry: NonNullable<CallOptions['onRetry']> = ({ error }) => {
      this.isLimited ||= error.status === 429;
    };
    // Also with a client that repeats nothing: there is no user who waits.
    this.options = { signal, timeoutMs: PATIENT_MS, retries: RETRIES, onRetry };
  }

  /** A new round knows of no limit. */
  begin(): void {
    this.isLimited = false;
    this.faults.clear();
  }

  /**
   * Declares the holder, or changes what differs. Answers why a holder that is there may not be changed, if its tasks can be done.
   * @throws HolderError where the API key may not declare it, or change its public key
   */
  async declare(wanted: Declared): Promise<HolderError | undefined> {
    const there = await this.declared();
    try {
      const labels = { label_de: this.key, label_en: this.key };
      if (there === undefined)
        await this.lethe.holders.register({ kind: 'pull', ...labels, ...wanted }, this.options);
      else if (isOther(there, wanted)) await this.lethe.holders.change(wanted, this.options);
      return undefined;
    } catch (error) {
      // By another public key no answer of a task could be verified.
      const answers = there !== undefined && there.public_key === wanted.public_key;
      if (answers && REFUSALS.includes(Number(statusOf(error))))
        return this.refused('declared otherwise', error);
      // Another process of the bot was faster.
      if (statusOf(error) === 409 && (await this.declared()) !== undefined) return undefined;
      if (statusOf(error) !== 403) throw error;
      throw this.refused(there === undefined ? 'not declared' : 'declared with another public key', error);
    }
  }

  private refused(state: string, error: unknown): HolderError {
    const { code, message } = error as { code?: unknown; message?: unknown };
    const why =
      code === 'insufficient_scope'
        ? 'the API key lacks the scope admin: start the bot once with a key that has it, or run lethe holders push.'
        : `Lethe refuses to declare it so: ${String(message)}`;
    return new HolderError(`The holder ${this.key} is ${state}, and ${why}`);
  }

  /** The tasks without a final answer, oldest first. */
  open(): AsyncIterable<Task> {
    return this.lethe.holders.tasks({ key: this.key }, this.options);
  }

  /** The open tasks, and those that were answered at or after a time: every task that was made from it on. */
  since(time: string): AsyncIterable<Task> {
    return this.lethe.holders.tasks({ key: this.key, since: time }, this.options);
  }

  async acknowledge(task: Task, answer: Answered): Promise<void> {
    await this.answer(task, answer, answer);
  }

  /** Answers a task with the act `export`: of the counts only those of an erasure are sent. */
  async deliver(task: Task, { result, data }: ExportAnswer): Promise<void> {
    const data_digest = data && { data_digest: digestOf(data) };
    // The types of the interface know no data so far.
    const given = { result, ...(data && { data }) } as unknown as Answered;
    await this.answer(task, given, { result, counts: null, ...data_digest });
  }

  private async answer({ task_id }: Task, answer: Answered, stated: Stated): Promise<void> {
    const { key, signer } = this;
    await this.pause();
    const about = { holder: key, task_id, at: new Date().toISOString() };
    const statement = signer?.statement({ ...stated, ...about, bot_id: await this.ownId() });
    const given = { key, task_id, ...answer, ...(statement !== undefined && { statement }) };
    try {
      await this.lethe.holders.acknowledge(given, this.options);
    } catch (error) {
      // Another process of the bot has answered, or the evidence of the erasure has ended.
      if (statusOf(error) === 404 || reasonOf(error) === 'task_answered') return;
      throw error;
    }
  }

  /** Asks once for all stores. */
  elsewhere({ user_id, guild_id }: Task): Elsewhere {
    let asked: Promise<readonly Held[]> | undefined;
    const held = () =>
      (asked ??= this.heldOf(user_id).catch((error: unknown) => {
        this.faults.add(error);
        throw error;
      }));
    /** Those with a reason to keep data: a consent is in force, or something is held of a user who was not asked. */
    const guilds = async () => new Set((await held()).filter(hasReason).map((one) => one.guild_id));
    return {
      isBack: async () => (await guilds()).has(guild_id),
      isLast: async () => [...(await guilds())].every((guild) => guild === guild_id),
      isAlone: async () => (await held()).every((one) => one.guild_id === guild_id),
    };
  }

  /** Whether the service has failed with it, and no store. */
  isFault(error: unknown): boolean {
    return this.faults.has(error);
  }

  private async heldOf(user_id: string): Promise<readonly Held[]> {
    await this.pause();
    return this.lethe.users.list({ user_id }, this.options).toArray();
  }

  private async pause(): Promise<void> {
    if (!this.isLimited) return;
    const deadline = new Deadline(PATIENT_MS, this.signal);
    try {
      await deadline.sleep(PAUSE_MS);
    } finally {
      deadline.end();
    }
  }

  private async declared(): Promise<Declared | undefined> {
    try {
      return await this.lethe.holders.get(this.key, this.options);
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw error;
    }
  }

  private async ownId(): Promise<string> {
    this.botId ??= (await this.lethe.bots.me({}, this.options)).id;
    return this.botId;
  }
}

/** A guild that has asked, and has no consent in force, gives no reason to keep data: the list does not tell of values without one. */
const hasReason = ({ status, declined_at }: Held): boolean =>
  status === 'accepted' || (status === 'none' && declined_at === null);

/** The status of a refusal. Each entry of the package has a LetheError of its own, so that `instanceof` is of no use. */
export const statusOf = (error: unknown): unknown => (error as { status?: unknown } | undefined)?.status;
const reasonOf = (error: unknown): unknown => (error as { reason?: unknown } | undefined)?.reason;

const isOther = (there: Declared, wanted: Declared): boolean =>
  (['kind', 'label_de', 'label_en'] as const).some(
    (name) => wanted[name] !== undefined && there[name] !== wanted[name],
  ) ||
  there.public_key !== wanted.public_key ||
  JSON.stringify([...there.covers].sort()) !== JSON.stringify([...wanted.covers].sort());
