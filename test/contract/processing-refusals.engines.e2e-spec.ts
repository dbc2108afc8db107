import { type Bot, field } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { A_TIME, expectFailure, expectSuccess, pagination } from '../support/expected';
import { useService } from '../support/shared-service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';

const service = useService();
let bot: Bot;
let who: SubjectIds;

interface Refusals {
  readonly objections: readonly Json[];
  readonly restrictions: readonly Json[];
}

const category = (key: string, legal_basis: string) =>
  bot.hasCategory(key, [field('value'), field('other')], { legal_basis });

beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
  await category('stats', 'legitimate_interests');
  await category('duty', 'public_task');
  await category('profile', 'consent');
});

const act = (name: 'object' | 'restrict' | 'unrestrict', of?: string, headers: Record<string, string> = {}) =>
  bot.post<Refusals>(`/data/${name}`, { ...who, ...(of !== undefined && { category: of }) }, headers);
const submit = (of: string, data: Json = { value: 'new' }, more: Json = {}) =>
  bot.post('/data/submit', { ...who, category: of, data, ...more });
const read = (of?: string) =>
  bot.get<{ values: Json }>(
    `/data/values/${who.user_id}?guild_id=${who.guild_id}${of === undefined ? '' : `&category=${of}`}`,
  );
const inForce = (by: Bot = bot) => by.get<Refusals>(`/data/refusals/${who.user_id}?guild_id=${who.guild_id}`);
const since = (of: string | null) => ({ category: of, since: A_TIME });
const expectRefused = (answer: Answer<unknown>, reason: 'objection' | 'restriction') =>
  expectFailure(answer, 403, 'processing_refused', { reason });

async function stored(...keys: string[]): Promise<void> {
  await bot.hasConsent(who);
  for (const key of keys) await bot.hasData(who, key, { value: 'a' });
}

/** The details of the newest event, without who did it. */
async function lastEvent(): Promise<Json> {
  const { data } = await bot.get<{ events: { event_type: string; details: Json }[] }>(
    `/audit/events?user_id=${who.user_id}&guild_id=${who.guild_id}`,
  );
  const [{ event_type, details } = { event_type: '', details: {} }] = data.events;
  return { event_type, ...details, actor: undefined };
}

describe('POST /api/v1/data/object', () => {
  it('erases the value of the category and refuses new submits with 403 processing_refused', async () => {
    await stored('stats', 'duty', 'profile');
    expectSuccess(await act('object', 'stats'), 200, {
      ...who,
      objections: [since('stats')],
      restrictions: [],
    });
    expect(Object.keys((await read()).data.values).sort()).toStrictEqual(['duty', 'profile']);
    expectRefused(await submit('stats'), 'objection');
    expectRefused(await submit('stats', { value: 'b' }, { mode: 'merge' }), 'objection');
    expect((await submit('duty')).status).toBe(200);
    expect(Object.keys((await read()).data.values).sort()).toStrictEqual(['duty', 'profile']);
  });

  it('records data_deleted with details.act, once for a repeat', async () => {
    await stored('stats');
    await act('object', 'stats');
    expect(await lastEvent()).toStrictEqual({
      event_type: 'data_deleted',
      act: 'objection',
      category: 'stats',
      actor: undefined,
    });
    const before = await bot.eventTypes(who);
    expect((await act('object', 'stats')).status).toBe(200);
    expect(await bot.eventTypes(who)).toStrictEqual(before);
  });

  it('without a category holds for all categories of legitimate interests and public task, also later ones', async () => {
    await stored('stats', 'duty', 'profile');
    expectSuccess(await act('object'), 200, { ...who, objections: [since(null)], restrictions: [] });
    expect(await lastEvent()).toMatchObject({ act: 'objection', categories: ['duty', 'stats'] });
    expect((await read()).data.values).toStrictEqual({ profile: { value: 'a' } });
    for (const key of ['stats', 'duty']) expectRefused(await submit(key), 'objection');
    expect((await submit('profile')).status).toBe(200);
    await category('later', 'legitimate_interests');
    expectRefused(await submit('later'), 'objection');
  });

  it('without a category leaves no value of its user under a basis that turns to one of these: 409 category_in_use', async () => {
    const turned = (key: string) =>
      bot.put(`/data/categories/${key}`, { legal_basis: 'legitimate_interests' });
    for (const key of ['based', 'empty']) await category(key, 'contract');
    await stored('based');
    await act('object');
    expectFailure(await turned('based'), 409, 'conflict', { reason: 'category_in_use' });
    expect((await read('based')).data.values).toStrictEqual({ based: { value: 'a' } });
    expect((await turned('empty')).status).toBe(200);
    await bot.delete(`/data/values/${who.user_id}?guild_id=${who.guild_id}&category=based`);
    expect((await turned('based')).status).toBe(200);
    expectRefused(await submit('based'), 'objection');
  });

  it('is answered the same when it is repeated', async () => {
    await stored('stats');
    const first = await act('object', 'stats');
    expect((await act('object', 'stats')).data).toStrictEqual(first.data);
  });

  it.each(['consent', 'contract', 'legal_obligation', 'vital_interests'])(
    'answers 409 not_objectable for the legal basis %s, and says what to use instead',
    async (basis) => {
      await category('based', basis);
      await stored('based');
      const answer = await act('object', 'based');
      expectFailure(answer, 409, 'conflict', { reason: 'not_objectable', legal_basis: basis });
      expect(answer.error.message).toContain(basis === 'consent' ? '/consents/revoke' : '/gdpr/forget-user');
      expect((await read('based')).data.values).toStrictEqual({ based: { value: 'a' } });
    },
  );

  it('stays in force when the bot changes the legal basis of the category', async () => {
    await stored('stats');
    await act('object', 'stats');
    await bot.put('/data/categories/stats', { legal_basis: 'consent' });
    expectRefused(await submit('stats'), 'objection');
  });

  it('needs the scope erase', async () => {
    const key = await bot.post<{ api_key: string }>(`/bots/${bot.id}/keys`, { scopes: ['write'] });
    const answer = await bot.post('/data/object', who, { authorization: `Bearer ${key.data.api_key}` });
    expectFailure(answer, 403, 'insufficient_scope', { required: 'erase' });
  });
});

describe('POST /api/v1/data/restrict', () => {
  it('refuses submit and values with 403 processing_refused, and keeps the data for export and erasure', async () => {
    await stored('stats', 'profile');
    expectSuccess(await act('restrict'), 200, { ...who, objections: [], restrictions: [since(null)] });
    for (const key of ['stats', 'profile']) expectRefused(await submit(key), 'restriction');
    expectRefused(await read(), 'restriction');
    expectRefused(await read('profile'), 'restriction');
    const exported = await bot.get<{ data: Json }>(`/data/export/${who.user_id}?guild_id=${who.guild_id}`);
    expect(exported.data.data).toStrictEqual({ stats: { value: 'a' }, profile: { value: 'a' } });
    const erased = await bot.post<{ deleted_categories: string[] }>('/gdpr/forget-user', who);
    expect(erased.data.deleted_categories).toStrictEqual(['profile', 'stats']);
  });

  it('with a category leaves the others, and the values of all leave it out', async () => {
    await stored('stats', 'profile');
    await act('restrict', 'stats');
    expectRefused(await submit('stats'), 'restriction');
    expectRefused(await read('stats'), 'restriction');
    expect((await submit('profile')).status).toBe(200);
    expect((await read()).data.values).toStrictEqual({ profile: { value: 'new' } });
  });

  it('keeps the user out of the values of the guild', async () => {
    const other = { ...who, user_id: snowflake() };
    await stored('stats');
    await bot.hasConsent(other);
    await bot.hasData(other, 'stats', { value: 'b' });
    await act('restrict', 'stats');
    const path = `/data/values?guild_id=${who.guild_id}&category=stats`;
    expectSuccess(await bot.get(path), 200, {
      values: [{ user_id: other.user_id, data: { value: 'b' }, updated_at: A_TIME }],
      pagination: pagination(1, 20, 1),
    });
    await act('unrestrict');
    expect((await bot.get<{ values: Json[] }>(path)).data.values).toHaveLength(2);
  });

  it('records consent_revoked with details.act, and the end of it consent_accepted, each once', async () => {
    await stored('stats');
    await act('restrict', 'stats');
    await act('restrict', 'stats');
    expect(await lastEvent()).toMatchObject({ event_type: 'consent_revoked', act: 'restriction' });
    await act('unrestrict', 'stats');
    await act('unrestrict', 'stats');
    expect(await lastEvent()).toMatchObject({ event_type: 'consent_accepted', act: 'restriction_ended' });
    const types = await bot.eventTypes(who);
    expect(types.filter((type) => type === 'consent_revoked')).toHaveLength(1);
    const status = await bot.get(`/consents/status?user_id=${who.user_id}&guild_id=${who.guild_id}`);
    expect(status.data).toMatchObject({ status: 'accepted' });
  });

  it('leaves the order of the refusals: 403 without a consent, 404, then processing_refused, then 400', async () => {
    await act('restrict');
    expectFailure(await submit('profile'), 403, 'consent_required', { current_status: 'none' });
    await stored();
    expectFailure(await submit('unknown'), 404, 'not_found');
    expectRefused(await submit('profile', { unknown: 1 }), 'restriction');
  });
});

describe('POST /api/v1/data/unrestrict', () => {
  it('without a category ends every restriction', async () => {
    await stored('stats');
    await act('restrict');
    await act('restrict', 'stats');
    expectSuccess(await act('unrestrict'), 200, { ...who, objections: [], restrictions: [] });
    expect((await submit('stats')).status).toBe(200);
  });

  it('with a category leaves a restriction of everything, and the answer says so', async () => {
    await stored('stats');
    await act('restrict');
    await act('restrict', 'stats');
    expectSuccess(await act('unrestrict', 'stats'), 200, {
      ...who,
      objections: [],
      restrictions: [since(null)],
    });
    expectRefused(await submit('stats'), 'restriction');
  });

  it('does not end an objection', async () => {
    await stored('stats');
    await act('object', 'stats');
    await act('unrestrict');
    expectRefused(await submit('stats'), 'objection');
  });
});

describe('of objections and restrictions', () => {
  it.each(['object', 'restrict', 'unrestrict'] as const)(
    '%s answers 404 for an undeclared category',
    async (name) => {
      expectFailure(await act(name, 'unknown'), 404, 'not_found');
    },
  );

  it.each(['object', 'restrict', 'unrestrict'] as const)(
    '%s answers 400 without a user and for a snowflake that is a number',
    async (name) => {
      expect((await bot.post(`/data/${name}`, { guild_id: who.guild_id })).status).toBe(400);
      expect((await bot.post(`/data/${name}`, { ...who, user_id: 1 })).status).toBe(400);
    },
  );

  it('a repeat with its Idempotency-Key is replayed', async () => {
    const first = await act('restrict', undefined, { 'idempotency-key': 'one' });
    const again = await act('restrict', undefined, { 'idempotency-key': 'one' });
    expect(again.data).toStrictEqual(first.data);
    expect(again.header('idempotent-replayed')).toBe('true');
  });

  it('another bot, another guild and another user are not affected', async () => {
    const other = await service.registerBot();
    await stored('stats');
    await act('restrict');
    expectSuccess(await inForce(other), 200, { ...who, objections: [], restrictions: [] });
    for (const whom of [
      { ...who, user_id: snowflake() },
      { ...who, guild_id: snowflake() },
    ]) {
      await bot.hasConsent(whom);
      const body = { ...whom, category: 'stats', data: { value: 'b' } };
      expect((await bot.post('/data/submit', body)).status).toBe(200);
    }
  });

  it('GET /data/refusals answers what is in force, and writes no audit event', async () => {
    await stored('stats');
    await act('object', 'duty');
    await act('restrict', 'stats');
    const before = await bot.eventTypes(who);
    expectSuccess(await inForce(), 200, {
      ...who,
      objections: [since('duty')],
      restrictions: [since('stats')],
    });
    expect(await bot.eventTypes(who)).toStrictEqual(before);
  });

  it('the full export has them while they are in force, and no key of theirs otherwise', async () => {
    await stored('stats');
    const full = () => bot.get<Json>(`/data/export/${who.user_id}?guild_id=${who.guild_id}&format=full`);
    expect((await full()).data).not.toHaveProperty('processing_refusals');
    await act('object', 'duty');
    await act('restrict');
    expect((await full()).data['processing_refusals']).toStrictEqual([
      { kind: 'objection', category: 'duty', created_at: A_TIME },
      { kind: 'restriction', category: null, created_at: A_TIME },
    ]);
  });

  it.each([[''], ['&scope=all_guilds']])(
    'the full export%s has them of a user without anything else',
    async (scope) => {
      const full = () =>
        bot.get<Json>(
          `/data/export/${who.user_id}?${scope === '' ? `guild_id=${who.guild_id}` : scope}&format=full`,
        );
      expectFailure(await full(), 404, 'not_found');
      await act('restrict');
      expect((await full()).status).toBe(200);
      expect((await full()).text).toContain('"processing_refusals":[{"kind":"restriction","category":null');
      await act('unrestrict');
      expectFailure(await full(), 404, 'not_found');
    },
  );

  it('an erasure of the user removes them', async () => {
    await stored('stats');
    await act('object', 'stats');
    await act('restrict');
    expect((await bot.post('/gdpr/forget-user', who)).status).toBe(200);
    expectSuccess(await inForce(), 200, { ...who, objections: [], restrictions: [] });
    const rows = await service.database.rows(`SELECT 1 FROM processing_refusals WHERE bot_id = '${bot.id}'`);
    expect(rows).toStrictEqual([]);
    await stored('stats');
  });

  it('of a user without a consent an erasure in all guilds removes them', async () => {
    await act('restrict');
    await bot.post('/gdpr/forget-user', { user_id: who.user_id, scope: 'all_guilds' });
    expectSuccess(await inForce(), 200, { ...who, objections: [], restrictions: [] });
  });

  it('they end with the declaration of their category, and a restriction of everything stays', async () => {
    await stored('stats');
    await act('object', 'stats');
    await act('restrict', 'stats');
    await act('restrict');
    expect((await bot.delete('/data/categories/stats')).status).toBe(200);
    expectSuccess(await inForce(), 200, { ...who, objections: [], restrictions: [since(null)] });
    await act('unrestrict');
    await category('stats', 'legitimate_interests');
    expect((await submit('stats')).status).toBe(200);
  });

  it('there is at most one row for each subject, kind and category, however often they are called at once', async () => {
    await stored('stats');
    const all = (['object', 'restrict'] as const).flatMap((name) =>
      [undefined, 'stats', 'stats'].map((of) => act(name, of)),
    );
    expect((await Promise.all(all)).map(({ status }) => status)).toStrictEqual(all.map(() => 200));
    const rows = await service.database.rows(`SELECT 1 FROM processing_refusals WHERE bot_id = '${bot.id}'`);
    expect(rows).toHaveLength(4);
  });

  it('in a batch one refused item refuses only itself', async () => {
    const other = { ...who, user_id: snowflake() };
    await stored('stats');
    await bot.hasConsent(other);
    await act('restrict', 'stats');
    const item = (whom: SubjectIds, of: string) => ({ ...whom, category: of, data: { value: 'b' } });
    const { results } = (
      await bot.post<{ results: { ok: boolean; error?: Json }[] }>('/data/submit/batch', {
        items: [item(who, 'stats'), item(other, 'stats'), item(who, 'profile')],
      })
    ).data;
    expect(results.map(({ ok }) => ok)).toStrictEqual([false, true, true]);
    expect(results[0]?.error).toMatchObject({
      code: 'processing_refused',
      details: { reason: 'restriction' },
    });
  });
});
