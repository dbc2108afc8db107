import { setImmediate as nextTurn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { Tx } from './tx';
import type { UnitOfWork } from './unit-of-work';
import { describeFault } from '@app/kernel';
import { type Lease, LeaseLost } from './job-leases';

/**
 * Bounded work in units, one after the other: a `yield` has the answer of its unit as its value, or throws its error. After
 * a bounded look that has found nothing to do, undefined is yielded, so that requests have a turn and the sweep can end there.
 */
export type Batches = AsyncGenerator<((tx: Tx) => Promise<number>) | undefined, void, number>;

/** A job that does for one bot after the other what is due. It says for which, and does one bounded batch. */
export interface BotSweep {
  readonly name: string;
  /** The time from its end until it is due again, in any process, in milliseconds. */
  readonly everyMs: number;
  /** The bots that may have something due: those of a table or of some of its rows, or the first one after `after`, by its id. */
  readonly bots:
    | string
    | { readonly table: string; readonly where: string }
    | ((after: string) => Promise<string | undefined>);
  /** What is due of a bot; no batch begins once `stopping` is aborted. */
  batches(botId: string, stopping: AbortSignal): Batches;
  /** What is due of no bot. */
  afterBots?(): Batches;
  /** Called with the answer of each batch, after its commit. */
  done?(rows: number): void;
}

/** How long one bot is swept while others wait, in milliseconds; the rest of its work has its turn after them. */
const TURN_MS = 5_000;

/**
 * One run of a sweep. A fault of one bot is logged and stops no other, and a bot with much to do holds up no other for long: the
 * rest after the interval of the sweep is for the next run, which finds what has become due meanwhile.
 * Ends early once `stopping` says so, or when another process has taken the job over. Returns how many bots had a fault.
 */
export async function sweepBots(
  sweep: BotSweep,
  unitOfWork: UnitOfWork,
  lease: Lease,
  stopping: AbortSignal,
): Promise<number> {
  const { bots } = sweep;
  let faults = 0;
  const next = async (after: string): Promise<string | null | undefined> => {
    if (typeof bots === 'function') return bots(after);
    const { table, where } = typeof bots === 'string' ? { table: bots, where: 'TRUE' } : bots;
    const sql = `SELECT MIN(bot_id) AS bot_id FROM ${table} WHERE bot_id > ? AND ${where}`;
    return (await unitOfWork.get<{ bot_id: string | null }>(sql, after))?.bot_id;
  };
  const done = (rows: number): void => sweep.done?.(rows);
  const unfinished = new Map<string, Steps>();
  const endMs = performance.now() + sweep.everyMs;
  const turnOf = async (botId: string, steps: Steps): Promise<void> => {
    // Looks on SQLite take no turn of the event loop: requests wait for one of them, not for a look at each bot.
    await nextTurn();
    if (await isOver(botId, steps, sweep.name, () => faults++)) unfinished.delete(botId);
    else unfinished.set(botId, steps);
  };
  await lease.keep(async () => {
    for (let botId = await next(''); botId != null && !stopping.aborted; botId = await next(botId))
      await turnOf(botId, stepsOf(sweep.batches(botId, stopping), lease, stopping, done));
    while (unfinished.size > 0 && !stopping.aborted && performance.now() < endMs)
      for (const [botId, steps] of [...unfinished]) await turnOf(botId, steps);
    if (sweep.afterBots !== undefined && !stopping.aborted)
      await inBatches(sweep.afterBots(), lease, stopping, done);
  });
  return faults;
}

/** A turn of a bot; whether nothing is left to do, or it has failed. */
async function isOver(botId: string, steps: Steps, job: string, failed: () => void): Promise<boolean> {
  const endMs = performance.now() + TURN_MS;
  try {
    while ((await steps.next()).done !== true) if (performance.now() >= endMs) return false;
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    failed();
    new Logger('Jobs').error(
      `The work for bot ${botId} failed and is done at the next run; other bots are not affected`,
      { job, botId, ...describeFault(error) },
    );
  }
  return true;
}

/** Does each batch in a unit that renews the lease. @throws LeaseLost when another process has taken over */
export async function inBatches(
  batches: Batches,
  lease: Lease,
  stopping: AbortSignal,
  done: (rows: number) => void,
): Promise<void> {
  const steps = stepsOf(batches, lease, stopping, done);
  while ((await steps.next()).done !== true);
}

type Steps = AsyncGenerator<void, void, void>;

/** {@link inBatches} that stops after each batch and each look. */
async function* stepsOf(
  batches: Batches,
  lease: Lease,
  stopping: AbortSignal,
  done: (rows: number) => void,
): Steps {
  for (let step = await batches.next(0); step.done !== true && !stopping.aborted;) {
    if (step.value === undefined) {
      await nextTurn();
      if (stopping.aborted) return;
      yield;
      step = await batches.next(0);
      continue;
    }
    const [unit] = await Promise.allSettled([lease.batch(step.value)]);
    if (unit.status === 'rejected') {
      if (unit.reason instanceof LeaseLost) throw unit.reason;
      step = await batches.throw(unit.reason);
    } else {
      done(unit.value);
      if (stopping.aborted) return;
      yield;
      step = await batches.next(unit.value);
    }
  }
}
