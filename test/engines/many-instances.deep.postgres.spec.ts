import { ApiKeyTimes, BotAdministration, BotDeletion } from '@app/bots';
import { JobLeases, JobRunner, UnitOfWork } from '@app/database';
import { Clock } from '@app/kernel';
import { Dispatcher } from '@app/webhooks';
import type { Bot } from '../support/bot';
import { Client, type Json } from '../support/client';
import { expectFailure } from '../support/expected';
import { useReceiver } from '../support/receiver';
import { Service } from '../support/service';
import { subject } from '../support/snowflakes';

const HOUR_MS = 3_600_000;

/** Two instances of the service on one database. */
const one = new Service();
let other: Service;
const receiver = useReceiver();
let bot: Bot;

beforeAll(async () => {
  await one.start();
  other = await new Service({ DATABASE_URL: one.database.url }).start();
});
beforeEach(async () => {
  bot = await one.registerBot();
});
afterAll(async () => {
  await other.stop();
  await one.stop();
});

const elsewhere = () => new Client(other.url, bot.key);

describe('two instances on one database', () => {
  it('both know a bot from its registration on', async () => {
    expect((await elsewhere().get(`/bots/${bot.id}`)).status).toBe(200);
  });

  it('both answer 401 once the deletion of a bot is answered, also where its key was used just before', async () => {
    // Longer than a deletion takes.
    for (const { app } of [one, other]) app.get(ApiKeyTimes, { strict: false }).believedMs = 1_000;
    const connection = elsewhere();
    let deleted = false;
    const using = (async () => {
      while (!deleted) await connection.get('/servers');
    })();
    expect((await bot.delete(`/bots/${bot.id}`)).status).toBe(200);
    const after = await connection.get('/servers');
    deleted = true;
    await using;
    expectFailure(after, 401, 'unauthorized');
    expectFailure(await bot.get('/servers'), 401, 'unauthorized');
  });

  it('both refuse a deleted and a rotated key and a suspended bot at the answer, and a key from its expiry on', async () => {
    for (const { app } of [one, other]) app.get(ApiKeyTimes, { strict: false }).believedMs = 1_000;
    const path = `/bots/${bot.id}/keys`;
    const expires_at = new Date(Date.now() + HOUR_MS).toISOString();
    const made = async (given: Json = {}) =>
      (await bot.post<{ id: string; api_key: string }>(path, given)).data;
    const [deleted, expiring] = [await made(), await made({ expires_at })];
    const clients = [deleted, expiring].map(({ api_key }) => new Client(other.url, api_key));
    const statuses = () => Promise.all(clients.map(async (each) => (await each.get('/bots/me')).status));
    expect(await statuses()).toEqual([200, 200]);
    expect((await bot.delete(`${path}/${deleted.id}`)).status).toBe(200);
    expect((await statuses())[0]).toBe(401);
    expect((await statuses())[1]).toBe(200);
    const clock = jest.spyOn(other.app.get(Clock), 'nowMs').mockReturnValue(Date.parse(expires_at));
    expect((await statuses())[1]).toBe(401);
    clock.mockRestore();
    const renewed = await bot.post<{ api_key: string }>(`${path}/rotate`, { overlap_seconds: 0 });
    expectFailure(await elsewhere().get('/bots/me'), 401, 'unauthorized');
    const client = new Client(other.url, renewed.data.api_key);
    const write = async () => (await client.post('/servers/register', { guild_id: '1'.repeat(18) })).status;
    expect(await write()).toBe(201);
    await one.app.get(BotAdministration, { strict: false }).suspend(bot.id);
    expect(await write()).toBe(403);
    await one.app.get(BotAdministration, { strict: false }).resume(bot.id);
    expect(await write()).toBe(201);
  });

  it('make at most five keys between them', async () => {
    const path = `/bots/${bot.id}/keys`;
    const making = Array.from({ length: 8 }, (_, at) => (at % 2 ? bot : elsewhere()).post(path, {}));
    const statuses = (await Promise.all(making)).map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 201, 201, 201, 409, 409, 409, 409]);
  });

  it('let no submit through after a revocation that the other has answered', async () => {
    const who = subject();
    await bot.hasCategory('profile');
    for (let round = 0; round < 10; round++) {
      await bot.hasConsent(who, `${round}`);
      const submits = Array.from({ length: 8 }, () =>
        elsewhere().post('/data/submit', { ...who, category: 'profile', data: { value: 'x' } }),
      );
      await bot.hasRevoked(who);
      const late = await elsewhere().post('/data/submit', {
        ...who,
        category: 'profile',
        data: { value: 'x' },
      });
      expectFailure(late, 403, 'consent_required');
      for (const { status } of await Promise.all(submits)) expect([200, 403]).toContain(status);
    }
  });

  it('let a withdrawal and an erasure through however many submits for the user there are', async () => {
    const who = subject();
    await bot.hasCategory('profile');
    await bot.hasConsent(who);
    let over = false;
    const submitting = Array.from({ length: 32 }, async (_, index) => {
      const client = index % 2 === 0 ? bot : elsewhere();
      while (!over) await client.post('/data/submit', { ...who, category: 'profile', data: { value: 'x' } });
    });
    // As long as these take, the others go on.
    const answers = [await bot.post('/consents/revoke', who), await bot.post('/gdpr/forget-user', who)];
    over = true;
    await Promise.all(submitting);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('count every event once, whichever of them writes it, and list them all', async () => {
    const event = { ...subject(), event_type: 'data_exported' };
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        (index % 2 === 0 ? bot : elsewhere()).post('/audit/event', event),
      ),
    );
    const { events, pagination } = (
      await elsewhere().get<{ events: { id: string }[]; pagination: { total_count: number } }>(
        '/audit/events?page_size=100',
      )
    ).data;
    expect(pagination.total_count).toBe(60);
    expect(new Set(events.map(({ id }) => id)).size).toBe(60);
  });

  it('call a receiver at the signal of the process that has committed, without a look at what is due', async () => {
    const api = await new Service({ JOBS: 'off' }, one.database).start();
    const dispatchers = [one, other].map(({ app }) => app.get(Dispatcher, { strict: false }));
    const looked = dispatchers.map((dispatcher) => dispatcher['polledMs']);
    for (const dispatcher of dispatchers) dispatcher['polledMs'] = Infinity;
    const told = await api.registerBot({ webhook_url: receiver.url });
    await told.hasForgotten(subject());
    await receiver.received(1);
    dispatchers.forEach((dispatcher, at) => (dispatcher['polledMs'] = looked[at]!));
    await api.app.close();
  });

  it('erase a user once between them: one 200, the others 409 or a 200 of their own afterwards', async () => {
    const who = subject();
    await bot.hasCategory('profile');
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'x' });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? bot : elsewhere()).post<{ deleted_categories: string[] }>(
          '/gdpr/forget-user',
          who,
        ),
      ),
    );
    expect(answers.filter(({ status }) => ![200, 409].includes(status))).toEqual([]);
    const erasing = answers.filter(({ status }) => status === 200);
    expect(erasing.filter(({ data }) => data.deleted_categories.length > 0)).toHaveLength(1);
  });

  it('finish the deletion of a bot whose process died, and leave one alone that another is at', async () => {
    const { unitOfWork, finish } = deletionsOf(other);
    await bot.post('/servers/register', { guild_id: subject().guild_id });
    const left = () => one.database.rows('SELECT bot_id FROM servers WHERE bot_id = ?', bot.id);
    const lease = await unitOfWork.write(async (tx) => {
      await tx.run('UPDATE bots SET deleted_at = ? WHERE id = ?', new Date().toISOString(), bot.id);
      return other.app.get(JobLeases).take(tx, `bot-deletion/${bot.id}`);
    });
    await finish();
    expect(await left()).toHaveLength(1);
    await unitOfWork.write(async (tx) => lease?.end(tx));
    await finish();
    expect(await left()).toEqual([]);
    expect(await one.database.rows('SELECT id FROM bots WHERE id = ?', bot.id)).toEqual([]);
  });
});

function deletionsOf({ app }: Service) {
  const job = app.get(BotDeletion, { strict: false });
  return { unitOfWork: app.get(UnitOfWork), finish: () => app.get(JobRunner).run(job, 'now') };
}
