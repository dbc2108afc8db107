import { ApiKeyDirectory, BotAdministration } from '@app/bots';
import type { Bot } from '../support/bot';
import { Client } from '../support/client';
import { A_TIME, expectFailure } from '../support/expected';
import { heldCall } from '../support/held-body';
import { useReceiver } from '../support/receiver';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';

interface Deliveries {
  readonly deliveries: readonly { readonly status: string; readonly attempt_count: number }[];
}

const service = useServiceInProcess();
const receiver = useReceiver();
let bot: Bot;

beforeEach(async () => {
  receiver.reset();
  bot = await service.registerBot({ webhook_url: receiver.url });
});

const administration = () => service.app.get(BotAdministration, { strict: false });
const deliveries = async () => (await bot.get<Deliveries>('/webhooks/deliveries')).data.deliveries;

/** The value of a metric with the label of suspended bots. */
async function suspended(metric: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(new RegExp(`^${metric}{.*receiver="suspended".*} (\\S+)$`, 'm').exec(text)?.[1]);
}

describe('a suspended bot', () => {
  it('withdraws consents, exports and erases; its calls wait, and are sent when it is resumed', async () => {
    const [user, other] = [subject(), subject()];
    await bot.hasCategory('profile');
    for (const who of [user, other]) {
      await bot.hasConsent(who);
      await bot.hasData(who, 'profile', { value: 'stored' });
    }
    await administration().suspend(bot.id);
    expectFailure(
      await bot.post('/data/submit', { ...user, category: 'profile', data: { value: 'x' } }),
      403,
      'suspended',
    );
    expect((await bot.export(user)).data).toMatchObject({ data: { profile: { value: 'stored' } } });
    await bot.hasRevoked(user);
    await bot.hasForgotten(other);
    const waiting = { status: 'pending', attempt_count: 0 };
    // Bots are served in turn: a later call of another one is made.
    const neighbour = await service.registerBot({ webhook_url: receiver.url });
    await neighbour.hasForgotten(user);
    await receiver.received(1);
    expect(await deliveries()).toMatchObject([waiting, waiting]);
    expect(await suspended('lethe_webhook_outbox_deliveries')).toBe(2);
    expect(await suspended('lethe_webhook_outbox_oldest_due_age_seconds')).toBeGreaterThan(0);
    await administration().resume(bot.id);
    const [, ...calls] = await receiver.received(3);
    expect(calls.map(({ body }) => body['event']).sort()).toEqual(['consent_revoked', 'user_forgotten']);
    expect((await bot.post('/servers/register', { guild_id: user.guild_id })).status).toBe(201);
  });

  it('is refused a submit whose body comes after the suspension, and not a withdrawal', async () => {
    const user = subject();
    await bot.hasCategory('profile');
    await bot.hasConsent(user);
    const submit = { ...user, category: 'profile', data: { value: 'x' } };
    const [submitting, revoking] = [
      await heldCall(service, bot.key, '/data/submit', submit),
      await heldCall(service, bot.key, '/consents/revoke', user),
    ];
    await administration().suspend(bot.id);
    const [submitted, revoked] = await Promise.all([submitting(), revoking()]);
    expectFailure(submitted, 403, 'suspended');
    expect(revoked.status).toBe(200);
    expect(await service.database.rows('SELECT 1 FROM user_data WHERE bot_id = ?', bot.id)).toEqual([]);
  });

  it('is looked up anew when its suspension is committed: an earlier look would find and keep what was before', async () => {
    const directory = service.app.get(ApiKeyDirectory, { strict: false });
    const forget = directory.forget.bind(directory);
    const standings: Promise<unknown[]>[] = [];
    const spy = jest.spyOn(directory, 'forget').mockImplementation((id) => {
      forget(id);
      standings.push(service.database.rows('SELECT suspended_at FROM bots WHERE id = ?', id));
    });
    await administration().suspend(bot.id);
    spy.mockRestore();
    expect(await Promise.all(standings)).toStrictEqual([[{ suspended_at: A_TIME }]]);
  });

  it('is told since when it is suspended, and no longer once it is resumed', async () => {
    const paths = ['/bots/me', `/bots/${bot.id}`];
    const shown = async () => Promise.all(paths.map(async (path) => (await bot.get(path)).data));
    for (const view of await shown()) expect(view).not.toHaveProperty('suspended_at');
    await administration().suspend(bot.id);
    const [me, byId] = await shown();
    expect(me).toHaveProperty('suspended_at', A_TIME);
    expect(byId).toStrictEqual(me);
    await administration().resume(bot.id);
    for (const view of await shown()) expect(view).not.toHaveProperty('suspended_at');
  });

  it('cannot end its suspension by deleting itself or registering again', async () => {
    await administration().suspend(bot.platformBotId);
    expectFailure(await bot.delete(`/bots/${bot.id}`), 403, 'suspended');
    const again = { platform_bot_id: bot.platformBotId, name: 'Again' };
    expectFailure(await service.anonymous.post('/bots/register', again), 409, 'conflict', {
      reason: 'bot_exists',
    });
    expectFailure(await bot.post(`/bots/${bot.id}/keys`, {}), 403, 'suspended');
  });

  it('has keys that are still shown, and its 404 and 429 stay what they are', async () => {
    await administration().suspend(bot.id);
    expect((await bot.get(`/bots/${bot.id}/keys`)).status).toBe(200);
    expectFailure(await bot.get('/nothing'), 404, 'not_found');
    expectFailure(await new Client(service.url).get('/bots/me'), 401, 'unauthorized');
  });

  it('is one bot: others are not affected', async () => {
    const other = await service.registerBot();
    await administration().suspend(bot.id);
    expect((await other.post('/servers/register', { guild_id: subject().guild_id })).status).toBe(201);
  });
});
