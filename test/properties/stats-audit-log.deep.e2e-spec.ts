import { Clock } from '@app/kernel';
import { AuditPruning, BatchSealer } from '@app/sealing';
import { type Bot, field } from '../support/bot';
import { chance } from '../support/chance';
import { atDepth, itInPart } from '../support/depth';
import { Life } from '../support/lives';
import { inOrder, loggedNumbers, missing, shownNumbers } from '../support/numbers';
import { sumOf } from '../support/jobs';
import { seal } from '../support/sealing';
import { useServiceInProcess } from '../support/service';

/** Acts of each of the users. */
const ACTS = atDepth(25, 150);

const service = useServiceInProcess();
let bot: Bot;
/** How far the clock of the service is ahead, in milliseconds. */
let aheadMs = 0;

beforeAll(() => {
  const clock = service.app.get(Clock);
  const nowMs = clock.nowMs.bind(clock);
  jest.spyOn(clock, 'nowMs').mockImplementation(() => nowMs() + aheadMs);
});
afterAll(() => jest.restoreAllMocks());
beforeEach(async () => {
  bot = await service.registerBot();
  await bot.hasCategory('profile', [field('turn', 'number')]);
});

const shown = (bucket: 'hour' | 'day') => shownNumbers(bot, bucket);
const logged = (bucket: 'hour' | 'day') => loggedNumbers(service.database, bot, bucket);

const prune = (beforeIso: string): Promise<number> =>
  sumOf(service, service.app.get(AuditPruning).pruneBefore(bot.id, beforeIso));

describe('the numbers of GET /stats', () => {
  itInPart(
    'are those of the audit log at any moment, while users act, time passes and batches are sealed',
    async () => {
      let isOver = false;
      const lives = Array.from({ length: 6 }, () => new Life(bot));
      let looks = 0;
      const living = lives.map(async (life) => {
        for (let acts = 0; acts < ACTS || looks <= 5; acts++) {
          await life.act();
          // An hour on average at each of 25 acts: all stay in the 30 days that an answer has by default.
          if (acts < ACTS) aheadMs += Math.floor((chance() * 2 * 3_600_000 * 25) / ACTS);
        }
      });
      const sealing = (async () => {
        while (!isOver) {
          await service.app.get(BatchSealer).sealNow(bot.id);
          await new Promise(setImmediate);
        }
      })();
      const looking = (['hour', 'day'] as const).map(async (bucket) => {
        while (!isOver) {
          const before = await logged(bucket);
          const seen = await shown(bucket);
          const after = await logged(bucket);
          expect(missing(before, seen)).toStrictEqual([]);
          expect(missing(seen, after)).toStrictEqual([]);
          looks++;
        }
      });
      const ended = Promise.all(living).finally(() => (isOver = true));
      await Promise.all([ended, sealing, ...looking]);
      for (const bucket of ['hour', 'day'] as const)
        expect(inOrder(await shown(bucket))).toStrictEqual(inOrder(await logged(bucket)));
      expect((await logged('hour')).size).toBeGreaterThan(20);
    },
  );

  it('stay when the events of the log are removed after their retention', async () => {
    const lives = Array.from({ length: 4 }, () => new Life(bot));
    const live = async (): Promise<void> => {
      for (const life of lives) for (let acts = 0; acts < 10; acts++) await life.act();
    };
    await live();
    await seal(service, bot);
    const before = await logged('hour');
    aheadMs += 3 * 3_600_000;
    const cut = new Date(service.app.get(Clock).nowMs()).toISOString();
    await live();
    await seal(service, bot);
    const all = inOrder(await logged('hour'));
    expect(await prune(cut)).toBeGreaterThan(0);
    expect((await logged('hour')).size).toBe(all.length - before.size);
    expect(inOrder(await shown('hour'))).toStrictEqual(all);
    await live();
    const more = new Map([...before, ...(await logged('hour'))]);
    expect(inOrder(await shown('hour'))).toStrictEqual(inOrder(more));
  });
});
