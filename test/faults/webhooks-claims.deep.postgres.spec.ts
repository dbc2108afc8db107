import { type Subject, SubjectDigests } from '@app/crypto';
import { Lease, UnitOfWork } from '@app/database';
import { Clock, firstIdAt } from '@app/kernel';
import { DeliveryLeases, DeliveryRetention, type LeasedDelivery, Outbox } from '@app/webhooks';
import { Client } from 'pg';
import type { Bot } from '../support/bot';
import { chance } from '../support/chance';
import { atDepth } from '../support/depth';
import { runNow } from '../support/jobs';
import { Service } from '../support/service';
import { nextMillisecond, until } from '../support/until';
import { ago } from '../support/time';
import { keptOpen } from '../support/units';

/** Several processes as seen by the database; none sends, so that only the test leases. */
let services: Service[];
beforeAll(async () => {
  const first = await new Service({ JOBS: 'off' }).start();
  const others = [1, 2, 3].map(() => new Service({ JOBS: 'off' }, first.database));
  services = [first, ...(await Promise.all(others.map((other) => other.start())))];
});
afterAll(async () => {
  const [first, ...others] = services;
  for (const other of others) await other.app.close();
  await first?.stop();
});

const at = (index: number): Service => services[index % services.length] as Service;
const HOOK = 'http://127.0.0.1:8088/closed';

async function withUrl(count: number): Promise<Bot[]> {
  const bots: Bot[] = [];
  for (let each = 0; each < count; each++) bots.push(await at(0).registerBot({ webhook_url: HOOK }));
  return bots;
}

/** One subject of the bot, whose key encrypts the payload. */
function revoking(app: Service['app'], botId: string): Subject {
  return app.get(SubjectDigests).named(botId, { user_id: '1', guild_id: '2' });
}

function queue(index: number, botId: string): Promise<string> {
  const { app } = at(index);
  return app
    .get(UnitOfWork)
    .write((tx) =>
      app
        .get(Outbox)
        .queue(tx, { botId, event: 'consent_revoked', payload: '{}', subject: revoking(app, botId) }),
    );
}

async function leaseDueOf(bot: Bot): Promise<LeasedDelivery | undefined> {
  const [found] = await at(2)
    .app.get(DeliveryLeases)
    .leaseDue([bot.id], () => undefined);
  return found?.leased;
}

async function statusOf(id: string): Promise<string | undefined> {
  const [row] = await at(0).database.rows<{ status: string }>(
    'SELECT status FROM webhook_deliveries WHERE id = ?',
    id,
  );
  return row?.status;
}

/** The number of deadlocks that the server has ended. */
async function deadlocks(): Promise<number> {
  const [row] = await at(0).database.rows<{ deadlocks: number }>(
    'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
  );
  return row?.deadlocks ?? 0;
}

describe('claims of several processes', () => {
  it('never hand out one delivery twice, and together all of them', async () => {
    const bots = await withUrl(8);
    const ids: string[] = [];
    for (const bot of bots) for (let each = 0; each < 25; each++) ids.push(await queue(each, bot.id));
    const claimed: string[] = [];
    const claimer = async (index: number): Promise<void> => {
      const leases = at(index).app.get(DeliveryLeases);
      // Each in another order, so that a wait for locks could become a circle.
      const order = bots.map(({ id }) => id).sort(() => chance() - 0.5);
      for (let round = 0; round < 40; round++)
        for (const { leased } of await leases.leaseDue(order, () => undefined))
          if (leased !== undefined) claimed.push(leased.delivery.id);
    };
    await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(claimer));
    expect(new Set(claimed).size).toBe(claimed.length);
    expect(claimed.sort()).toEqual(ids.sort());
  });

  it('wait for no other transaction: locked rows are skipped and read again later', async () => {
    const [bot] = (await withUrl(1)) as [Bot];
    const first = await queue(0, bot.id);
    await nextMillisecond();
    const second = await queue(0, bot.id);
    const holder = new Client({ connectionString: at(0).database.url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM webhook_deliveries WHERE bot_id = $1 AND id = $2 FOR UPDATE', [
      bot.id,
      first,
    ]);
    const leases = at(1).app.get(DeliveryLeases);
    const since = at(1).app.get(Clock).nowMs();
    // The rows are locked until the holder ends.
    const [found] = await leases.leaseDue([bot.id], () => undefined);
    const [none] = await leases.leaseDue([bot.id], () => undefined);
    await holder.end();
    expect(found?.leased?.delivery.id).toBe(second);
    expect(none?.leased).toBeUndefined();
    expect((none?.nextDueMs ?? 0) >= since).toBe(true);
    let claimed: string | undefined;
    await until(async () => {
      claimed = (await leases.leaseDue([bot.id], () => undefined))[0]?.leased?.delivery.id;
      return claimed !== undefined;
    });
    expect(claimed).toBe(first);
  });
});

describe('a URL that changes', () => {
  it('and an event that is queued meanwhile do not wait for each other, and the event is sent to the new URL', async () => {
    for (const given of [{}, { webhook_url: `${HOOK}-old` }]) {
      const bot = await at(0).registerBot(given);
      const changing = new Client({ connectionString: at(0).database.url });
      await changing.connect();
      await changing.query('BEGIN');
      await changing.query('UPDATE bots SET webhook_url = $1 WHERE id = $2', [HOOK, bot.id]);
      const id = await queue(1, bot.id);
      await changing.query('COMMIT');
      await changing.end();
      expect((await leaseDueOf(bot))?.delivery.id).toBe(id);
    }
  });

  it.each([
    ['another URL', `${HOOK}-new`, 'pending'],
    ['its first URL', HOOK, 'pending'],
    ['none', null, 'cancelled'],
  ])(
    'to %s is answered while events of the bot are being committed, which then follow it',
    async (_, url, status) => {
      const bot = await at(0).registerBot(url === HOOK ? {} : { webhook_url: HOOK });
      const { app } = at(1);
      const { id, answered } = await app.get(UnitOfWork).write(async (tx) => {
        await keptOpen(tx);
        const subject = revoking(app, bot.id);
        const given = { botId: bot.id, event: 'consent_revoked', payload: '{}', subject } as const;
        const queued = await app.get(Outbox).queue(tx, given);
        const change = await bot.put(`/bots/${bot.id}`, { webhook_url: url });
        return { id: queued, answered: change.status };
      });
      expect(answered).toBe(200);
      expect((await leaseDueOf(bot))?.target.url).toBe(url ?? undefined);
      expect(await statusOf(id)).toBe(status);
    },
  );

  it('revives what a claim that still saw no URL is about to cancel', async () => {
    const bot = await at(0).registerBot();
    const id = await queue(0, bot.id);
    const locker = new Client({ connectionString: at(0).database.url });
    await locker.connect();
    await locker.query('BEGIN');
    await locker.query('SELECT 1 FROM bots WHERE id = $1 FOR NO KEY UPDATE', [bot.id]);
    // The bot is being given a URL: the claim leaves the delivery as it is.
    expect(await leaseDueOf(bot)).toBeUndefined();
    expect(await statusOf(id)).toBe('pending');
    await locker.end();
    expect(await leaseDueOf(bot)).toBeUndefined();
    expect(await statusOf(id)).toBe('cancelled');
    await bot.put(`/bots/${bot.id}`, { webhook_url: HOOK });
    expect((await leaseDueOf(bot))?.delivery.id).toBe(id);
  });

  it('causes no deadlock with events, claims, erasures and retention of the same bot', async () => {
    const [bot] = (await withUrl(1)) as [Bot];
    const before = await deadlocks();
    const turns = atDepth(40, 150);
    const loop = async (act: (turn: number) => Promise<unknown>): Promise<void> => {
      for (let turn = 0; turn < turns; turn++) await act(turn);
    };
    const subjects = Array.from({ length: 4 }, (_, n) => ({
      user_id: `10000000000000000${n}`,
      guild_id: '200000000000000000',
    }));
    const erase = (turn: number) => bot.post('/gdpr/forget-user', subjects[turn % 4]);
    await Promise.all([
      loop((turn) =>
        bot.put(`/bots/${bot.id}`, { webhook_url: turn % 3 === 0 ? null : `${HOOK}${turn % 2}` }),
      ),
      loop((turn) => queue(turn, bot.id)),
      loop((turn) => queue(turn, bot.id)),
      loop((turn) =>
        at(turn)
          .app.get(DeliveryLeases)
          .leaseDue([bot.id], () => undefined),
      ),
      loop((turn) =>
        at(turn + 1)
          .app.get(DeliveryLeases)
          .leaseDue([bot.id], () => undefined),
      ),
      loop(erase),
      loop((turn) => erase(turn + 2)),
      loop(() => bot.post('/webhooks/replay', { since: '2020-01-01T00:00:00Z' })),
    ]);
    expect(await deadlocks()).toBe(before);
  });
});

describe('the retention of four processes', () => {
  it('runs each batch once', async () => {
    const working = await Promise.all([1, 2, 3, 4].map(() => new Service({}, at(0).database).start()));
    services.push(...working);
    const [bot] = (await withUrl(1)) as [Bot];
    const old = ago(40 * 86_400_000);
    await at(0).database.run(
      `INSERT INTO webhook_deliveries (bot_id, id, event, payload, status, attempts, retries, next_attempt_at, give_up_at,
         created_at, finished_at)
       SELECT ?, substr(?, 1, 24) || lpad(n::text, 12, '0'), 'ping', '{}', 'delivered', 1, 0, ?, ?, ?, ?
       FROM generate_series(1, 2300) n`,
      ...[bot.id, firstIdAt(old), old, old, old, old],
    );
    const batches = jest.spyOn(Lease.prototype, 'batch');
    await Promise.all(working.map((service) => runNow(service, DeliveryRetention)));
    await Promise.all(working.map((service) => runNow(service, DeliveryRetention)));
    // 2,300 records, 500 at a time.
    const run = batches.mock.results.filter(
      (_, at) => (batches.mock.contexts[at] as Lease).name === 'delivery-retention',
    );
    // The renewal of a lease during a long batch has no result, and fails behind a very long one.
    const ended = await Promise.allSettled(run.map(({ value }) => value as Promise<unknown>));
    const removed = ended.filter((end) => end.status === 'fulfilled' && end.value !== undefined);
    batches.mockRestore();
    expect(removed).toHaveLength(5);
    const [left] = await at(0).database.rows<{ n: number }>(
      'SELECT COUNT(*) AS n FROM webhook_deliveries WHERE bot_id = ?',
      bot.id,
    );
    expect(left?.n).toBe(0);
  });
});
