import { Logger } from '@nestjs/common';
import { looksTake } from '../../../test/support/time';
import type { Tx } from './tx';
import type { UnitOfWork } from './unit-of-work';
import { type Batches, type BotSweep, inBatches, sweepBots } from './bot-sweep';
import { type Lease, LeaseLost } from './job-leases';

const BOTS = ['a', 'b', 'c'];
const nextBot = (after: string): Promise<string | undefined> =>
  Promise.resolve(BOTS.find((bot) => bot > after));

/** One run; answers the units that were begun, and what `done` was called with. */
async function swept(
  batches: (botId: string, note: (text: string) => void) => Batches,
  { stopAt = 99, lostAt = 99, everyMs = 3_600_000 } = {},
) {
  const [units, done]: [string[], number[]] = [[], []];
  const stopping = new AbortController();
  const lease = {
    keep: (work: () => Promise<void>) => work(),
    batch: async (work: (tx: Tx) => Promise<number>) => {
      units.push('unit');
      const unit = units.filter((one) => one === 'unit').length;
      if (unit === stopAt) stopping.abort();
      if (unit === lostAt) throw new LeaseLost('swept');
      return work({} as Tx);
    },
  } as unknown as Lease;
  const sweep: BotSweep = {
    ...{ name: 'swept', everyMs, bots: nextBot, done: (rows) => done.push(rows) },
    batches: (botId) => batches(botId, (text) => units.push(text)),
    async *afterBots() {
      yield () => Promise.resolve(100);
      units.push('end');
    },
  };
  await sweepBots(sweep, {} as UnitOfWork, lease, stopping.signal);
  return { units: units.join(' '), done };
}

async function* two(botId: string, note: (text: string) => void): Batches {
  for (const rows of [1, 2]) note(`${botId}${yield () => Promise.resolve(rows)}`);
}

describe('a sweep', () => {
  it('does each batch of each bot in a unit of the lease, and hands its answer back', async () => {
    expect(await swept(two)).toEqual({
      units: 'unit a1 unit a2 unit b1 unit b2 unit c1 unit c2 unit end',
      done: [1, 2, 1, 2, 1, 2, 100],
    });
  });

  it('goes on with the next bot after a fault of one, which is thrown where the batch was named', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    const found = await swept(async function* (botId, note) {
      try {
        yield () => (botId === 'b' ? Promise.reject(new Error('injected')) : Promise.resolve(1));
      } catch (error) {
        note('fault');
        throw error;
      }
    });
    expect(logged.mock.calls).toMatchObject([[expect.any(String), { job: 'swept', botId: 'b' }]]);
    logged.mockRestore();
    expect(found).toEqual({ units: 'unit unit fault unit unit end', done: [1, 1, 100] });
  });

  it('does a bot with much to do in turns, between which the others are done', async () => {
    const [clock, turn] = [looksTake(1_000), 5];
    const some = async function* (botId: string, note: (text: string) => void): Batches {
      for (let left = botId === 'a' ? 2 * turn : 1; left > 0; left--) {
        yield () => Promise.resolve(1);
        note(botId);
      }
    };
    const { units } = await swept(some);
    clock.mockRestore();
    const order = units.replaceAll('unit ', '').split(' ');
    expect(order.indexOf('c')).toBeLessThan(order.lastIndexOf('a'));
    expect(order.filter((one) => one === 'a')).toHaveLength(2 * turn);
    expect(order.at(-1)).toBe('end');
  });

  it('leaves to the next run what is left after its interval', async () => {
    const clock = looksTake(1_000);
    const endless = async function* (): Batches {
      for (;;) yield () => Promise.resolve(1);
    };
    const { units } = await swept(endless, { everyMs: 60_000 });
    clock.mockRestore();
    expect(units).toMatch(/^(unit )+end$/);
  });

  it('begins nothing more once it is stopped', async () => {
    expect(await swept(two, { stopAt: 2 })).toEqual({ units: 'unit a1 unit', done: [1, 2] });
    expect((await swept(two, { stopAt: 7 })).units).not.toContain('end');
  });

  it('ends between two looks that have found nothing once it is stopped', async () => {
    const stopping = new AbortController();
    let looks = 0;
    const looking = async function* (): Batches {
      for (; looks < 9; looks++) {
        if (looks === 3) stopping.abort();
        yield undefined;
      }
    };
    await inBatches(looking(), {} as Lease, stopping.signal, () => undefined);
    expect(looks).toBe(3);
  });

  it.each<[string, boolean, string]>([
    ['after a look that has found nothing', true, 'a turn a turn b turn b turn c turn c turn'],
    ['between two bots', false, 'a turn b turn c'],
  ])('gives requests a turn %s', async (_, looks, order) => {
    const seen: string[] = [];
    await swept(async function* (botId) {
      for (let look = 0; look < (looks ? 2 : 1); look++) {
        seen.push(botId);
        setImmediate(() => seen.push('turn'));
        if (looks) yield undefined;
      }
    });
    expect(seen.join(' ').startsWith(order)).toBe(true);
  });

  it('ends at once where another process has taken the job over', async () => {
    await expect(swept(two, { lostAt: 3 })).rejects.toBeInstanceOf(LeaseLost);
  });
});
