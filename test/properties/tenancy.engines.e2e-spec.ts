import { type Bot } from '../support/bot';
import type { Answer } from '../support/client';
import { expectFailure, expectSameRefusal, expectSuccess, pagination } from '../support/expected';
import { UNKNOWN_UUID } from '../support/inputs';
import { useService } from '../support/shared-service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';

const service = useService();
/** Two bots with the same user in the same guild and the same names for everything. */
let mine: Bot;
let theirs: Bot;
let who: SubjectIds;

beforeEach(async () => {
  [mine, theirs] = [
    await service.registerBot({ name: 'Mine' }),
    await service.registerBot({ name: 'Theirs' }),
  ];
  who = subject();
});

const HOLDER = { key: 'db', kind: 'pull', covers: ['levels'], label_de: 'Daten', label_en: 'Data' };
const query = () => `user_id=${who.user_id}&guild_id=${who.guild_id}`;

async function lives(bot: Bot, value: string): Promise<string> {
  await bot.post('/servers/register', { guild_id: who.guild_id, name: value });
  await bot.hasCategory('profile');
  await bot.post('/consents/texts', { consent_version: '1.0', language: 'en', title: value, body: value });
  await bot.hasConsent(who);
  await bot.hasData(who, 'profile', { value });
  await bot.post('/holders', HOLDER);
  return value;
}

describe('what belongs to another bot', () => {
  const askings: readonly [
    string,
    (bot: Bot, id: { bot: string; deletion: string; event: string }) => Promise<Answer>,
  ][] = [
    ['GET /bots/{bot_id}', (bot, id) => bot.get(`/bots/${id.bot}`)],
    ['PUT /bots/{bot_id}', (bot, id) => bot.put(`/bots/${id.bot}`, { name: 'x' })],
    ['DELETE /bots/{bot_id}', (bot, id) => bot.delete(`/bots/${id.bot}`)],
    ['GET /bots/{bot_id}/notice-settings', (bot, id) => bot.get(`/bots/${id.bot}/notice-settings`)],
    [
      'PUT /bots/{bot_id}/notice-settings',
      (bot, id) => bot.put(`/bots/${id.bot}/notice-settings`, { public: false }),
    ],
    ['GET /bots/{bot_id}/keys', (bot, id) => bot.get(`/bots/${id.bot}/keys`)],
    ['POST /bots/{bot_id}/keys', (bot, id) => bot.post(`/bots/${id.bot}/keys`, {})],
    ['POST /bots/{bot_id}/keys/rotate', (bot, id) => bot.post(`/bots/${id.bot}/keys/rotate`, {})],
    ['DELETE /bots/{bot_id}/keys/{key_id}', (bot, id) => bot.delete(`/bots/${id.bot}/keys/${id.bot}`)],
    ['GET /gdpr/forget-status/{id}', (bot, id) => bot.get(`/gdpr/forget-status/${id.deletion}`)],
    [
      'POST /holders/{key}/tasks/{task_id}/acknowledge',
      (bot, id) => bot.post(`/holders/db/tasks/${id.deletion}/acknowledge`, { result: 'erased' }),
    ],
    ['GET /audit/proof/{event_id}', (bot, id) => bot.get(`/audit/proof/${id.event}`)],
  ];
  it.each(askings)('is answered by %s like what does not exist', async (_, ask) => {
    for (const bot of [mine, theirs]) await bot.post('/holders', HOLDER);
    const deletion = await theirs.hasForgotten(subject());
    const posted = await theirs.post<{ id: string }>('/audit/event', { ...who, event_type: 'data_deleted' });
    const foreign = await ask(mine, { bot: theirs.id, deletion, event: posted.data.id });
    expectFailure(foreign, 404, 'not_found');
    const unknown = { bot: UNKNOWN_UUID, deletion: UNKNOWN_UUID, event: UNKNOWN_UUID };
    expectSameRefusal(foreign, await ask(mine, unknown));
  });

  const shared: readonly [string, (bot: Bot) => Promise<Answer>][] = [
    ['GET /data/categories/{key}', (bot) => bot.get('/data/categories/profile')],
    ['PUT /data/categories/{key}', (bot) => bot.put('/data/categories/profile', { label_en: 'x' })],
    ['DELETE /data/categories/{key}', (bot) => bot.delete('/data/categories/profile')],
    ['GET /holders/{key}', (bot) => bot.get('/holders/db')],
    ['PUT /holders/{key}', (bot) => bot.put('/holders/db', { label_en: 'x' })],
    ['DELETE /holders/{key}', (bot) => bot.delete('/holders/db?abandon=true')],
    ['GET /holders/{key}/tasks', (bot) => bot.get('/holders/db/tasks')],
    ['DELETE /servers/{guild_id}', (bot) => bot.delete(`/servers/${who.guild_id}`)],
    ['POST /consents/accept', (bot) => bot.post('/consents/accept', { ...who, consent_version: '1.0' })],
    ['POST /consents/revoke', (bot) => bot.post('/consents/revoke', who)],
    ['GET /data/export/{user_id}', (bot) => bot.export(who)],
    ['GET /consents/receipt', (bot) => bot.get(`/consents/receipt?${query()}`)],
  ];
  it.each(shared)(
    'is answered by %s 404, word for word as before it existed, and stays as it is',
    async (_, ask) => {
      const before = await ask(mine);
      expectFailure(before, 404, 'not_found');
      await lives(theirs, 'theirs');
      expectSameRefusal(await ask(mine), before);
      expect((await theirs.export(who)).data).toMatchObject({
        consent: { status: 'accepted' },
        data: { profile: { value: 'theirs' } },
      });
    },
  );

  it('opens no submit: their consent is not mine, their category is not mine', async () => {
    await lives(theirs, 'theirs');
    const body = { ...who, category: 'profile', data: { value: 'mine' } };
    expectFailure(await mine.post('/data/submit', body), 403, 'consent_required');
    await mine.hasConsent(who);
    expectFailure(await mine.post('/data/submit', body), 404, 'not_found');
  });

  it('is in no list and no total', async () => {
    await lives(theirs, 'theirs');
    for (const [path, name] of [
      ['/servers', 'servers'],
      ['/data/categories', 'categories'],
      ['/holders', 'holders'],
      ['/audit/events', 'events'],
      ['/consents/texts', 'texts'],
      ['/consents/texts?consent_version=1.0', 'texts'],
      [`/consents/history?${query()}`, 'entries'],
      [`/audit/events?user_id=${who.user_id}`, 'events'],
      [`/audit/events?guild_id=${who.guild_id}`, 'events'],
      ['/audit/events?event_type=data_submitted', 'events'],
    ] as const)
      expectSuccess(await mine.get(path), 200, { [name]: [], pagination: pagination(1, 20, 0) });
    for (const filter of ['', `user_id=${who.user_id}`, `guild_id=${who.guild_id}`, query()])
      for (const order of ['key', 'recent'])
        expectSuccess(await mine.get(`/users?${filter}&order=${order}`), 200, {
          ...{ users: [], pagination: { page_size: 20, next: null } },
        });
  });
});

describe('two bots with the same user, guild and names', () => {
  beforeEach(async () => {
    await lives(mine, 'mine');
    await lives(theirs, 'theirs');
  });
  const untouched = async () =>
    expect((await theirs.export(who)).data).toMatchObject({
      bot: { id: theirs.id, name: 'Theirs' },
      consent: { status: 'accepted', version: '1.0' },
      data: { profile: { value: 'theirs' } },
    });

  it('each read their own', async () => {
    expect((await mine.export(who)).data).toMatchObject({
      bot: { id: mine.id },
      data: { profile: { value: 'mine' } },
    });
    for (const one of [mine, theirs])
      for (const order of ['key', 'recent'])
        expect((await one.get<{ users: object[] }>(`/users?order=${order}`)).data.users).toHaveLength(1);
    await untouched();
  });

  it('revoke their own', async () => {
    await mine.hasRevoked(who);
    await untouched();
    await theirs.hasData(who, 'profile', { value: 'theirs' });
  });

  it('erase their own', async () => {
    await mine.hasForgotten(who);
    await untouched();
    expect(await theirs.eventTypes(who)).not.toContain('deletion_requested');
  });

  it('delete their own category', async () => {
    await mine.delete('/data/categories/profile');
    await untouched();
  });

  it('delete their own server', async () => {
    await mine.delete(`/servers/${who.guild_id}`);
    await untouched();
  });

  it('delete themselves', async () => {
    await mine.delete(`/bots/${mine.id}`);
    await untouched();
  });

  it('can erase the same user at the same moment', async () => {
    const answers = await Promise.all([mine, theirs].map((bot) => bot.post('/gdpr/forget-user', who)));
    expect(answers.map(({ status }) => status)).toStrictEqual([200, 200]);
  });

  it('keep counts of their own', async () => {
    await mine.post('/audit/event', {
      user_id: snowflake(),
      guild_id: snowflake(),
      event_type: 'data_deleted',
    });
    expect((await mine.get('/audit/events')).data).toMatchObject({ pagination: { total_count: 4 } });
    expect((await theirs.get('/audit/events')).data).toMatchObject({ pagination: { total_count: 3 } });
  });
});
