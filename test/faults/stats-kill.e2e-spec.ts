import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Bot, field } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { newDatabase, type TestDatabase } from '../support/database';
import { atDepth } from '../support/depth';
import { directoryOnDisk } from '../support/disk';
import { Life } from '../support/lives';
import { inOrder, loggedNumbers, missing, OF_DAY, shownNumbers } from '../support/numbers';
import { useReceiver } from '../support/receiver';
import { subject } from '../support/snowflakes';
import { unlessCut } from '../support/unless-cut';
import { until } from '../support/until';

const build = useBuild();
const receiver = useReceiver();
const directory = directoryOnDisk();
let database: TestDatabase;
let child: ChildService;

beforeAll(async () => {
  database = await newDatabase(directory);
  child = new ChildService(build.directory, join(directory, 'lethe.db'), {
    LETHE_MASTER_KEY: Buffer.alloc(32, 'kill').toString('base64'),
    DATABASE_URL: database.url,
    WEBHOOK_RETRY_SCHEDULE: '1s,1s,1s,1s,1s,1s,1s,1s',
    WEBHOOK_TIMEOUT_MS: '1000',
  });
});
afterAll(async () => {
  await child.end('SIGKILL');
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

const one = async (sql: string, ...values: string[]): Promise<number> =>
  Number((await database.rows<{ total: number | null }>(sql, ...values))[0]?.total ?? 0);

describe('a service that is killed again and again while it acts, seals and sends', () => {
  it('counts each event, each end of a delivery and each erasure that is on record once, and nothing else', async () => {
    await child.start();
    const bot = await Bot.register(child.url);
    // No later erasure removes its deliveries: each user is erased once.
    const sender = await Bot.register(child.url, { webhook_url: receiver.url });
    await bot.hasCategory('profile', [field('turn', 'number')]);
    const sealed = () => one('SELECT COUNT(*) AS total FROM audit_batches');
    for (let round = 0; round < atDepth(2, 12); round++) {
      let isUp = true;
      const lives = Array.from({ length: 4 }, () => new Life(bot));
      const before = await sealed();
      const living = lives.map(async (life) => {
        while (isUp && (await life.act()));
      });
      const erasing = Array.from({ length: 3 }, async () => {
        while (isUp && (await unlessCut(sender.post('/gdpr/forget-user', subject()))) !== undefined);
      });
      await until(async () => (await sealed()) > before + (round % 2));
      await child.end('SIGKILL');
      isUp = false;
      await Promise.all([...living, ...erasing]);
      await child.start();
      // On PostgreSQL erasures that were cut are finished meanwhile.
      const earlier = await loggedNumbers(database, bot, 'hour');
      const seen = await shownNumbers(bot, 'hour');
      const later = await loggedNumbers(database, bot, 'hour');
      expect([missing(earlier, seen), missing(seen, later)]).toStrictEqual([[], []]);
    }
    await until(
      async () =>
        (await one(`SELECT COUNT(*) AS total FROM webhook_deliveries WHERE status = 'pending'`)) +
          (await one(`SELECT COUNT(*) AS total FROM deletion_requests WHERE status = 'processing'`)) ===
        0,
      100,
    );
    for (const bucket of ['hour', 'day'] as const)
      expect(inOrder(await shownNumbers(bot, bucket))).toStrictEqual(
        inOrder(await loggedNumbers(database, bot, bucket)),
      );
    const totalOf = (sql: string, ...values: string[]) =>
      one(`SELECT COUNT(*) AS total FROM ${sql}`, ...values, sender.id);
    const delivered = await totalOf(`webhook_deliveries WHERE status = 'delivered' AND bot_id = ?`);
    expect(delivered).toBeGreaterThan(10);
    const erased = await totalOf(`deletion_requests WHERE status = 'completed' AND bot_id = ?`);
    const failed = await totalOf(
      `webhook_attempts WHERE outcome NOT IN ('confirmed', 'interrupted') AND bot_id = ?`,
    );
    const names = ['webhook:delivered', 'webhook:failed', 'webhook:exhausted', 'erasure:%', 'latency:%'];
    const counted = names.map((name) =>
      one(
        `SELECT SUM(${OF_DAY}) AS total FROM stats_counts
         WHERE name LIKE ? AND name NOT LIKE '%:longest' AND bot_id = ?`,
        ...[name, sender.id],
      ),
    );
    expect(await Promise.all(counted)).toStrictEqual([delivered, failed, 0, erased, delivered]);
  }, 120_000);
});
