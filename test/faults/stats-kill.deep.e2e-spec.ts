import { Bot, field } from '../support/bot';
import { answered, type Sent, useCrashes } from '../support/crashes';
import { atDepth } from '../support/depth';
import { Life } from '../support/lives';
import { inOrder, loggedNumbers, missing, OF_DAY, shownNumbers } from '../support/numbers';
import { useReceiver } from '../support/receiver';
import { subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

/** The callers who act; as many others erase. */
const ACTING = 4;

const receiver = useReceiver();
const crashes = useCrashes();

describe('a service that is killed again and again while it acts, seals and sends', () => {
  it('counts each event, each end of a delivery and each erasure that is on record once, and nothing else', async () => {
    const { database } = crashes;
    const bot = await Bot.register(crashes.url);
    // No later erasure removes its deliveries: each user is erased once.
    const sender = await Bot.register(crashes.url, { webhook_url: receiver.url });
    await bot.hasCategory('profile', [field('turn', 'number')]);
    const sealed = () => crashes.count('audit_batches');
    let erasures = 0;
    const erased = (sent: readonly Sent<unknown>[]) =>
      answered(sent).filter(({ given }) => !(given instanceof Life)).length;
    for (let round = 0; round < atDepth(2, 12); round++) {
      const lives = Array.from({ length: ACTING }, () => new Life(bot));
      const before = await sealed();
      const sent = await crashes.killed<Life | SubjectIds>({
        callers: 2 * ACTING,
        next: (caller) => lives[caller] ?? subject(),
        send: (one) => (one instanceof Life ? one.act() : sender.post('/gdpr/forget-user', one)),
        after: 40,
        once: async (acts) => erased(acts) >= 6 && (await sealed()) > before + (round % 2),
        meanwhile: () => crashes.endLeases(),
      });
      erasures += erased(sent);
      // On PostgreSQL erasures that were cut are finished meanwhile.
      const earlier = await loggedNumbers(database, bot, 'hour');
      const seen = await shownNumbers(bot, 'hour');
      const later = await loggedNumbers(database, bot, 'hour');
      expect([missing(earlier, seen), missing(seen, later)]).toStrictEqual([[], []]);
    }
    const left = async () =>
      (await crashes.count(`webhook_deliveries WHERE status = 'pending'`)) +
      (await crashes.count(`deletion_requests WHERE status = 'processing'`));
    await until(async () => (await left()) === 0, 100);
    for (const bucket of ['hour', 'day'] as const)
      expect(inOrder(await shownNumbers(bot, bucket))).toStrictEqual(
        inOrder(await loggedNumbers(database, bot, bucket)),
      );
    const totalOf = (from: string) => crashes.count(`${from} AND bot_id = ?`, sender.id);
    const delivered = await totalOf(`webhook_deliveries WHERE status = 'delivered'`);
    expect(delivered).toBeGreaterThanOrEqual(erasures);
    const completed = await totalOf(`deletion_requests WHERE status = 'completed'`);
    const failed = await totalOf(`webhook_attempts WHERE outcome NOT IN ('confirmed', 'interrupted')`);
    const counted = ['webhook:delivered', 'webhook:failed', 'webhook:exhausted', 'erasure:%'].map(
      async (name) => {
        const [row] = await database.rows<{ total: number | null }>(
          `SELECT SUM(${OF_DAY}) AS total FROM stats_counts
         WHERE name LIKE ? AND name <> 'erasure:longest' AND bot_id = ?`,
          ...[name, sender.id],
        );
        return Number(row?.total ?? 0);
      },
    );
    expect(await Promise.all(counted)).toStrictEqual([delivered, failed, 0, completed]);
  });
});
