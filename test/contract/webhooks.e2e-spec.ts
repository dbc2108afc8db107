import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { ERASED_ID } from '@app/crypto';
import { Tx } from '@app/database';
import type { Bot } from '../support/bot';
import { useReceiver } from '../support/receiver';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject } from '../support/snowflakes';
import { until } from '../support/until';

interface Delivery {
  id: string;
  event: string;
  status: string;
  user_id: string | null;
}

describe('webhooks', () => {
  const service = useServiceInProcess({ WEBHOOK_RETRY_SCHEDULE: '1s,1s' });
  const receiver = useReceiver();
  let bot: Bot;

  beforeEach(async () => {
    receiver.reset();
    bot = await service.registerBot({ webhook_url: receiver.url });
  });

  async function settled(): Promise<void> {
    const waiting = () =>
      service.database.rows(
        `SELECT id FROM webhook_deliveries WHERE bot_id = ? AND status = 'pending'`,
        bot.id,
      );
    await until(async () => (await waiting()).length === 0);
  }

  it('sends a revocation to the bot with exactly the fields of the contract', async () => {
    const of = subject();
    await bot.hasConsent(of, '2.1');
    await bot.hasRevoked(of);
    const [call] = await receiver.received(1);
    expect(call?.headers['x-gdpr-event']).toBe('consent_revoked');
    expect(call?.headers['content-type']).toBe('application/json');
    const { revoked_at: revokedAt } = (await bot.status(of)).data;
    expect(call?.body).toEqual({
      event: 'consent_revoked',
      ...of,
      revoked_at: revokedAt,
      previous_version: '2.1',
    });
  });

  it.each([
    ['', subject()],
    [' of a user whose id is twenty zeros', { ...subject(), user_id: ERASED_ID }],
  ])('sends an erasure%s to the bot, and webhook_sent turns true with the confirmation', async (_, of) => {
    const requestId = await bot.hasForgotten(of);
    const [call] = await receiver.received(1);
    await settled();
    const { data } = await bot.get(`/gdpr/forget-status/${requestId}`);
    expect(call?.headers['x-gdpr-event']).toBe('user_forgotten');
    expect(call?.body).toEqual({
      event: 'user_forgotten',
      request_id: requestId,
      ...of,
      completed_at: data['completed_at'],
      notice: expect.any(String),
    });
    expect(data['webhook_sent']).toBe(true);
  });

  it('signs with the whole secret, and in the way of Standard Webhooks', async () => {
    await bot.hasForgotten(subject());
    const [call] = await receiver.received(1);
    const { headers, rawBody } = call!;
    const expected = createHmac('sha256', Buffer.from(bot.webhookSecret, 'utf8'))
      .update(rawBody)
      .digest('hex');
    expect(headers['x-gdpr-signature']).toBe(`sha256=${expected}`);
    const standard = new Webhook(bot.webhookSecret);
    expect(standard.verify(rawBody, headers as Record<string, string>)).toEqual(call?.body);
    expect(() => standard.verify(`${rawBody} `, headers as Record<string, string>)).toThrow();
  });

  it('sends a body that survives being parsed and written again', async () => {
    await bot.hasForgotten(subject());
    const [call] = await receiver.received(1);
    expect(JSON.stringify(JSON.parse(call!.rawBody))).toBe(call!.rawBody);
  });

  it('repeats a failed call with the same id, body and signature and a fresh time', async () => {
    receiver.status = 500;
    await bot.hasForgotten(subject());
    await receiver.received(1);
    receiver.status = 200;
    const [first, second] = await receiver.received(2);
    expect(second?.rawBody).toBe(first?.rawBody);
    for (const name of ['webhook-id', 'x-gdpr-signature', 'x-gdpr-event'])
      expect(second?.headers[name]).toBe(first?.headers[name]);
    expect(Number(second?.headers['webhook-timestamp'])).toBeGreaterThan(
      Number(first?.headers['webhook-timestamp']),
    );
    expect(second?.headers['webhook-signature']).not.toBe(first?.headers['webhook-signature']);
  });

  it('keeps webhook_sent false while no receiver has confirmed', async () => {
    receiver.status = 500;
    const requestId = await bot.hasForgotten(subject());
    await receiver.received(3);
    await settled();
    expect((await bot.get(`/gdpr/forget-status/${requestId}`)).data['webhook_sent']).toBe(false);
  });

  it('sends nothing for a refused call', async () => {
    const of = subject();
    expect((await bot.post('/consents/revoke', of)).status).toBe(404);
    await settled();
    expect(receiver.calls).toEqual([]);
  });

  it('erases the calls that named an erased subject, and still sends the erasure', async () => {
    const of = subject();
    await bot.hasConsent(of);
    receiver.status = 500;
    await bot.hasRevoked(of);
    await receiver.received(1);
    receiver.status = 200;
    await bot.hasForgotten(of);
    await settled();
    const rows = await service.database.rows<Delivery>(
      'SELECT event FROM webhook_deliveries WHERE bot_id = ?',
      bot.id,
    );
    expect(rows.map(({ event }) => event)).toEqual(['user_forgotten']);
    expect(receiver.calls.map(({ body }) => body['event'])).toContain('user_forgotten');
  });

  it('keeps a user_forgotten that has not arrived when the subject is erased again', async () => {
    const of = subject();
    receiver.status = 500;
    await bot.hasForgotten(of);
    const [first] = await receiver.received(1);
    const again = await bot.hasForgotten(of);
    receiver.status = 200;
    await settled();
    const confirmed = receiver.calls.slice(1).map(({ body }) => body['request_id']);
    expect(new Set(confirmed)).toEqual(new Set([first?.body['request_id'], again]));
  });

  it('sends what happened without a URL as soon as there is one', async () => {
    await bot.put(`/bots/${bot.id}`, { webhook_url: null });
    await bot.hasForgotten(subject());
    await settled();
    expect(receiver.calls).toEqual([]);
    await bot.put(`/bots/${bot.id}`, { webhook_url: receiver.url });
    expect((await receiver.received(1))[0]?.body['event']).toBe('user_forgotten');
  });

  it('stores the secret only sealed', async () => {
    const [row] = await service.database.rows<{ webhook_secret: string }>(
      'SELECT webhook_secret FROM bots WHERE id = ?',
      bot.id,
    );
    expect(row?.webhook_secret).toMatch(/^v2\./);
    expect(row?.webhook_secret).not.toContain(bot.webhookSecret.slice(6));
  });

  it('are listed with their users, by as many statements for several users as for one', async () => {
    const users = Array.from({ length: 4 }, subject);
    const counts: number[] = [];
    for (const of of users) {
      await bot.hasConsent(of);
      await bot.hasRevoked(of);
      await settled();
      const statements = [jest.spyOn(Tx.prototype, 'all'), jest.spyOn(Tx.prototype, 'get')];
      const { deliveries } = (await bot.get<{ deliveries: Delivery[] }>('/webhooks/deliveries')).data;
      const run = statements.flatMap(({ mock }) => mock.calls.map(([sql]) => sql));
      // Other work of the process reads subjects too, and not by its deliveries.
      counts.push(run.filter((sql) => /FROM webhook_deliveries\b[^]*\bsubjects\b/.test(sql)).length);
      jest.restoreAllMocks();
      const listed = users.slice(0, counts.length).reverse();
      expect(deliveries.map(({ user_id: userId }) => userId)).toEqual(listed.map(({ user_id: id }) => id));
    }
    expect(counts).toEqual([1, 1, 1, 1]);
  });

  it('does not turn in circles where a bot names the service itself', async () => {
    const paths = ['/gdpr/forget-user', '/bots/register', '/webhooks/test'];
    const bots = await Promise.all(
      paths.map((path) => service.registerBot({ webhook_url: `${service.url}/api/v1${path}` })),
    );
    for (const each of bots) await each.hasForgotten(subject());
    for (bot of bots) {
      await settled();
      const { deliveries } = (await bot.get<{ deliveries: Delivery[] }>('/webhooks/deliveries')).data;
      expect(deliveries.map(({ status }) => status)).toEqual(['exhausted']);
    }
  });

  it('refuses a target that could never be called, at registration and later', async () => {
    for (const webhook_url of [
      'http://169.254.169.254/',
      'http://10.0.0.1/',
      'https://example.org:22/',
      'https://a@b.example/',
    ]) {
      expect((await bot.put(`/bots/${bot.id}`, { webhook_url })).error.code).toBe('invalid_request');
      const body = { platform_bot_id: snowflake(), name: 'x', webhook_url };
      expect((await service.anonymous.post('/bots/register', body)).status).toBe(400);
    }
    expect((await bot.get(`/bots/${bot.id}`)).data['webhook_url']).toBe(receiver.url);
  });

  it('writes neither secrets, ids of users nor URLs into the log', async () => {
    const of = subject();
    receiver.status = 500;
    await bot.hasForgotten(of);
    await settled();
    const log = service.logLines.join();
    for (const text of [bot.webhookSecret, bot.webhookSecret.slice(6), of.user_id, receiver.url])
      expect(log).not.toContain(text);
    expect(log).toContain('is given up: exhausted');
  });

  it('logs the first failure, the end of a delivery and the recovery, each once and with the outcome', async () => {
    const of = subject();
    const log = () =>
      service.logLines
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
        .filter(({ botId, context }) => botId === bot.id && context === 'Webhooks');
    receiver.status = 503;
    await bot.hasForgotten(of);
    await settled();
    const failed = { level: 40, outcome: 'refused', httpStatus: 503 };
    // The lines follow the commit.
    await until(() => log().length > 1);
    expect(log()).toEqual([
      expect.objectContaining({
        ...failed,
        msg: expect.stringContaining(`${bot.id} fails (refused, status 503)`),
      }),
      expect.objectContaining({
        ...failed,
        deliveryId: expect.any(String),
        msg: expect.stringMatching(
          /is given up: exhausted after 3 attempts, the last one refused, status 503/,
        ),
      }),
    ]);
    receiver.status = 200;
    await bot.post('/webhooks/test');
    await settled();
    await bot.post('/webhooks/test');
    await settled();
    const recovered = `The webhook of bot ${bot.id} works again after 3 failed calls in a row`;
    expect(log().slice(2)).toEqual([expect.objectContaining({ level: 40, msg: recovered })]);
    expect(JSON.stringify(log())).not.toContain(of.user_id);
  });
});
