import { createHmac } from 'node:crypto';
import { UnitOfWork } from '@app/database';
import { Clock } from '@app/kernel';
import { DeliveryLeases, Outbox, outboxState } from '@app/webhooks';
import { Webhook } from 'standardwebhooks';
import type { Bot } from '../support/bot';
import type { Answer } from '../support/client';
import { expectFailure, expectFaults, expectSameRefusal } from '../support/expected';
import { UNKNOWN_UUID } from '../support/inputs';
import { type Call, useReceiver } from '../support/receiver';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';
import { nextMillisecond, until } from '../support/until';
import { itOfSize } from '../support/depth';

interface Delivery {
  id: string;
  event: string;
  status: string;
  attempt_count: number;
  created_at: string;
  next_attempt_at: string | null;
  payload: object;
  attempts: { number: number; outcome: string; status_code: number | null }[];
}
interface Deliveries {
  deliveries: Delivery[];
  pagination: { total_count: number };
}

describe('webhooks/deliveries', () => {
  const service = useServiceInProcess({ WEBHOOK_RETRY_SCHEDULE: '1s' });
  const receiver = useReceiver();
  let bot: Bot;

  afterEach(() => jest.restoreAllMocks());
  beforeEach(async () => {
    receiver.reset();
    bot = await service.registerBot({ webhook_url: receiver.url });
  });

  async function deliveries(query = ''): Promise<Delivery[]> {
    return (await bot.get<Deliveries>(`/webhooks/deliveries${query}`)).data.deliveries;
  }

  async function ended(id?: string): Promise<Delivery> {
    let delivery: Delivery | undefined;
    await until(async () => {
      const wanted = id ?? (await deliveries())[0]?.id;
      delivery = (await bot.get<Delivery>(`/webhooks/deliveries/${wanted}`)).data;
      return delivery.status !== 'pending';
    });
    return delivery as Delivery;
  }

  function signed(call: Call | undefined, secret: string, header = 'x-gdpr-signature'): boolean {
    const digest = createHmac('sha256', secret).update(call!.rawBody).digest('hex');
    return call?.headers[header] === `sha256=${digest}`;
  }

  describe('GET /webhooks/deliveries', () => {
    it('lists newest first with filters by status, event and user', async () => {
      const [of, other] = [subject(), subject()];
      await bot.hasConsent(of);
      await bot.hasRevoked(of);
      await bot.hasForgotten(other);
      await receiver.received(2);
      await ended();
      expect((await deliveries()).map(({ event }) => event)).toEqual(['user_forgotten', 'consent_revoked']);
      expect((await deliveries('?event=consent_revoked')).length).toBe(1);
      expect((await deliveries(`?user_id=${other.user_id}`)).map(({ event }) => event)).toEqual([
        'user_forgotten',
      ]);
      expect(await deliveries('?status=exhausted')).toEqual([]);
      const paged = await bot.get<Deliveries>('/webhooks/deliveries?page=2&page_size=1');
      expect(paged.data.deliveries.map(({ event }) => event)).toEqual(['consent_revoked']);
      expect(paged.data.pagination).toEqual({
        page: 2,
        page_size: 1,
        total_count: 2,
        total_pages: 2,
        next: null,
      });
    });

    it('names every bad filter', async () => {
      expectFaults(
        await bot.get('/webhooks/deliveries?status=x&event=y&user_id=1'),
        'status',
        'event',
        'user_id',
      );
    });

    it('shows nothing of another bot', async () => {
      await bot.hasForgotten(subject());
      const other = await service.registerBot({ webhook_url: receiver.url });
      expect((await other.get<Deliveries>('/webhooks/deliveries')).data.pagination.total_count).toBe(0);
    });
  });

  describe('GET /webhooks/deliveries/{id}', () => {
    it('shows every attempt, and after the confirmation only ids and times of the payload', async () => {
      receiver.status = 503;
      const of = subject();
      const requestId = await bot.hasForgotten(of);
      await receiver.received(1);
      receiver.status = 200;
      const delivery = await ended();
      expect(delivery.status).toBe('delivered');
      expect(delivery.attempts).toEqual([
        expect.objectContaining({ number: 1, outcome: 'refused', status_code: 503 }),
        expect.objectContaining({ number: 2, outcome: 'confirmed', status_code: 200 }),
      ]);
      expect(delivery.payload).toEqual({
        event: 'user_forgotten',
        request_id: requestId,
        ...of,
        completed_at: expect.any(String),
      });
    });

    it.each([
      ['GET', (as: Bot, id: string) => as.get(`/webhooks/deliveries/${id}`)],
      ['redeliver', (as: Bot, id: string) => as.post(`/webhooks/deliveries/${id}/redeliver`)],
    ] as [string, (as: Bot, id: string) => Promise<Answer>][])(
      'answers the identical 404 for another bot and for none (%s), and sends nothing',
      async (_name, ask) => {
        await bot.hasForgotten(subject());
        const { id } = await ended();
        const other = await service.registerBot({ webhook_url: receiver.url });
        expectSameRefusal(await ask(other, id), await ask(other, UNKNOWN_UUID));
        expect(receiver.calls.length).toBe(1);
      },
    );

    it('answers 400 for an id that is no UUID', async () => {
      expectFaults(await bot.get('/webhooks/deliveries/x'), 'id');
    });
  });

  describe('POST /webhooks/deliveries/{id}/redeliver', () => {
    it('sends an exhausted delivery again with its old id', async () => {
      receiver.status = 500;
      const requestId = await bot.hasForgotten(subject());
      await receiver.received(2);
      const { id, status } = await ended();
      expect(status).toBe('exhausted');
      receiver.status = 200;
      const answer = await bot.post<Delivery>(`/webhooks/deliveries/${id}/redeliver`);
      expect([answer.status, answer.data.status]).toEqual([200, 'pending']);
      const calls = await receiver.received(3);
      expect(new Set(calls.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([id]));
      expect((await ended(id)).status).toBe('delivered');
      expect((await bot.get(`/gdpr/forget-status/${requestId}`)).data['webhook_sent']).toBe(true);
    });

    it('sends a confirmed delivery again, with ids and times', async () => {
      const of = subject();
      await bot.hasConsent(of);
      await bot.hasRevoked(of);
      const { id } = await ended();
      await bot.post(`/webhooks/deliveries/${id}/redeliver`);
      const [, again] = await receiver.received(2);
      expect(again?.body).toEqual({ event: 'consent_revoked', ...of, revoked_at: expect.any(String) });
      expect(signed(again, bot.webhookSecret)).toBe(true);
    });

    it('keeps the latest 100 attempts, and shows these', async () => {
      await bot.hasForgotten(subject());
      const { id } = await ended();
      const numbers = Array.from({ length: 119 }, (_, at) => at + 2);
      for (const number of numbers)
        await service.database.run(
          `INSERT INTO webhook_attempts (bot_id, delivery_id, number, started_at, duration_ms, outcome, status)
           VALUES (?, ?, ?, '2026-01-01T00:00:00.000Z', 1, 'confirmed', 204)`,
          ...[bot.id, id, number],
        );
      await service.database.run('UPDATE webhook_deliveries SET attempts = 120 WHERE id = ?', id);
      await bot.post(`/webhooks/deliveries/${id}/redeliver`);
      const { attempts } = await ended(id);
      const latest = Array.from({ length: 100 }, (_, at) => at + 22);
      expect(attempts.map(({ number }) => number)).toEqual(latest);
      const stored = await service.database.rows<{ number: number }>(
        'SELECT number FROM webhook_attempts WHERE delivery_id = ? ORDER BY number',
        id,
      );
      expect(stored.map(({ number }) => number)).toEqual(latest);
    });

    it('puts the delivery before all others that wait, as POST /webhooks/test does its ping', async () => {
      // Nothing is sent, as to a receiver that is spared.
      jest.spyOn(service.app.get(DeliveryLeases), 'leaseDue').mockResolvedValue([]);
      for (let count = 0; count < 3; count++) await bot.hasForgotten(subject());
      const first = async (): Promise<string | undefined> => {
        const rows = await service.database.rows<{ id: string }>(
          `SELECT id FROM webhook_deliveries WHERE bot_id = ? AND status = 'pending' ORDER BY next_attempt_at LIMIT 1`,
          bot.id,
        );
        return rows[0]?.id;
      };
      const { id: ping } = (await bot.post<Delivery>('/webhooks/test')).data;
      expect(await first()).toBe(ping);
      for (const { id } of await deliveries()) {
        await bot.post(`/webhooks/deliveries/${id}/redeliver`);
        expect(await first()).toBe(id);
      }
    });

    it('answers 409 while the bot has no URL', async () => {
      await bot.hasForgotten(subject());
      const { id } = await ended();
      await bot.put(`/bots/${bot.id}`, { webhook_url: null });
      const answer = await bot.post(`/webhooks/deliveries/${id}/redeliver`);
      expectFailure(answer, 409, 'conflict');
      expect(answer.error.details).toEqual({ reason: 'no_webhook_url' });
    });
  });

  describe('POST /webhooks/replay', () => {
    it('sends what happened since a time again, or only what was never confirmed', async () => {
      for (let i = 0; i < 3; i++) {
        await bot.hasForgotten(subject());
        await nextMillisecond();
      }
      await receiver.received(3);
      const all = await deliveries();
      for (const { id } of all) await ended(id);
      const oldest = all.at(-1)!;
      const { created_at: since } = (await bot.get(`/webhooks/deliveries/${oldest.id}`)).data;
      expect((await bot.post('/webhooks/replay', { since, undelivered_only: true })).data).toEqual({
        queued: 0,
      });
      const later = new Date(Date.parse(String(since)) + 1).toISOString();
      expect((await bot.post('/webhooks/replay', { since: later })).data).toEqual({ queued: 2 });
      expect((await receiver.received(5)).length).toBe(5);
    });

    itOfSize('takes up more than one unit can', async () => {
      const now = new Date().toISOString();
      await service.app.get(UnitOfWork).write(async (tx) => {
        for (let i = 0; i < 1200; i++)
          await service.app.get(Outbox).queue(tx, { botId: bot.id, event: 'consent_revoked', payload: '{}' });
        await tx.run(
          `UPDATE webhook_deliveries SET status = 'exhausted', attempts = 1, retries = 9, finished_at = ? WHERE bot_id = ?`,
          ...[now, bot.id],
        );
      });
      expect((await bot.post('/webhooks/replay', { since: now })).data).toEqual({ queued: 1200 });
      await receiver.received(1200);
    });

    it.each([
      ...['yesterday', '2026-01-31', '2026-01-31T08:00:00', 1, null],
      ...['9999-12-31T23:59:59-01:00', '0000-01-01T00:00:00+01:00'],
    ])('answers 400 for since %p', async (since) => {
      expectFaults(await bot.post('/webhooks/replay', { since }), 'since');
    });
  });

  describe('POST /webhooks/test', () => {
    it('sends a signed ping, once', async () => {
      receiver.status = 418;
      const answer = await bot.post<Delivery>('/webhooks/test');
      expect([answer.status, answer.data.event]).toEqual([201, 'ping']);
      const [call] = await receiver.received(1);
      expect(call?.headers['x-gdpr-event']).toBe('ping');
      expect(call?.body).toEqual({ event: 'ping', sent_at: expect.any(String) });
      expect(signed(call, bot.webhookSecret)).toBe(true);
      const delivery = await ended(answer.data.id);
      expect([delivery.status, delivery.attempt_count]).toEqual(['exhausted', 1]);
    });

    it('answers 409 without a URL', async () => {
      await bot.put(`/bots/${bot.id}`, { webhook_url: null });
      expectFailure(await bot.post('/webhooks/test'), 409, 'conflict');
    });
  });

  describe('POST /bots/{bot_id}/webhook-secret/rotate', () => {
    const rotate = async (overlapSeconds?: number): Promise<string> => {
      const body = overlapSeconds === undefined ? {} : { overlap_seconds: overlapSeconds };
      const answer = await bot.post<{ webhook_secret: string }>(
        `/bots/${bot.id}/webhook-secret/rotate`,
        body,
      );
      return answer.data.webhook_secret;
    };

    it('signs with both secrets until the overlap ends', async () => {
      const next = await rotate(3600);
      await bot.post('/webhooks/test');
      const [call] = await receiver.received(1);
      expect(next).toMatch(/^whsec_/);
      expect(signed(call, bot.webhookSecret)).toBe(true);
      expect(signed(call, next, 'x-gdpr-signature-next')).toBe(true);
      const { headers, rawBody } = call!;
      for (const secret of [bot.webhookSecret, next])
        new Webhook(secret).verify(rawBody, headers as Record<string, string>);
    });

    it('takes the old secret away at once with overlap_seconds 0', async () => {
      await rotate(3600);
      const last = await rotate(0);
      await bot.post('/webhooks/test');
      const [call] = await receiver.received(1);
      expect(signed(call, last)).toBe(true);
      expect(call?.headers).not.toHaveProperty('x-gdpr-signature-next');
    });

    it.each([
      ['the only one', undefined, ['webhook_secret'], false],
      ['both of an overlap', 3600, ['webhook_secret', 'webhook_secret_next'], false],
      ['the older one of an overlap', 3600, ['webhook_secret'], true],
      ['the newer one of an overlap', 3600, ['webhook_secret_next'], true],
    ])('keeps no secret that is damaged: %s', async (_, overlap, damaged, isOverlap) => {
      const next = overlap === undefined ? bot.webhookSecret : await rotate(overlap);
      for (const column of damaged)
        await service.database.run(`UPDATE bots SET ${column} = 'v2.damaged' WHERE id = ?`, bot.id);
      const last = await rotate();
      await bot.post('/webhooks/test');
      const [call] = await receiver.received(1);
      const left = damaged.includes('webhook_secret') ? next : bot.webhookSecret;
      expect(signed(call, isOverlap ? left : last)).toBe(true);
      if (isOverlap) expect(signed(call, last, 'x-gdpr-signature-next')).toBe(true);
      else expect(call?.headers).not.toHaveProperty('x-gdpr-signature-next');
    });

    it('answers 409 for a second overlap', async () => {
      await rotate();
      const answer = await bot.post(`/bots/${bot.id}/webhook-secret/rotate`, {});
      expectFailure(answer, 409, 'conflict');
      expect(answer.error.details).toEqual({ reason: 'rotation_in_progress' });
    });

    it('answers the identical 404 for another bot', async () => {
      const other = await service.registerBot();
      expectSameRefusal(
        await other.post(`/bots/${bot.id}/webhook-secret/rotate`, {}),
        await other.post(`/bots/${UNKNOWN_UUID}/webhook-secret/rotate`, {}),
      );
    });
  });

  it('shows in webhook_health how the receiver fares', async () => {
    const health = async (): Promise<unknown> => (await bot.get(`/bots/${bot.id}`)).data['webhook_health'];
    expect(await health()).toMatchObject({ status: 'unused', pending: 0 });
    receiver.status = 500;
    await bot.hasForgotten(subject());
    await ended();
    expect(await health()).toMatchObject({ status: 'failing', consecutive_failures: 2, undelivered: 1 });
    receiver.status = 200;
    const { id } = await bot.post<Delivery>('/webhooks/test').then(({ data }) => data);
    await ended(id);
    expect(await health()).toMatchObject({
      status: 'healthy',
      consecutive_failures: 0,
      last_outcome: 'confirmed',
    });
  });

  it('shows in webhook_health nothing of a former receiver', async () => {
    const health = async (): Promise<unknown> => (await bot.get(`/bots/${bot.id}`)).data['webhook_health'];
    receiver.status = 500;
    const { id } = (await bot.post<Delivery>('/webhooks/test')).data;
    await ended(id);
    expect(await health()).toMatchObject({ status: 'failing', consecutive_failures: 1 });
    await bot.put(`/bots/${bot.id}`, { webhook_url: `${receiver.url}/another` });
    expect(await health()).toMatchObject({ status: 'unused', consecutive_failures: 0, last_outcome: null });
  });

  it('counts no failed ping as undelivered, neither for the bot nor for the operator', async () => {
    const exhausted = async (): Promise<number> =>
      (
        await outboxState(
          service.app.get(UnitOfWork, { strict: false }),
          service.app.get(Clock, { strict: false }),
        )
      ).exhausted;
    const before = await exhausted();
    receiver.status = 500;
    const { id } = (await bot.post<Delivery>('/webhooks/test')).data;
    await ended(id);
    expect((await bot.get<Delivery>(`/webhooks/deliveries/${id}`)).data.status).toBe('exhausted');
    const { webhook_health: health } = (await bot.get('/bots/me')).data;
    expect(health).toMatchObject({ status: 'failing', undelivered: 0 });
    expect(await exhausted()).toBe(before);
  });

  it('counts a call that was given up behind a thousand failed pings', async () => {
    const exhausted = async (): Promise<number> =>
      (
        await outboxState(
          service.app.get(UnitOfWork, { strict: false }),
          service.app.get(Clock, { strict: false }),
        )
      ).exhausted;
    const before = await exhausted();
    const row = (id: number, event: string): string =>
      `('${bot.id}', '00000000-0000-7000-8000-${String(id).padStart(12, '0')}', '${event}', '{}', 'exhausted', 1, 1,
        '2020-01-01T00:00:00.000Z', '2020-01-01T00:00:00.000Z', '2020-01-01T00:00:00.000Z')`;
    const pings = Array.from({ length: 1_000 }, (_, at) => row(at, 'ping'));
    await service.database.run(
      `INSERT INTO webhook_deliveries (bot_id, id, event, payload, status, attempts, retries, next_attempt_at, give_up_at,
         created_at) VALUES ${[...pings, row(1_000, 'consent_revoked')].join(', ')}`,
    );
    expect(await exhausted()).toBe(before + 1);
  });

  it('answers a ping that is put before older calls with no attempt before its creation', async () => {
    await service.database.run(
      `INSERT INTO webhook_deliveries (bot_id, id, event, payload, status, attempts, retries, next_attempt_at, give_up_at,
         created_at, locked_by, locked_until)
       VALUES ('${bot.id}', '00000000-0000-7000-8000-000000000001', 'consent_revoked', '{}', 'pending', 0, 0,
         '2020-01-01T00:00:00.000Z', '2999-01-01T00:00:00.000Z', '2020-01-01T00:00:00.000Z', 'another', '2999-01-01T00:00:00.000Z')`,
    );
    const { created_at, next_attempt_at } = (await bot.post<Delivery>('/webhooks/test')).data;
    expect([created_at, next_attempt_at]).toEqual([created_at, created_at]);
  });

  it('counts in webhook_health up to 10,000 calls', async () => {
    for (const [status, first] of [
      ['pending', 1e11],
      ['exhausted', 2e11],
      ['gone', 3e11],
    ] as const)
      await service.database.run(
        `INSERT INTO webhook_deliveries (bot_id, id, event, payload, status, attempts, retries, next_attempt_at, give_up_at,
           created_at)
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10001)
         SELECT '${bot.id}', '00000000-0000-7000-8000-' || CAST(${first} + n AS text), 'consent_revoked', '{}', '${status}',
           0, 0, '2999-01-01T00:00:00.000Z', '2999-01-01T00:00:00.000Z', '2020-01-01T00:00:00.000Z' FROM numbers`,
      );
    const { webhook_health: health } = (await bot.get('/bots/me')).data;
    expect(health).toMatchObject({ pending: 10_000, undelivered: 10_000 });
  });
});
