import { UnsealedBots } from '@app/audit';
import { type Metrics, NO_METRICS } from '@app/kernel';
import { Logger } from '@nestjs/common';
import { SealLoop } from './seal-loop';

const ACTIVE = Array.from({ length: 20 }, (_, n) => `active${n + 10}`);
const FIRST_GROUP = 16;

interface Rounds {
  readonly loop: SealLoop;
  readonly unsealed: UnsealedBots;
  readonly rounds: string[][];
  readonly round: () => Promise<void>;
  /** Seconds for which the oldest log waits. */
  readonly oldestWait: () => number;
}

/**
 * A loop whose rounds have time for one group, in which events are settled a round after their note, as on PostgreSQL. The log
 * of the bot `broken` cannot be sealed, and the search finds it alone.
 */
function slowLoop(mends = (): boolean => false): Rounds {
  jest.useFakeTimers();
  const rounds: string[][] = [];
  const sealer = {
    seal: (group: string[]) => {
      rounds.push(group);
      jest.advanceTimersByTime(1_000);
      return group.includes('broken') && !mends()
        ? Promise.reject(new Error('a missing key'))
        : Promise.resolve([]);
    },
  } as never;
  const unitOfWork = { read: () => Promise.resolve([{ id: 'broken', newest: 2, sealed: 1 }]) } as never;
  let place = 0;
  const order = { look: () => Promise.resolve({ upTo: ++place, settled: place - 1 }) } as never;
  const clock = { monotonicMs: () => Date.now() } as never;
  const unsealed = new UnsealedBots({ on: () => undefined } as never, clock, { jobs: 'on' });
  let oldestWait = (): number => NaN;
  const metrics = { ...NO_METRICS, gauge: (_: string, read: () => number) => (oldestWait = read) };
  const loop = new SealLoop(unitOfWork, sealer, order, unsealed, clock, metrics as unknown as Metrics, {
    jobs: 'on',
  });
  loop.onApplicationBootstrap();
  const round = async (): Promise<void> => {
    const before = rounds.length;
    while (rounds.length === before) await jest.advanceTimersByTimeAsync(100);
  };
  return { loop, unsealed, rounds, round, oldestWait: () => oldestWait() };
}

afterEach(() => jest.useRealTimers());

describe('a loop whose rounds are too short for all bots', () => {
  it('reaches each of them in turn, also while the first ones go on writing', async () => {
    const { unsealed, rounds, round } = slowLoop();
    for (let n = 0; n < 4; n++) {
      for (const botId of ACTIVE.slice(0, FIRST_GROUP)) unsealed.note(botId);
      if (n === 0) for (const botId of ACTIVE.slice(FIRST_GROUP)) unsealed.note(botId);
      await round();
    }
    expect(new Set(rounds.flat())).toStrictEqual(new Set(ACTIVE));
  });
});

describe('a log that cannot be sealed', () => {
  it('is left to the search, or to a note after a minute, and holds up no other', async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const { loop, unsealed, rounds, round } = slowLoop();
    const attempts = (): number => rounds.filter((group) => group.join() === 'broken').length;
    const noted = async (): Promise<void> => {
      for (let n = 0; n < 4; n++) {
        for (const botId of ['broken', 'other']) unsealed.note(botId);
        await round();
      }
    };
    await noted();
    expect(attempts()).toBe(1);
    expect(rounds.filter((group) => group.join() === 'other').length).toBeGreaterThan(2);
    const lease = { keep: (work: () => Promise<void>) => work() } as never;
    await loop.run(lease, new AbortController().signal);
    await noted();
    expect(attempts()).toBe(2);
    jest.advanceTimersByTime(60_000);
    await noted();
    expect(attempts()).toBe(3);
  });

  it('waits since its first note until it is sealed, whatever notes it meanwhile', async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation();
    let isMended = false;
    const { loop, unsealed, rounds, oldestWait } = slowLoop(() => isMended);
    unsealed.note('broken');
    const lease = { keep: (work: () => Promise<void>) => work() } as never;
    for (let minute = 0; minute < 3; minute++) {
      await jest.advanceTimersByTimeAsync(60_000);
      // Each attempt takes a second more.
      expect(oldestWait()).toBe(60 * (minute + 1) + rounds.length);
      await loop.run(lease, new AbortController().signal);
      unsealed.note('broken');
    }
    isMended = true;
    await jest.advanceTimersByTimeAsync(70_000);
    expect(oldestWait()).toBe(0);
    // Without anything to seal the loop is idle.
    const { length } = rounds;
    await jest.advanceTimersByTimeAsync(70_000);
    expect(rounds).toHaveLength(length);
  });

  it('is tried again after a minute without a note', async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation();
    let isMended = false;
    const { unsealed, rounds, oldestWait } = slowLoop(() => isMended);
    unsealed.note('broken');
    await jest.advanceTimersByTimeAsync(30_000);
    expect(rounds).toEqual([['broken']]);
    isMended = true;
    await jest.advanceTimersByTimeAsync(60_000);
    expect([rounds.length > 1, oldestWait()]).toEqual([true, 0]);
  });
});
