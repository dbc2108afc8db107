import {
  answerTo,
  type Answered,
  erased,
  hasLostIds,
  HolderError,
  holderError,
  isKept,
  leave,
  leaveKept,
  type Place,
  requireIds,
  type Task,
} from './answer';
import { BOT_WIDE_GUILD_ID } from '../vocabulary';
import { type ExportAnswer, exportOf } from './export-answer';
import { type Elsewhere, type HolderService, statusOf } from './holder-service';
import { BEGINNING, type Journal } from './journal';

/** What a round did. */
export interface Round {
  /** Tasks with a final answer. */
  readonly answered: number;
  /** Tasks that failed, and are tried again. */
  readonly failed: number;
  /** Erasures that were done again, in stores that were restored from a backup. */
  readonly repeated: number;
  /** What the erasures found, by the name of the store. */
  readonly found: Readonly<Record<string, number>>;
}

/** A task with its answer. Of an export it has the numbers, and not the data. With `dryRun` the answer was not given. */
export type DoneTask = { readonly task_id: string; readonly dryRun?: true } & (
  ({ readonly act: 'erase' } & Answered) | ({ readonly act: 'export' } & Omit<ExportAnswer, 'data'>)
);

export interface RoundOptions {
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
  readonly onTask: ((task: DoneTask) => void) | undefined;
}

/** A task that failed n times in a row waits for 2ⁿ − 1 rounds, and for this many at most. */
const WAIT_MAX = 63;
const FINAL = ['erased', 'nothing', 'kept', 'abandoned'];

interface Failing {
  readonly times: number;
  readonly waits: number;
}

function onceMore(before: Failing | undefined): Failing {
  const times = (before?.times ?? 0) + 1;
  return { times, waits: Math.min(WAIT_MAX, 2 ** times - 1) };
}

/** Walks the tasks of one holder. Rounds of one object do not overlap. */
export class HolderRounds {
  private failing = new Map<string, Failing>();
  private catchingUp: Failing | undefined = { times: 0, waits: 0 };
  /** The time of the newest task that every store has done. */
  private newest = BEGINNING;
  /** Up to which time the journals were settled last. */
  private settled = '';
  /** Acts that were reported, since this version knows nothing of them. */
  private readonly unknownActs = new Set<string>();

  constructor(
    private readonly service: HolderService,
    private readonly places: readonly Place[],
    private readonly options: RoundOptions,
  ) {}

  /** @throws LetheError where the service does not answer, and the rest is left for the next round */
  async run(): Promise<Round> {
    const round = { answered: 0, failed: 0, repeated: 0, found: {} as Record<string, number> };
    const isFirst = this.catchingUp !== undefined;
    this.service.begin();
    if (this.catchingUp !== undefined) await this.catchUp(round, this.catchingUp);
    const failing = new Map<string, Failing>();
    let oldest = '';
    for await (const task of this.service.open()) {
      this.options.signal.throwIfAborted();
      if (!this.isKnown(task)) continue;
      const before = this.failing.get(task.task_id);
      if (before !== undefined && before.waits > 0) {
        failing.set(task.task_id, { ...before, waits: before.waits - 1 });
        round.failed += 1;
      } else if (await this.isAnswered(task, round)) {
        round.answered += 1;
        this.saw(task);
        continue;
      } else {
        failing.set(task.task_id, onceMore(before));
        round.failed += 1;
      }
      // A task without ids fails at each round, and no store can do it: the notes do not wait for it.
      if (task.act === 'erase' && !hasLostIds(task)) oldest ||= task.created_at;
    }
    this.failing = failing;
    // What failed is in the list, and may be older than all that was done.
    const time = () => (oldest !== '' && oldest < this.newest ? oldest : this.newest);
    const isMoving = time() !== this.settled && (!isFirst || round.answered > 0);
    if (isMoving && this.catchingUp === undefined && !this.options.isDryRun) {
      // A process without one of the stores may have answered tasks, which no later list has.
      this.catchingUp = { times: 0, waits: 0 };
      await this.catchUp(round, this.catchingUp);
    }
    await this.settle(time());
    return round;
  }

  private saw({ act, created_at }: Task): void {
    const now = new Date(Date.now()).toISOString();
    // The clock of the service may be ahead: nothing is known of a time to come.
    const time = created_at < now ? created_at : now;
    if (act === 'erase' && time > this.newest) this.newest = time;
  }

  /** A task that asks for something else is no erasure: it is left alone, and reported once for each act. */
  private isKnown({ act, task_id }: Task): boolean {
    if (act === 'erase' || act === 'export') return true;
    const name = /^[a-z_]{1,30}$/.test(act) ? act : 'unknown';
    if (this.unknownActs.has(name)) return false;
    this.unknownActs.add(name);
    const words = `A task has the act ${name}, which this version of @lethe/sdk does not know. It is left alone: install a newer one.`;
    this.options.onError(new HolderError(words, undefined, task_id));
    return false;
  }

  private async isAnswered(task: Task, round: { found: Record<string, number> }): Promise<boolean> {
    const { onTask, onError, isDryRun, signal } = this.options;
    const { task_id } = task;
    const elsewhere = this.service.elsewhere(task);
    const { isLast, isBack } = elsewhere;
    const about = await this.inScope(task, elsewhere);
    if (task.act === 'export') {
      const { data, ...answer } = await exportOf(about, this.places, { onError, signal });
      if (!(await this.isTaken(() => this.service.deliver(task, { ...answer, ...(data && { data }) }))))
        return false;
      onTask?.({ task_id, act: 'export', ...answer });
      return answer.result !== 'failed';
    }
    const isFault = (error: unknown): boolean => this.service.isFault(error);
    const answer = await answerTo(about, this.places, { isLast, isBack, isFault, onError, isDryRun, signal });
    for (const [name, count] of Object.entries(answer.counts))
      round.found[name] = (round.found[name] ?? 0) + count;
    if (!(await this.isTaken(() => this.service.acknowledge(task, answer)))) return false;
    onTask?.({ task_id, act: 'erase', ...answer });
    return answer.result !== 'failed';
  }

  /** Whether the service has taken an answer. A dry run sends none. */
  private async isTaken(send: () => Promise<void>): Promise<boolean> {
    if (this.options.isDryRun) return true;
    try {
      await send();
      return true;
    } catch (error) {
      // A refusal is about this task. All else is about the service, and so about every task.
      if (![400, 409, 413].includes(Number(statusOf(error)))) throw error;
      this.options.onError(error);
      return false;
    }
  }

  /**
   * Repeats every erasure that Lethe has an answer for and a store knows nothing of: it was restored from a backup, or the
   * process that answered has no such store.
   */
  private async catchUp(round: { repeated: number }, before: Failing): Promise<void> {
    if (before.waits > 0) return void (this.catchingUp = { ...before, waits: before.waits - 1 });
    let isComplete = true;
    const did = async (
      { store }: Place,
      task: Task | undefined,
      act: () => Promise<boolean>,
    ): Promise<boolean> => {
      this.options.signal.throwIfAborted();
      try {
        return await act();
      } catch (error) {
        this.options.signal.throwIfAborted();
        if (this.service.isFault(error)) throw error;
        isComplete = false;
        this.options.onError(holderError(error, store, task));
        return false;
      }
    };
    const known: (Place & { journal: Journal })[] = [];
    for (const { store, journal } of this.places)
      if (journal !== undefined && (await did({ store, journal }, undefined, () => journal.load())))
        known.push({ store, journal });
    const [from] = known.map(({ journal }) => journal.from).sort();
    for await (const task of from === undefined ? [] : this.service.since(from)) {
      // The answer of an export is no reason to erase.
      if (task.act !== 'erase') continue;
      // An erasure without its ids cannot be repeated, and was reported when its task was open.
      if (!FINAL.includes(task.result ?? '') || hasLostIds(task)) continue;
      const elsewhere = this.service.elsewhere(task);
      for (const place of known)
        if (await did(place, task, () => this.isRepeated(place, task, elsewhere))) round.repeated += 1;
      this.saw(task);
    }
    this.catchingUp = isComplete ? undefined : onceMore(before);
  }

  private async isRepeated(
    place: Place & { journal: Journal },
    task: Task,
    elsewhere: Elsewhere,
  ): Promise<boolean> {
    const { isBack, isLast } = elsewhere;
    const { journal, store } = place;
    requireIds(task);
    if (task.created_at < journal.from || (await journal.isDoneAnywhere(task.task_id))) return false;
    const { isDryRun } = this.options;
    const isLeft = isKept(store.keeps) || (store.everywhere === true && !(await isLast()));
    // A table that was declared just now can hold new rows of a user who is back. So can a kept store: an older version wrote no note for it.
    const isOfOlder = store.keeps !== undefined && task.result === 'kept' && journal.hasPassed(task);
    const isUnsure = journal.isNew || isOfOlder;
    if (isLeft || (isUnsure && (await isBack()))) {
      if (!isDryRun) await (isKept(store.keeps) ? leaveKept(task, place, this.options) : leave(task, place));
      return false;
    }
    const inScope = await this.inScope(task, elsewhere);
    const about = store.everywhere === 'partly' ? { ...inScope, isLast: await isLast() } : inScope;
    if (isDryRun) return (await store.count(about)) > 0;
    return (await erased(about, place)) > 0;
  }

  /** A user about whom Lethe holds nothing outside the bot-wide scope is erased in every guild. What Lethe keeps in a guild, the bot may keep too. */
  private async inScope(task: Task, { isAlone }: Elsewhere): Promise<Task> {
    return task.guild_id === BOT_WIDE_GUILD_ID && (await isAlone()) ? { ...task, everyGuild: true } : task;
  }

  private async settle(time: string): Promise<void> {
    if (this.options.isDryRun || this.catchingUp !== undefined) return;
    for (const { journal, store } of this.places) {
      try {
        await journal?.settle(time);
      } catch (error) {
        this.options.onError(holderError(error, store));
      }
    }
    this.settled = time;
  }
}
