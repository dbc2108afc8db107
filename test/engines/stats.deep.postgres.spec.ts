import { UnitOfWork } from '@app/database';
import { DomainEvents } from '@app/kernel';
import { BatchSealer } from '@app/sealing';
import { DeliveriesSettled } from '@app/webhooks';
import { field } from '../support/bot';
import { atDepth, itInPart } from '../support/depth';
import { Life } from '../support/lives';
import { inOrder, loggedNumbers, missing, OF_DAY, shownNumbers } from '../support/numbers';
import { useReceiver } from '../support/receiver';
import { Service } from '../support/service';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';
import { keptOpen } from '../support/units';

/** The looks at the numbers while others act and seal. */
const LOOKS = 8;
/** The rows of one count. */
const WRITERS = 8;
const AT = '2026-03-15T10:00:00.000Z';

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
  itInPart('show the numbers of the audit log at any moment, both while both act and seal', async () => {
    const bot = await one.registerBot();
    await bot.hasCategory('profile', [field('turn', 'number')]);
    let isOver = false;
    let looks = 0;
    const lives = [one, one, one, other, other, other].map((at) => new Life(bot.at(at)));
    const living = lives.map(async (life) => {
      for (let acts = 0; acts < atDepth(25, 150) || looks < LOOKS; acts++) await life.act();
    });
    const sealing = [one, other].map(async ({ app }) => {
      while (!isOver) await app.get(BatchSealer).sealNow(bot.id);
    });
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
    for (const at of [one, other])
      expect(inOrder(await shownNumbers(bot.at(at), 'hour'))).toStrictEqual(
        inOrder(await loggedNumbers(one.database, bot, 'hour')),
      );
  });

  itInPart(
    'count the deliveries and erasures of one bot that end at the same time, none twice and none lost',
    async () => {
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
      const durations = `SELECT SUM(${OF_DAY}) AS total FROM stats_counts
      WHERE bot_id = ? AND name LIKE 'erasure:%' AND name <> 'erasure:longest'`;
      expect(await totalOf(durations)).toBe(count);
      const writers = `SELECT COUNT(DISTINCT writer) AS total FROM stats_counts WHERE bot_id = ?`;
      expect(await totalOf(writers)).toBeLessThanOrEqual(WRITERS);
    },
  );

  it('count in a row of the connection, so that two units of one bot do not wait for each other', async () => {
    const bot = await one.registerBot();
    const [taken, ends]: [Set<number>, (() => void)[]] = [new Set(), []];
    const ended: Promise<unknown>[] = [];
    // Each unit has counted and is not committed when the next one begins.
    for (const { app } of [one, other, one, other])
      await new Promise<void>((counted, failed) => {
        const unit = app.get(UnitOfWork).write(async (tx) => {
          await keptOpen(tx);
          const { writer } = (await tx.get<{ writer: number }>(
            `SELECT pg_backend_pid() % ${WRITERS} AS writer`,
          ))!;
          // A unit whose connection has the row of another one would wait for it.
          const settled = { botId: bot.id, at: AT, delivered: 1 };
          if (!taken.has(writer)) await app.get(DomainEvents).publish(new DeliveriesSettled(tx, settled));
          taken.add(writer);
          counted();
          await new Promise<void>((end) => ends.push(end));
        });
        unit.catch(failed);
        ended.push(unit);
      });
    ends.forEach((end) => end());
    await Promise.all(ended);
    const rows = await one.database.rows<{ writer: number }>(
      `SELECT writer FROM stats_counts WHERE bot_id = ? AND day = '${AT.slice(0, 10)}'`,
      bot.id,
    );
    expect(new Set(rows.map(({ writer }) => writer))).toStrictEqual(taken);
  });
});
