import { UnsealedBots } from '@app/audit';
import { NO_METRICS } from '@app/kernel';
import { SealLoop } from './seal-loop';

const ACTIVE = Array.from({ length: 20 }, (_, n) => `active${n + 10}`);
const FIRST_GROUP = 16;

/** A loop whose rounds have time for one group, in which events are settled a round after their note, as on PostgreSQL. */
function slowLoop(): { unsealed: UnsealedBots; rounds: string[][]; round: () => Promise<void> } {
  jest.useFakeTimers();
  const rounds: string[][] = [];
  const none = undefined as never;
  const sealer = {
    seal: (group: string[]) => {
      rounds.push(group);
      jest.advanceTimersByTime(1_000);
      return Promise.resolve([]);
    },
  } as never;
  let place = 0;
  const order = { look: () => Promise.resolve({ upTo: ++place, settled: place - 1 }) } as never;
  const clock = { monotonicMs: () => place } as never;
  const unsealed = new UnsealedBots({ on: () => undefined } as never, clock, { jobs: 'on' });
  const loop = new SealLoop(none, sealer, order, unsealed, clock, NO_METRICS, { jobs: 'on' });
  loop.onApplicationBootstrap();
  const round = async (): Promise<void> => {
    const before = rounds.length;
    while (rounds.length === before) await jest.advanceTimersByTimeAsync(100);
  };
  return { unsealed, rounds, round };
}

describe('a loop whose rounds are too short for all bots', () => {
  afterEach(() => jest.useRealTimers());

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
