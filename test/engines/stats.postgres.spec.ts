import { BatchSealer } from '@app/sealing';
import { field } from '../support/bot';
import { atDepth } from '../support/depth';
import { Life } from '../support/lives';
import { inOrder, loggedNumbers, missing, OF_DAY, shownNumbers } from '../support/numbers';
import { useReceiver } from '../support/receiver';
import { Service } from '../support/service';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

/** Two instances of the service on one database: both act, seal and send. */
const one = new Service();
let other: Service;
const receiver = useReceiver();

beforeAll(async () => {
  await one.start();
  other = await new Service({ DATABASE_URL: one.database.url }).start();
});
afterAll(async () => {
  await other.stop();
  await one.stop();
});

describe('two processes on one database', () => {
  it('show the numbers of the audit log at any moment, both while both act and seal', async () => {
    const bot = await one.registerBot();
    await bot.hasCategory('profile', [field('turn', 'number')]);
    let isOver = false;
    const lives = [one, one, one, other, other, other].map((at) => new Life(bot.at(at)));
    const living = lives.map(async (life) => {
      for (let acts = 0; acts < atDepth(25, 150); acts++) await life.act();
    });
    const sealing = [one, other].map(async ({ app }) => {
      while (!isOver) await app.get(BatchSealer).sealNow(bot.id);
    });
    let looks = 0;
    const looking = [one, other].map(async (at) => {
      while (!isOver) {
        const before = await loggedNumbers(one.database, bot, 'day');
        const seen = await shownNumbers(bot.at(at), 'day');
        const after = await loggedNumbers(one.database, bot, 'day');
        expect([missing(before, seen), missing(seen, after)]).toStrictEqual([[], []]);
        looks++;
      }
    });
    const ended = Promise.all(living).finally(() => (isOver = true));
    await Promise.all([ended, ...sealing, ...looking]);
    expect(looks).toBeGreaterThan(5);
    for (const at of [one, other])
      expect(inOrder(await shownNumbers(bot.at(at), 'hour'))).toStrictEqual(
        inOrder(await loggedNumbers(one.database, bot, 'hour')),
      );
  });

  it('count the deliveries and erasures of one bot that end at the same time, none twice and none lost', async () => {
    const bot = await one.registerBot({ webhook_url: receiver.url });
    const count = atDepth(60, 300);
    const erasures = Array.from({ length: count }, (_, at) =>
      bot.at(at % 2 ? one : other).hasForgotten(subject()),
    );
    await Promise.all(erasures);
    const totalOf = async (sql: string): Promise<number> =>
      Number((await one.database.rows<{ total: number }>(sql, bot.id))[0]?.total);
    const pending = `SELECT COUNT(*) AS total FROM webhook_deliveries WHERE bot_id = ? AND status = 'pending'`;
    await until(async () => (await totalOf(pending)) === 0);
    const { buckets } = (
      await bot.get<{ buckets: { webhooks: { delivered: number }; counts: Record<string, number> }[] }>(
        '/stats',
      )
    ).data;
    expect(buckets.reduce((sum, { webhooks }) => sum + webhooks.delivered, 0)).toBe(count);
    expect(buckets.reduce((sum, { counts }) => sum + (counts['deletion_completed'] ?? 0), 0)).toBe(count);
    for (const timed of ['erasure', 'latency']) {
      const durations = `SELECT SUM(${OF_DAY}) AS total FROM stats_counts
        WHERE bot_id = ? AND name LIKE '${timed}:%' AND name NOT LIKE '%:longest'`;
      expect(await totalOf(durations)).toBe(count);
    }
    const writers = `SELECT COUNT(DISTINCT writer) AS total FROM stats_counts WHERE bot_id = ?`;
    expect(await totalOf(writers)).toBeGreaterThan(1);
    expect(await totalOf(writers)).toBeLessThanOrEqual(9);
  });
});
