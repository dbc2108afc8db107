import { WebhookSecrets } from '@app/bots';
import { databaseUnavailable } from '@app/database';
import { Metrics } from '@app/kernel';
import { DeliveryLeases, Dispatcher } from '@app/webhooks';
import { Webhook } from 'standardwebhooks';
import { useReceiver } from '../support/receiver';
import { Service, useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

describe('a start with another key than the secrets were sealed with', () => {
  it('is refused with a line that says what to restore', async () => {
    const key = (byte: number): string => Buffer.alloc(32, byte).toString('base64');
    const service = await new Service({ LETHE_MASTER_KEY: key(1) }).start();
    await service.registerBot();
    await service.app.close();
    const { url } = service.database;
    const changed = new Service({ LETHE_MASTER_KEY: `${key(2)},${key(1)}`, DATABASE_URL: url });
    await changed.start();
    await changed.stop();
    // Last, since a process that refuses to start releases the file only at its end.
    const other = new Service({ LETHE_MASTER_KEY: key(2), DATABASE_URL: url });
    await expect(other.start()).rejects.toThrow(/encrypted with another master key/);
    await other.remove();
    await service.remove();
  });
});

describe('a damaged webhook secret', () => {
  const service = useServiceInProcess();
  const receiver = useReceiver();
  beforeEach(() => receiver.reset());

  it.each([
    ['that names its key', `substr(webhook_secret, 1, 40) || 'AAAA'`],
    ['that names no key', `'planted by somebody'`],
  ])(
    '%s stops no start and the calls of its own bot alone, and the log says what replaces it',
    async (_, damage) => {
      const given = { webhook_url: receiver.url };
      const [broken, other] = [await service.registerBot(given), await service.registerBot(given)];
      await service.database.run(`UPDATE bots SET webhook_secret = ${damage} WHERE id = ?`, broken.id);
      await service.restart();
      await broken.post('/webhooks/test');
      const named = `${broken.id} cannot be decrypted: its calls wait. It is damaged: POST /bots/${broken.id}/webhook-secret/rotate`;
      await until(() => service.logLines.some((line) => line.includes(named)));
      await other.post('/webhooks/test');
      const [call] = await receiver.received(1);
      new Webhook(other.webhookSecret).verify(call!.rawBody, call!.headers as Record<string, string>);
      expect(receiver.calls).toHaveLength(1);
      expect(await broken.post(`/bots/${broken.id}/webhook-secret/rotate`, {})).toMatchObject({
        status: 200,
      });
    },
  );
});

describe('a call whose webhook secret is damaged', () => {
  const service = useServiceInProcess();

  it('ends after its lifetime, which a suspension renews', async () => {
    await service.app.get(Dispatcher).beforeApplicationShutdown();
    const past = '2026-01-01T00:00:00.000Z';
    const statusAfter = async (resumedAt: string): Promise<string | undefined> => {
      const bot = await service.registerBot({ webhook_url: 'http://127.0.0.1:1/' });
      const who = subject();
      await bot.hasConsent(who);
      await bot.hasForgotten(who);
      const { database } = service;
      await database.run(
        'UPDATE webhook_deliveries SET next_attempt_at = ?, give_up_at = ? WHERE bot_id = ?',
        ...[past, past, bot.id],
      );
      const damage = `UPDATE bots SET webhook_secret = 'damaged', resumed_at = ? WHERE id = ?`;
      await database.run(damage, resumedAt, bot.id);
      await service.app.get(DeliveryLeases).leaseDue([bot.id], () => undefined);
      const sql = 'SELECT status FROM webhook_deliveries WHERE bot_id = ?';
      return (await database.rows<{ status: string }>(sql, bot.id))[0]?.status;
    };
    const counted = jest.spyOn(service.app.get(Metrics), 'count');
    expect(await statusAfter(new Date().toISOString())).toBe('pending');
    expect(counted).not.toHaveBeenCalledWith('webhookDeliveries', 'exhausted');
    expect(await statusAfter('2025-01-01T00:00:00.000Z')).toBe('exhausted');
    expect(counted).toHaveBeenCalledWith('webhookDeliveries', 'exhausted');
    counted.mockRestore();
    expect(service.logLines.join()).toContain('or the secret that signs it, cannot be decrypted');
  });
});

describe('a fault in what belongs to one bot', () => {
  const service = useServiceInProcess();
  beforeEach(() => service.app.get(Dispatcher).beforeApplicationShutdown());
  afterEach(() => jest.restoreAllMocks());
  const timeOut = (): Error => Object.assign(databaseUnavailable(), { cause: { code: '55P03' } });

  /** Looks at the bots with due calls, while the target of a bot has the fault that `faultOf` returns at its nth reading. */
  async function lookedAt(count: number, faultOf: (index: number, reading: number) => Error | undefined) {
    const bots: string[] = [];
    for (let n = 0; n < count; n++) {
      const bot = await service.registerBot({ webhook_url: 'http://127.0.0.1:1/' });
      await bot.post('/webhooks/test');
      bots.push(bot.id);
    }
    const [leases, secrets] = [service.app.get(DeliveryLeases), service.app.get(WebhookSecrets)];
    const target = secrets.target.bind(secrets);
    const readings = bots.map(() => 0);
    jest.spyOn(secrets, 'target').mockImplementation(async (tx, botId) => {
      const index = bots.indexOf(botId);
      const fault = faultOf(index, ++readings[index]!);
      if (fault !== undefined) throw fault;
      return target(tx, botId);
    });
    const look = () => leases.leaseDue(bots, () => undefined);
    return { bots, readings, look };
  }
  const isLeased = ({ leased }: { readonly leased?: unknown }): boolean => leased !== undefined;

  it('is the fault of all once a second bot fails by a time-out alone: none of them is left alone for it', async () => {
    const fault = timeOut();
    const { readings, look } = await lookedAt(4, () => fault);
    await expect(look()).rejects.toBe(fault);
    expect(readings).toStrictEqual([2, 1, 0, 0]);
    jest.restoreAllMocks();
    expect((await look()).map(isLeased)).toStrictEqual([true, true, true, true]);
  });

  it.each([
    ['is its own where it alone fails twice by a time-out', 2],
    ['is that of a lock which has ended where it fails once', 1],
  ])('%s', async (_, times) => {
    const { bots, look } = await lookedAt(2, (index) => (index === 0 ? timeOut() : undefined));
    expect((await look()).filter(isLeased)).toMatchObject([{ botId: bots[1] }]);
    if (times === 2) await look();
    jest.restoreAllMocks();
    expect((await look()).some(isLeased)).toBe(times === 1);
  });

  it('takes no call from those that are leased when the database fails after them', async () => {
    const { bots, look } = await lookedAt(3, (index, reading) => {
      if (index === 1) return reading === 1 ? new Error('a damaged page') : databaseUnavailable();
      return undefined;
    });
    const found = await look();
    expect(found.filter(isLeased)).toMatchObject([{ botId: bots[0] }]);
    expect(found.map(({ botId }) => botId).sort()).toStrictEqual([...bots].sort());
    jest.restoreAllMocks();
    expect((await look()).filter(isLeased)).toHaveLength(2);
  });

  it('leaves the calls of its bot alone, and those of no other', async () => {
    const given = { webhook_url: 'http://127.0.0.1:1/' };
    const [broken, other] = [await service.registerBot(given), await service.registerBot(given)];
    for (const bot of [broken, other]) await bot.post('/webhooks/test');
    const [leases, secrets] = [service.app.get(DeliveryLeases), service.app.get(WebhookSecrets)];
    const target = secrets.target.bind(secrets);
    let fault: Error = databaseUnavailable();
    jest.spyOn(secrets, 'target').mockImplementation(async (tx, botId) => {
      if (botId === broken.id) throw fault;
      return target(tx, botId);
    });
    const leased = () => leases.leaseDue([broken.id, other.id], () => undefined);
    await expect(leased()).rejects.toBe(fault);
    fault = new Error('a damaged page');
    const [ofBroken, ofOther] = await leased();
    expect(ofBroken).toStrictEqual({ botId: broken.id, nextDueMs: expect.any(Number) });
    expect(ofOther?.leased?.delivery.event).toBe('ping');
    expect(service.logLines.join()).toContain(`Due webhooks of bot ${broken.id}`);
  });
});
