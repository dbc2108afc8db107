import type { Bot } from '../support/bot';
import type { Json } from '../support/client';
import {
  expectFailure,
  expectFaults,
  expectSameRefusal,
  expectSuccess,
  pagination,
  server,
} from '../support/expected';
import {
  ABSENT,
  BAD_PAGE_SIZES,
  BAD_PAGES,
  BAD_SNOWFLAKES,
  badTexts,
  GOOD_SNOWFLAKES,
  goodTexts,
  itRefuses,
  itTakes,
} from '../support/inputs';
import { useService } from '../support/shared-service';
import { snowflake, subject } from '../support/snowflakes';

const service = useService();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot();
});

const register = (body: unknown) => bot.post('/servers/register', body);

describe('POST /api/v1/servers/register', () => {
  const valid = (): Json => ({ guild_id: snowflake(), name: 'Town square' });

  it('answers 201 with id, guild_id, name and created_at', async () => {
    const body = valid();
    expectSuccess(await register(body), 201, server(body['guild_id'] as string, 'Town square'));
  });

  it('answers 201 with name null where none was given', async () => {
    const guildId = snowflake();
    expectSuccess(await register({ guild_id: guildId }), 201, server(guildId));
  });

  it('answers 201 with the existing record to a known guild', async () => {
    const body = valid();
    const first = await register(body);
    expectSuccess(await register(body), 201, first.data);
    expectSuccess(await register({ guild_id: body['guild_id'] }), 201, first.data);
    expectSuccess(await register({ guild_id: body['guild_id'], name: null }), 201, first.data);
    expect((await bot.get('/servers')).data).toMatchObject({ servers: [first.data] });
  });

  it('answers 201 with a new name in place of the old one, same id and created_at', async () => {
    const body = valid();
    const first = await register(body);
    expectSuccess(await register({ ...body, name: 'Harbour' }), 201, { ...first.data, name: 'Harbour' });
  });

  it('takes id and created_at from no caller', async () => {
    const guildId = snowflake();
    const body = {
      guild_id: guildId,
      id: bot.id,
      created_at: '2000-01-01T00:00:00.000Z',
      bot_id: snowflake(),
    };
    const { data } = await register(body);
    expect(data).toStrictEqual(server(guildId));
    expect(data['id']).not.toBe(bot.id);
    expect(data['created_at']).not.toBe(body.created_at);
  });

  it('keeps the same guild of two bots apart', async () => {
    const other = await service.registerBot();
    const body = valid();
    const mine = await register(body);
    const theirs = await other.post('/servers/register', { ...body, name: 'Theirs' });
    expect(theirs.data['id']).not.toBe(mine.data['id']);
    expect((await bot.get('/servers')).data).toMatchObject({ servers: [mine.data] });
  });

  it('answers 401 without a key', async () => {
    expectFailure(await service.anonymous.post('/servers/register', valid()), 401, 'unauthorized');
  });

  it('names every bad field at once', async () => {
    expectFaults(await register({ guild_id: 'x', name: ' ' }), 'guild_id', 'name');
  });

  itRefuses('guild_id', BAD_SNOWFLAKES, register, valid);
  itTakes('guild_id', GOOD_SNOWFLAKES, register, valid, 201);
  itRefuses('name', badTexts(100), register, valid);
  itTakes('name', [...ABSENT, ...goodTexts(100)], register, valid, 201);
});

describe('GET /api/v1/servers', () => {
  it('answers 200 with an empty list and no pages before the first registration', async () => {
    expectSuccess(await bot.get('/servers'), 200, { servers: [], pagination: pagination(1, 20, 0) });
  });

  it('answers 200 with every server once over its pages', async () => {
    const registered: unknown[] = [];
    for (let count = 0; count < 5; count++) registered.push((await register({ guild_id: snowflake() })).data);
    const seen: unknown[] = [];
    for (const page of [1, 2, 3]) {
      const { data } = await bot.get<{ servers: unknown[] }>(`/servers?page=${page}&page_size=2`);
      expect(data).toStrictEqual({ servers: data.servers, pagination: pagination(page, 2, 5) });
      expect(data.servers).toHaveLength(page === 3 ? 1 : 2);
      seen.push(...data.servers);
    }
    expect(seen).toHaveLength(5);
    expect(seen).toEqual(expect.arrayContaining(registered));
  });

  it('answers 200 with an empty list and the true totals past the end', async () => {
    await register({ guild_id: snowflake() });
    const answer = await bot.get('/servers?page=999999999&page_size=100');
    expectSuccess(answer, 200, { servers: [], pagination: pagination(999999999, 100, 1) });
  });

  it.each(BAD_PAGES)('answers 400 naming page (%s)', async (_, page) => {
    expectFaults(await bot.get(`/servers?page=${String(page)}`), 'page');
  });

  it.each(BAD_PAGE_SIZES)('answers 400 naming page_size (%s)', async (_, size) => {
    expectFaults(await bot.get(`/servers?page_size=${String(size)}`), 'page_size');
  });

  it('answers 401 without a key', async () => {
    expectFailure(await service.anonymous.get('/servers'), 401, 'unauthorized');
  });
});

describe('DELETE /api/v1/servers/{guild_id}', () => {
  it('answers 200 and erases every subject of the guild, and no other', async () => {
    const here = subject();
    const alsoHere = { ...subject(), guild_id: here.guild_id };
    const elsewhere = { ...subject(), user_id: here.user_id };
    await register({ guild_id: here.guild_id });
    await bot.hasCategory('profile');
    for (const who of [here, alsoHere, elsewhere]) {
      await bot.hasConsent(who);
      await bot.hasData(who, 'profile', { value: 'x' });
    }
    const answer = await bot.delete(`/servers/${here.guild_id}`);
    expect({ status: answer.status, data: answer.data }).toMatchObject({
      status: 200,
      data: { guild_id: here.guild_id },
    });
    for (const who of [here, alsoHere]) {
      expectFailure(await bot.export(who), 404, 'not_found');
      expect((await bot.status(who)).data).toMatchObject({ status: 'none' });
    }
    expect((await bot.export(elsewhere)).data).toMatchObject({ data: { profile: { value: 'x' } } });
    expect((await bot.get('/servers')).data).toMatchObject({ servers: [] });
  });

  it('answers 200 and erases every subject of a guild that was never registered', async () => {
    const [one, other] = [subject(), subject()];
    const asked = { ...other, guild_id: one.guild_id };
    await bot.hasConsent(one);
    await bot.post('/consents/request', { ...asked, consent_version: '1.0' });
    expectSuccess(await bot.delete(`/servers/${one.guild_id}`), 200, {
      ...{ guild_id: one.guild_id, deleted: true, erased_users: 2 },
    });
    for (const who of [one, asked]) expect((await bot.status(who)).data).toMatchObject({ status: 'none' });
    expectFailure(await bot.delete(`/servers/${one.guild_id}`), 404, 'not_found');
  });

  it('schedules the erasure of a guild that was never registered', async () => {
    const who = subject();
    await bot.hasConsent(who);
    const { data } = await bot.delete(`/servers/${who.guild_id}?grace_days=7`);
    expect(data).toMatchObject({ guild_id: who.guild_id, deleted: false });
    expect((await bot.get('/servers')).data).toMatchObject({
      servers: [{ guild_id: who.guild_id, name: null }],
    });
  });

  it('answers the identical 404 for a guild of another bot and for none, and leaves the other', async () => {
    const guildId = snowflake();
    const other = await service.registerBot();
    await other.post('/servers/register', { guild_id: guildId });
    const refused = await bot.delete(`/servers/${guildId}`);
    expectFailure(refused, 404, 'not_found');
    expectSameRefusal(refused, await bot.delete(`/servers/${snowflake()}`));
    expect((await other.get('/servers')).data).toMatchObject({ servers: [{ guild_id: guildId }] });
  });

  it('answers 400 naming guild_id when it is no PlatformId', async () => {
    expectFaults(await bot.delete('/servers/123'), 'guild_id');
  });

  it('answers 401 without a key', async () => {
    expectFailure(await service.anonymous.delete(`/servers/${snowflake()}`), 401, 'unauthorized');
  });
});
