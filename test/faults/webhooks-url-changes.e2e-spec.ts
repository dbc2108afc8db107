import { Logger } from '@nestjs/common';
import { DeliveryLeases, DeliveryResults, DeliveryRetention, Dispatcher } from '@app/webhooks';
import type { Bot } from '../support/bot';
import { engine } from '../support/database';
import { leased, runNow, sweepOnce } from '../support/jobs';
import { Service } from '../support/service';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

/** An address without a server: due deliveries stay unconfirmed. */
const OLD = 'http://127.0.0.1:8088/old';
const NEW = 'http://127.0.0.1:8088/new';
const DELIVERIES = 5_000;
const CHUNK = 500;
const LONG_AGO = '2026-01-01T00:00:00.000Z';
const FAR = '2999-01-01T00:00:00.000Z';

let service: Service;
let bot: Bot;
beforeAll(async () => {
  service = await new Service().start();
  // A poll would follow too.
  service.app.get(Dispatcher).pollMs = 3_600_000;
});
afterAll(() => service.stop());
beforeEach(async () => {
  bot = await service.registerBot({ webhook_url: OLD });
  // Nothing is sent, so that only the test changes deliveries.
  jest.spyOn(service.app.get(DeliveryLeases), 'leaseDue').mockResolvedValue([]);
});
afterEach(() => jest.restoreAllMocks());

const NUMBERS =
  engine === 'postgres'
    ? `SELECT n, lpad(n::text, 12, '0') AS digits FROM generate_series(1, ${DELIVERIES}) n`
    : `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${DELIVERIES})
       SELECT n, substr('000000000000' || n, -12) AS digits FROM numbers`;

/** More deliveries than one unit may change, with the given status, or pending and given up in turn. */
async function owes(status?: string, on = service, block = '8000'): Promise<void> {
  await on.database.run(
    `INSERT INTO webhook_deliveries (bot_id, id, event, payload, status, attempts, retries, next_attempt_at, give_up_at,
       created_at, finished_at)
     SELECT ?, '00000000-0000-7000-${block}-' || digits, 'consent_revoked', '{}',
       ${status === undefined ? `CASE n % 4 WHEN 0 THEN 'pending' WHEN 1 THEN 'exhausted' WHEN 2 THEN 'gone' ELSE 'cancelled' END` : `'${status}'`},
       9, 9, ?, ?, ?, NULL FROM (${NUMBERS}) numbers`,
    ...[bot.id, FAR, LONG_AGO, LONG_AGO],
  );
}

async function count(where: string, on = service): Promise<number> {
  const sql = `SELECT COUNT(*) AS n FROM webhook_deliveries WHERE bot_id = ? AND ${where}`;
  return Number((await on.database.rows<{ n: number }>(sql, bot.id))[0]?.n);
}

const restarted = () => count(`status = 'pending' AND retries = 0`);
const cancelled = () => count(`status = 'cancelled'`);
const halfWay = (on = service) =>
  on.database.rows('SELECT after_id FROM webhook_url_changes WHERE bot_id = ?', bot.id);

/** Acts before every chunk but the first, which belongs to the unit of the URL. */
function betweenChunks(of: Service, act: () => Promise<void>): void {
  const results = of.app.get(DeliveryResults);
  const follow = results.follow.bind(results);
  jest.spyOn(results, 'follow').mockImplementation(async (botId) => {
    await act();
    return follow(botId);
  });
}

describe('a bot that owes 5,000 deliveries', () => {
  it('gets its new URL by chunks, between which the submit of another bot passes', async () => {
    const other = await service.registerBot();
    const who = subject();
    await other.hasCategory('profile');
    await other.hasConsent(who);
    await owes();
    let go = (): void => undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    betweenChunks(service, () => gate);
    expect((await bot.put(`/bots/${bot.id}`, { webhook_url: NEW })).status).toBe(200);
    const submitted = await other.post('/data/submit', { ...who, category: 'profile', data: { value: 'x' } });
    expect(submitted.status).toBe(200);
    expect(await restarted()).toBe(CHUNK);
    go();
    await until(async () => (await halfWay()).length === 0);
    expect(await restarted()).toBe(DELIVERIES);
  });

  it('loses its URL by chunks', async () => {
    await owes('pending');
    const chunks = jest.fn(() => Promise.resolve());
    betweenChunks(service, chunks);
    expect((await bot.put(`/bots/${bot.id}`, { webhook_url: null })).status).toBe(200);
    await until(async () => (await halfWay()).length === 0);
    expect(await cancelled()).toBe(DELIVERIES);
    expect(chunks).toHaveBeenCalledTimes(DELIVERIES / CHUNK);
  });

  it('has the last of two URLs followed by all of them when the second comes half-way', async () => {
    await owes();
    await bot.put(`/bots/${bot.id}`, { webhook_url: null });
    await bot.put(`/bots/${bot.id}`, { webhook_url: NEW });
    await until(async () => (await halfWay()).length === 0);
    expect(await restarted()).toBe(DELIVERIES);
  });

  it('makes them due in chunks, apart from the result', async () => {
    await owes('pending');
    const results = service.app.get(DeliveryResults);
    const due = () => count(`next_attempt_at < '${FAR}'`);
    let after = await results.hasten(bot.id, '');
    expect(await due()).toBe(CHUNK);
    while (after !== undefined) after = await results.hasten(bot.id, after);
    expect(await due()).toBe(DELIVERIES);
  });

  it('reads a limited number in each unit where most of them were refused', async () => {
    await owes('pending');
    await service.database.run('UPDATE webhook_deliveries SET last_status = 404 WHERE bot_id = ?', bot.id);
    await owes('pending', service, '9000');
    const results = service.app.get(DeliveryResults);
    const due = () => count(`next_attempt_at < '${FAR}'`);
    let after = await results.hasten(bot.id, '');
    expect(after).toContain(`8000-00000000${DELIVERIES}`);
    expect(await due()).toBe(0);
    while (after !== undefined) after = await results.hasten(bot.id, after);
    expect(await due()).toBe(DELIVERIES);
    expect(await count(`next_attempt_at < '${FAR}' AND last_status = 404`)).toBe(0);
  });
});

describe('a call that runs while the URL of its bot changes', () => {
  const put = async (url: string): Promise<void> => {
    expect((await bot.put(`/bots/${bot.id}`, { webhook_url: url })).status).toBe(200);
    await until(async () => (await halfWay()).length === 0);
  };
  const dueAt = async (): Promise<string[]> => {
    const sql = 'SELECT next_attempt_at AS due FROM webhook_deliveries WHERE bot_id = ?';
    return (await service.database.rows<{ due: string }>(sql, bot.id)).map(({ due }) => due);
  };
  const isHeld = async (): Promise<void> => {
    await bot.post('/webhooks/test');
    await service.database.run(
      'UPDATE webhook_deliveries SET attempts = 1, locked_by = ?, locked_until = ?, next_attempt_at = ? WHERE bot_id = ?',
      ...[bot.id, FAR, FAR, bot.id],
    );
  };

  it('has no second attempt beside it, also when the URL changes again', async () => {
    await isHeld();
    await put(NEW);
    expect(await dueAt()).toEqual([FAR]);
    await put(OLD);
    expect(await dueAt()).toEqual([FAR]);
  });

  const hasten = (): Promise<unknown> => service.app.get(DeliveryResults).hasten(bot.id, '');
  const redeliver = async (): Promise<void> => {
    const [row] = await service.database.rows<{ id: string }>(
      'SELECT id FROM webhook_deliveries WHERE bot_id = ?',
      bot.id,
    );
    expect((await bot.post(`/webhooks/deliveries/${row?.id}/redeliver`)).status).toBe(200);
  };

  it('has none by a redelivery, nor by a receiver that works again', async () => {
    await isHeld();
    await put(NEW);
    await redeliver();
    await hasten();
    expect(await dueAt()).toEqual([FAR]);
  });

  it.each([
    ['a redelivery', redeliver],
    ['a receiver that works again', hasten],
  ])('has the next one by %s once its lease has ended', async (_, again) => {
    await isHeld();
    await put(NEW);
    await service.database.run(
      'UPDATE webhook_deliveries SET locked_until = ? WHERE bot_id = ?',
      ...[LONG_AGO, bot.id],
    );
    await again();
    expect(await dueAt()).not.toEqual([FAR]);
  });
});

describe('a process that dies after the commit of a URL', () => {
  it.each([
    ['at once, a new URL', 0, NEW],
    ['at once, no URL', 0, null],
    ['after some chunks, a new URL', 3, NEW],
  ])('leaves nothing out: the next one continues from there (%s)', async (_, chunks, url) => {
    const dying = await new Service().start();
    bot = await dying.registerBot({ webhook_url: OLD });
    await owes('pending', dying);
    const behind = () => count(`status = 'pending' AND give_up_at = '${LONG_AGO}'`, dying);
    let left = chunks;
    const died = new Promise<void>((resolve) => {
      betweenChunks(dying, async () => {
        if (left-- > 0) return;
        resolve();
        throw new Error('killed');
      });
    });
    expect((await bot.put(`/bots/${bot.id}`, { webhook_url: url })).status).toBe(200);
    await died;
    expect(await behind()).toBe(DELIVERIES - (chunks + 1) * CHUNK);
    await dying.restart();
    await until(async () => (await halfWay(dying)).length === 0);
    expect(await behind()).toBe(0);
    await dying.stop();
  });
});

describe('the retention', () => {
  /** Its calls wait, the time of each is up, and its receiver has failed so often, at last then. */
  async function isLate(failures: number, failedAt: string): Promise<void> {
    await owes('pending');
    await service.database.run(
      'UPDATE webhook_deliveries SET next_attempt_at = ? WHERE bot_id = ?',
      ...[LONG_AGO, bot.id],
    );
    await service.database.run(
      `INSERT INTO webhook_health (bot_id, failures, last_outcome, last_failed_at) VALUES (?, ?, 'refused', ?)`,
      ...[bot.id, failures, failedAt],
    );
  }
  const exhausted = () => count(`status = 'exhausted'`);

  it('gives up by chunks what a receiver that is down has not taken in time, and says how many', async () => {
    await isLate(7, LONG_AGO);
    const warn = jest.spyOn(Logger.prototype, 'warn');
    const lease = await leased(service, 'tested');
    const batch: typeof lease.batch = lease.batch.bind(lease);
    const batches = jest.spyOn(lease, 'batch').mockImplementation(async (work) => {
      // A probe fails between two chunks.
      const sql = 'UPDATE webhook_health SET last_failed_at = ? WHERE bot_id = ?';
      await service.database.run(sql, new Date().toISOString(), bot.id);
      return batch(work);
    });
    await sweepOnce(service, DeliveryRetention, lease, new AbortController().signal);
    expect(await exhausted()).toBe(DELIVERIES);
    expect(batches.mock.calls.length).toBeGreaterThanOrEqual(DELIVERIES / CHUNK);
    const words = `Given up for bot ${bot.id}, whose receiver fails again and again: ${DELIVERIES} deliveries`;
    expect(warn.mock.calls.map(([said]) => String(said).split(';')[0])).toStrictEqual([words]);
  });

  it.each([
    ['has failed before their time was up', 7, '2025-12-31T23:59:59.999Z'],
    ['has failed and is not spared', 4, LONG_AGO],
    ['has failed by a clock that was ahead', 7, FAR],
  ])('leaves calls to their next attempt if their receiver %s', async (_, failures, failedAt) => {
    await isLate(failures, failedAt);
    await runNow(service, DeliveryRetention);
    expect(await exhausted()).toBe(0);
  });

  it('makes due by chunks what a clock that was ahead has planned or leased', async () => {
    await owes('pending');
    await service.database.run(
      'UPDATE webhook_deliveries SET locked_by = ?, locked_until = ? WHERE bot_id = ?',
      ...[bot.id, FAR, bot.id],
    );
    await runNow(service, DeliveryRetention);
    const due = `next_attempt_at < '${FAR}' AND locked_by IS NULL AND locked_until IS NULL`;
    expect(await count(due)).toBe(DELIVERIES);
  });

  it('leaves a retry to its time, however long before it was planned', async () => {
    await owes('pending');
    const tomorrow = new Date(Date.now() + 1.1 * 86_400_000).toISOString();
    await service.database.run(
      'UPDATE webhook_deliveries SET next_attempt_at = ? WHERE bot_id = ?',
      ...[tomorrow, bot.id],
    );
    await runNow(service, DeliveryRetention);
    expect(await count(`next_attempt_at = '${tomorrow}'`)).toBe(DELIVERIES);
  });
});
