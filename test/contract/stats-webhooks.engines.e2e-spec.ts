import { DeliveryRetention, Dispatcher, type WebhookSender } from '@app/webhooks';
import type { Bot } from '../support/bot';
import { runNow } from '../support/jobs';
import { useReceiver } from '../support/receiver';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

interface Shown {
  readonly buckets: readonly { readonly webhooks: Readonly<Record<string, number>> }[];
}

const service = useServiceInProcess({ WEBHOOK_RETRY_SCHEDULE: '1s' });
const receiver = useReceiver();
let bot: Bot;
beforeEach(async () => {
  receiver.reset();
  bot = await service.registerBot({ webhook_url: receiver.url });
});

/** Summed over the days, so that a test can meet midnight; the hours have the same sum. */
async function webhooks(): Promise<Record<string, number>> {
  const sums = await Promise.all(
    ['day', 'hour'].map(async (size) => {
      const { buckets } = (await bot.get<Shown>(`/stats?bucket=${size}`)).data;
      const sum = { delivered: 0, failed: 0, exhausted: 0 };
      for (const { webhooks: each } of buckets)
        for (const name of ['delivered', 'failed', 'exhausted'] as const) sum[name] += each[name] ?? 0;
      return sum;
    }),
  );
  expect(sums[0]).toStrictEqual(sums[1]);
  return sums[0] ?? {};
}

async function ended(): Promise<string[]> {
  type Row = { id: string; status: string };
  const rows = () =>
    service.database.rows<Row>(
      'SELECT id, status FROM webhook_deliveries WHERE bot_id = ? ORDER BY id',
      bot.id,
    );
  await until(async () => (await rows()).every(({ status }) => status !== 'pending'));
  return (await rows()).map(({ id }) => id);
}

describe('the webhooks of GET /stats', () => {
  it('count a confirmed delivery once', async () => {
    await bot.hasForgotten(subject());
    await ended();
    expect(await webhooks()).toStrictEqual({ delivered: 1, failed: 0, exhausted: 0 });
  });

  it('count each failed attempt, and the delivery that is given up', async () => {
    receiver.status = 500;
    await bot.hasForgotten(subject());
    await ended();
    expect(await webhooks()).toStrictEqual({ delivered: 0, failed: 2, exhausted: 1 });
    const [{ attempts }] = (await service.database.rows<{ attempts: number }>(
      'SELECT COUNT(*) AS attempts FROM webhook_attempts WHERE bot_id = ?',
      bot.id,
    )) as [{ attempts: number }];
    expect(Number(attempts)).toBe(2);
  });

  it('count a delivery that succeeds after a failure as both', async () => {
    receiver.status = 500;
    await bot.hasForgotten(subject());
    await receiver.received(1);
    receiver.status = 200;
    await ended();
    expect(await webhooks()).toStrictEqual({ delivered: 1, failed: 1, exhausted: 0 });
  });

  it('count 410 as a failed attempt and as given up', async () => {
    receiver.status = 410;
    await bot.hasForgotten(subject());
    await ended();
    expect(await webhooks()).toStrictEqual({ delivered: 0, failed: 1, exhausted: 1 });
  });

  it('count a redelivery anew', async () => {
    await bot.hasForgotten(subject());
    const [id] = await ended();
    await bot.post(`/webhooks/deliveries/${id}/redeliver`, {});
    await receiver.received(2);
    await ended();
    expect(await webhooks()).toStrictEqual({ delivered: 2, failed: 0, exhausted: 0 });
    receiver.status = 410;
    await bot.post(`/webhooks/deliveries/${id}/redeliver`, {});
    await receiver.received(3);
    await ended();
    expect(await webhooks()).toStrictEqual({ delivered: 2, failed: 1, exhausted: 1 });
  });

  it('never count a ping', async () => {
    for (const status of [200, 500, 410]) {
      receiver.status = status;
      await bot.post('/webhooks/test', {});
      await ended();
    }
    await receiver.received(3);
    expect((await bot.get<Shown>('/stats')).data.buckets).toStrictEqual([]);
  });

  it('count deliveries that are given up because their time is over, without pings', async () => {
    receiver.status = 410;
    await bot.hasForgotten(subject());
    await bot.post('/webhooks/test', {});
    await ended();
    const at = '2020-01-01T00:00:00.000Z';
    await service.database.run(
      `UPDATE webhook_deliveries SET status = 'pending', give_up_at = ?, next_attempt_at = ? WHERE bot_id = ?`,
      ...[at, at, bot.id],
    );
    await service.database.run('UPDATE webhook_health SET failures = 5 WHERE bot_id = ?', bot.id);
    await runNow(service, DeliveryRetention);
    await ended();
    expect(await webhooks()).toMatchObject({ delivered: 0, exhausted: 2 });
  });

  it('count a delivery that cannot be decrypted as given up', async () => {
    const sender = Reflect.get(service.app.get(Dispatcher, { strict: false }), 'sender') as WebhookSender;
    jest.spyOn(sender, 'send').mockImplementationOnce(async () => {
      await service.database.run(`UPDATE webhook_deliveries SET payload = 'x' WHERE bot_id = ?`, bot.id);
      return { outcome: 'refused', status: 500, durationMs: 1 };
    });
    await bot.hasForgotten(subject());
    await ended();
    expect(await webhooks()).toStrictEqual({ delivered: 0, failed: 1, exhausted: 1 });
  });

  it('do not change when the delivery is erased or its bot gets another URL', async () => {
    const who = subject();
    await bot.hasConsent(who);
    await bot.hasRevoked(who);
    await ended();
    await bot.hasForgotten(who);
    await ended();
    expect(await webhooks()).toStrictEqual({ delivered: 2, failed: 0, exhausted: 0 });
    await bot.put(`/bots/${bot.id}`, { webhook_url: null });
    await bot.hasForgotten(subject());
    await ended();
    expect(await webhooks()).toStrictEqual({ delivered: 2, failed: 0, exhausted: 0 });
  });
});
