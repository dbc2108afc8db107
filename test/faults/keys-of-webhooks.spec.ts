import { WebhookSecrets } from '@app/bots';
import { databaseUnavailable } from '@app/database';
import { DeliveryLeases, Dispatcher } from '@app/webhooks';
import { Webhook } from 'standardwebhooks';
import { useReceiver } from '../support/receiver';
import { Service, useServiceInProcess } from '../support/service';
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

describe('a fault in what belongs to one bot', () => {
  const service = useServiceInProcess();

  it('leaves the calls of its bot alone, and those of no other', async () => {
    await service.app.get(Dispatcher).beforeApplicationShutdown();
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
    jest.restoreAllMocks();
  });
});
