import { HeldSubjects, SubjectDataHolders } from '@app/crypto';
import { databaseUnavailable, UnitOfWork } from '@app/database';
import { ErasureService } from '@app/gdpr';
import type { Bot } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { A_TEXT, expectFailure, expectFaults, expectSuccess, forgotten } from '../support/expected';
import { BAD_SNOWFLAKES, itRefuses } from '../support/inputs';
import { withoutJobs } from '../support/jobs';
import { beforeEachUnit } from '../support/units';
import { useServiceInProcess } from '../support/service';
import { BOT_WIDE, snowflake, subject } from '../support/snowflakes';

const service = useServiceInProcess({ WEBHOOK_RETRY_SCHEDULE: '1h' });
let bot: Bot;
let userId: string;
beforeEach(async () => {
  bot = await service.registerBot({ webhook_url: 'http://127.0.0.1:8088/closed' });
  userId = snowflake();
  await bot.hasCategory('profile');
});
afterEach(() => jest.restoreAllMocks());

interface Everywhere {
  readonly status: string;
  readonly requests: { readonly request_id: string; readonly guild_id: string }[];
}

const inGuild = (guildId: string) => ({ user_id: userId, guild_id: guildId });
const everywhere = (more: Json = {}): Promise<Answer<Everywhere>> =>
  bot.post('/gdpr/forget-user', { user_id: userId, scope: 'all_guilds', ...more });
const exported = (): Promise<Answer> => bot.get(`/data/export/${userId}?scope=all_guilds`);

/** A consent and a value in several guilds, ordered by id. */
async function lives(count: number): Promise<string[]> {
  const guilds = Array.from({ length: count }, () => snowflake()).sort();
  for (const guildId of guilds) await livesIn(guildId);
  return guilds;
}

async function livesIn(guildId: string): Promise<void> {
  await bot.hasConsent(inGuild(guildId));
  await bot.hasData(inGuild(guildId), 'profile', { value: 'x' });
}

/** The number of completed erasures of the user in a guild. */
const completions = async (guildId: string): Promise<number> =>
  (await bot.eventTypes(inGuild(guildId))).filter((type) => type === 'deletion_completed').length;

/** What an erasure removes. */
const REMOVED = ['subjects', 'user_data', 'consents', 'consent_history'];

/** The tables that hold the plain id of the user anywhere, and those with rows about them that an erasure removes. */
async function naming(): Promise<string[]> {
  const { user_id: stored } = service.stored(bot, inGuild(BOT_WIDE));
  const found: string[] = [];
  for (const { name } of await service.database.tables()) {
    const text = JSON.stringify(await service.database.rows(`SELECT * FROM ${name}`));
    if (text.includes(userId) || (REMOVED.includes(name) && text.includes(stored))) found.push(name);
  }
  return found;
}

describe('POST /api/v1/gdpr/forget-user with scope all_guilds', () => {
  it('stores for a repeat one short row for the request and one for each guild, and none for a repeat', async () => {
    await lives(3);
    const body = { user_id: userId, scope: 'all_guilds' };
    for (let call = 0; call < 2; call++) {
      expect((await bot.post('/gdpr/forget-user', body, { 'idempotency-key': 'rows' })).status).toBe(200);
      const rows = await service.database.rows<{ answer: string }>(
        'SELECT answer FROM idempotency_keys WHERE bot_id = ?',
        bot.id,
      );
      expect([rows.length, rows.filter(({ answer }) => answer.length > 300)]).toEqual([4, []]);
    }
  });

  it('answers 200 completed with an erasure of each guild where anything was held', async () => {
    const [one = '', other = ''] = await lives(2);
    await bot.hasConsent(inGuild(BOT_WIDE));
    expectSuccess(await everywhere(), 200, {
      user_id: userId,
      scope: 'all_guilds',
      status: 'completed',
      requests: [
        { guild_id: BOT_WIDE, ...forgotten([]) },
        { guild_id: one, ...forgotten(['profile']) },
        { guild_id: other, ...forgotten(['profile']) },
      ],
      notice: A_TEXT,
    });
  });

  it('erases in every guild: export 404, status none, submit 403, and no row names the user', async () => {
    const guilds = await lives(3);
    expect(await naming()).toStrictEqual([...REMOVED].sort());
    await everywhere();
    expectFailure(await exported(), 404, 'not_found');
    for (const guildId of guilds) {
      expectFailure(await bot.export(inGuild(guildId)), 404, 'not_found');
      expect((await bot.status(inGuild(guildId))).data).toMatchObject({ status: 'none' });
      const body = { ...inGuild(guildId), category: 'profile', data: { value: 'x' } };
      expectFailure(await bot.post('/data/submit', body), 403, 'consent_required');
    }
    expect(await naming()).toStrictEqual([]);
  });

  it('makes each an erasure of its own: with a status that can be read, its events and its webhook', async () => {
    const guilds = await lives(2);
    const { requests } = (await everywhere()).data;
    for (const [at, guildId] of guilds.entries()) {
      const { data } = await bot.get(`/gdpr/forget-status/${requests[at]?.request_id}`);
      expect(data).toMatchObject({
        ...inGuild(guildId),
        status: 'completed',
        deleted_categories: ['profile'],
      });
      expect(await completions(guildId)).toBe(1);
    }
    const { deliveries } = (
      await bot.get<{ deliveries: Json[] }>(`/webhooks/deliveries?user_id=${userId}&event=user_forgotten`)
    ).data;
    expect(deliveries.map((delivery) => delivery['guild_id']).sort()).toStrictEqual(guilds);
    expect(deliveries.map((delivery) => delivery['request_id']).sort()).toStrictEqual(
      requests.map(({ request_id: id }) => id).sort(),
    );
  });

  it('reaches guilds of which only events name the user, with details and without', async () => {
    const guilds = [snowflake(), snowflake()].sort();
    const [withDetails = '', bare = ''] = guilds;
    await bot.post('/audit/event', {
      ...inGuild(withDetails),
      event_type: 'data_exported',
      details: { a: 1 },
    });
    await bot.post('/audit/event', { ...inGuild(bare), event_type: 'data_exported' });
    const { requests } = (await everywhere()).data;
    expect(requests.map(({ guild_id: guildId }) => guildId)).toStrictEqual(guilds);
    expect(await naming()).toStrictEqual([]);
  });

  it('answers 200 with no requests when nothing is held, and to a second call', async () => {
    const nothing = {
      user_id: userId,
      scope: 'all_guilds',
      status: 'completed',
      requests: [],
      notice: A_TEXT,
    };
    expectSuccess(await everywhere(), 200, nothing);
    await lives(1);
    await everywhere();
    expectSuccess(await everywhere(), 200, nothing);
  });

  it('leaves other users and other bots alone', async () => {
    const [guildId = ''] = await lives(1);
    const neighbour = { ...subject(), guild_id: guildId };
    await bot.hasConsent(neighbour);
    const other = await service.registerBot();
    await other.hasConsent(inGuild(guildId));
    await everywhere();
    expect((await bot.export(neighbour)).status).toBe(200);
    expect((await other.export(inGuild(guildId))).status).toBe(200);
  });

  it('takes null for an absent guild_id, and for an absent scope', async () => {
    const [guildId = ''] = await lives(1);
    expect((await everywhere({ guild_id: null })).data.requests).toHaveLength(1);
    const one = await bot.post('/gdpr/forget-user', { ...inGuild(guildId), scope: null });
    expectSuccess(one, 200, forgotten([]));
  });

  it('answers 400 naming guild_id when it is given as well, and erases nothing', async () => {
    const [guildId = ''] = await lives(1);
    expectFaults(await everywhere({ guild_id: guildId }), 'guild_id');
    expect((await bot.export(inGuild(guildId))).status).toBe(200);
  });

  it.each(['guild', '', 'ALL_GUILDS', 1, true, ['all_guilds']])(
    'answers 400 naming scope when it is %j',
    async (scope) => {
      expectFaults(await everywhere({ scope }), 'scope');
    },
  );

  itRefuses(
    'user_id',
    BAD_SNOWFLAKES,
    (body) => bot.post('/gdpr/forget-user', body),
    () => ({
      user_id: userId,
      scope: 'all_guilds',
    }),
  );

  it('answers 401 without a key', async () => {
    const body = { user_id: userId, scope: 'all_guilds' };
    expectFailure(await service.anonymous.post('/gdpr/forget-user', body), 401, 'unauthorized');
  });
});

describe('an erasure of all guilds that is not alone', () => {
  /** In one more guild. */
  async function isBeingErased(): Promise<void> {
    const { guild_id: elsewhere, user_id: stored } = service.stored(bot, inGuild(snowflake()));
    await service.database.run(
      `INSERT INTO deletion_requests (bot_id, id, guild_id, user_id, status, webhook_sent, created_at)
       VALUES (?, ?, ?, ?, 'processing', 0, ?)`,
      ...[bot.id, bot.id, elsewhere, stored, new Date().toISOString()],
    );
  }

  it('is answered 409 deletion_in_progress while the user is being erased in any guild', async () => {
    const [guildId = ''] = await lives(2);
    await isBeingErased();
    expectFailure(await everywhere(), 409, 'conflict', { reason: 'deletion_in_progress' });
    expect((await bot.export(inGuild(guildId))).status).toBe(200);
  });

  it('is answered 409 for an erasure that removes the last guild while it is looked for', async () => {
    const held = service.app.get(HeldSubjects);
    jest.spyOn(held, 'inAllGuilds').mockImplementation(async () => {
      await isBeingErased();
      return [];
    });
    expectFailure(await everywhere(), 409, 'conflict', { reason: 'deletion_in_progress' });
  });

  it('erases each guild once, however many calls come at the same moment', async () => {
    const guilds = await lives(6);
    const answers = await Promise.all(Array.from({ length: 8 }, () => everywhere()));
    for (const answer of answers) {
      if (answer.status !== 200) expectFailure(answer, 409, 'conflict', { reason: 'deletion_in_progress' });
    }
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    for (const guildId of guilds) expect([guildId, await completions(guildId)]).toStrictEqual([guildId, 1]);
  });

  it('lets no submit through that began after its answer, and leaves no row of one before', async () => {
    const guilds = await lives(4);
    let isErased = false;
    const submits = guilds.map(async (guildId) => {
      for (let turn = 0; turn < 15; turn++) {
        const beganAfter = isErased;
        const body = { ...inGuild(guildId), category: 'profile', data: { value: `${turn}` } };
        const answer = await bot.post('/data/submit', body);
        if (beganAfter) expectFailure(answer, 403, 'consent_required');
        else expect([200, 403]).toContain(answer.status);
      }
    });
    expect((await everywhere()).status).toBe(200);
    isErased = true;
    await Promise.all(submits);
    expect(await naming()).toStrictEqual([]);
  });

  it('shows nothing to an export of all guilds that is asked for after its answer', async () => {
    await lives(5);
    let isErased = false;
    const exports = Array.from({ length: 4 }, async () => {
      for (let turn = 0; turn < 6; turn++) {
        const beganAfter = isErased;
        const answer = await exported();
        if (beganAfter) expectFailure(answer, 404, 'not_found');
        else expect([200, 404]).toContain(answer.status);
      }
    });
    expect((await everywhere()).status).toBe(200);
    isErased = true;
    await Promise.all(exports);
  });
});

describe('an erasure of all guilds that breaks off', () => {
  beforeAll(() => withoutJobs(service));

  /** The database refuses the units of the request after the `nth`. */
  function unavailableAfter(nth: number): void {
    let left = nth;
    beforeEachUnit(service.app.get(UnitOfWork), async () => {
      if (left-- <= 0) throw databaseUnavailable();
    });
  }

  it.each([4, 5, 6, 7])(
    'is answered 503 with what was completed; recovery ends what was begun, and a repeated call does the rest (%i)',
    async (units) => {
      const guilds = await lives(4);
      unavailableAfter(units);
      const answer = await everywhere();
      jest.restoreAllMocks();
      expectFailure(answer, 503, 'service_unavailable');
      const done = answer.error.details?.['requests'] as { guild_id: string; certificate_salt: string }[];
      expect(done.length).toBeGreaterThan(0);
      expect(done.length).toBeLessThan(4);
      expect(done.map(({ guild_id: id }) => id)).toStrictEqual(guilds.slice(0, done.length));
      await service.app.get(ErasureService, { strict: false }).finishLeft();
      expect((await everywhere()).status).toBe(200);
      for (const guildId of guilds) expect([guildId, await completions(guildId)]).toStrictEqual([guildId, 1]);
      expect(await naming()).toStrictEqual([]);
    },
  );

  it('is to be repeated although the erasure of its first guild is on record, which is finished by itself', async () => {
    const [first = '', second = ''] = await lives(2);
    jest.spyOn(service.app.get(SubjectDataHolders), 'count').mockRejectedValue(databaseUnavailable());
    const answer = await everywhere();
    jest.restoreAllMocks();
    expectFailure(answer, 503, 'service_unavailable');
    expect(answer.error.message).toMatch(/^Not all guilds are done.*repeat the request/);
    expect(answer.error.details).toStrictEqual({ request_id: expect.any(String) });
    await service.app.get(ErasureService, { strict: false }).finishLeft();
    expect([await completions(first), await completions(second)]).toEqual([1, 0]);
    expect((await everywhere()).data.requests.map(({ guild_id }) => guild_id)).toEqual([second]);
  });

  it('is answered 503 by the database at once, with nothing erased, where it never began', async () => {
    const guilds = await lives(2);
    unavailableAfter(0);
    const answer = await everywhere();
    jest.restoreAllMocks();
    expectFailure(answer, 503, 'service_unavailable');
    expect(answer.error.details?.['requests']).toBeUndefined();
    for (const guildId of guilds) expect((await bot.export(inGuild(guildId))).status).toBe(200);
  });
});
