import type { Bot } from '../support/bot';
import { field } from '../support/bot';
import type { Json } from '../support/client';
import { expectFailure, expectFaults, expectSuccess } from '../support/expected';
import { forms, get, send } from '../support/privacy-page';
import { useService } from '../support/shared-service';
import { subject, type SubjectIds } from '../support/snowflakes';

const service = useService();
const REASONS = { reason_de: 'Missbrauch muss abgewehrt werden.', reason_en: 'Abuse has to be prevented.' };
const WITHOUT = { legal_basis: 'legitimate_interests', requires_consent: false, ...REASONS };
const LABELS = { label_de: 'Sperren', label_en: 'Bans', fields: [field('value')] };

const IN_USE = { reason: 'category_in_use' };
const ERASING = { reason: 'deletion_in_progress' };

let bot: Bot;
let who: SubjectIds;
beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
  await bot.hasCategory('bans', [field('value', 'string'), field('other')], WITHOUT);
  await bot.hasCategory('profile');
});

const register = (given: Json) => bot.post('/data/register', { key: 'other', ...LABELS, ...given });
const change = (given: Json, key = 'bans') => bot.put(`/data/categories/${key}`, given);
const submit = (category = 'bans', data: Json = { value: 'x' }) =>
  bot.post('/data/submit', { ...who, category, data });
const values = (category?: string) =>
  bot.get<{ values: Json }>(
    `/data/values/${who.user_id}?guild_id=${who.guild_id}${category === undefined ? '' : `&category=${category}`}`,
  );
const ofGuild = (category: string) =>
  bot.get<{ values: Json[] }>(`/data/values?guild_id=${who.guild_id}&category=${category}`);

async function erasing(): Promise<void> {
  await bot.hasRequest(who);
  const { guild_id, user_id } = service.stored(bot, who);
  await service.database.run(
    `UPDATE consents SET erasing = 1 WHERE bot_id = '${bot.id}' AND guild_id = '${guild_id}' AND user_id = '${user_id}'`,
  );
}

describe('requires_consent of a category', () => {
  it('is answered with its reasons where it is false, and never else', async () => {
    expect((await bot.get('/data/categories/bans')).data).toMatchObject(WITHOUT);
    for (const given of [{}, { legal_basis: 'contract' }, { requires_consent: true }]) {
      const key = `k${Object.keys(given).join('')}`;
      const { data } = await register({ key, ...given });
      expect(Object.keys(data)).not.toEqual(expect.arrayContaining(['requires_consent']));
      expect(Object.keys(data).filter((name) => name.startsWith('reason'))).toEqual([]);
    }
  });

  it('answers 400 without another legal basis, without a reason in each language, and for a reason alone', async () => {
    expectFaults(await register({ requires_consent: false, ...REASONS }), 'legal_basis');
    expectFaults(await register({ ...WITHOUT, legal_basis: 'consent' }), 'legal_basis');
    expectFaults(
      await register({ legal_basis: 'contract', requires_consent: false }),
      'reason_de',
      'reason_en',
    );
    expectFaults(await register({ ...WITHOUT, reason_de: '' }), 'reason_de');
    expectFaults(await register({ legal_basis: 'contract', ...REASONS }), 'reason_de', 'reason_en');
    expectFaults(await change({ legal_basis: 'consent' }), 'legal_basis');
    expectFaults(await change({ reason_en: null }), 'reason_en');
  });

  it('is missed by a warning in the answer to a registration with another legal basis, and in no other one', async () => {
    const warned = { warnings: [expect.any(String)] };
    const basis = { legal_basis: 'contract' };
    expect((await register({ key: 'orders', ...basis })).data).toMatchObject(warned);
    expect((await register({ key: 'orders_too', ...basis, requires_consent: true })).data).toMatchObject(
      warned,
    );
    const repeated = () =>
      bot.post('/data/register', { key: 'again', ...LABELS, ...basis }, { 'idempotency-key': 'again' });
    for (const answer of [await repeated(), await repeated()]) expect(answer.data).toMatchObject(warned);
    const categories = [{ name: 'guided', ...basis }, { name: 'meant', ...WITHOUT }, { name: 'asked' }];
    const { data } = await bot.post<{ categories: Json[] }>('/data/register', {
      ...{ bot_id: bot.id, categories },
    });
    expect(data.categories.map((one) => 'warnings' in one)).toEqual([true, false, false]);
    for (const { data: said } of [
      await register({ key: 'bans_too', ...WITHOUT }),
      await register({ key: 'plain' }),
      await bot.get<Json>('/data/categories/orders'),
      await bot.put<Json>('/data/categories/orders', { label_en: 'Orders' }),
    ])
      expect(said).not.toHaveProperty('warnings');
  });

  it('is declared in the shape of the guide too', async () => {
    const answer = await bot.post<{ categories: Json[] }>('/data/register', {
      bot_id: bot.id,
      categories: [{ name: 'guided', ...WITHOUT }],
    });
    expect(answer.data.categories[0]).toMatchObject({ key: 'guided', ...WITHOUT });
  });

  it('answers 400 naming every bad option of a list by its path, and declares none', async () => {
    const answer = await bot.post('/data/register', {
      bot_id: bot.id,
      categories: [
        { name: 'good' },
        { name: 'unreasoned', legal_basis: 'contract', requires_consent: false },
        { name: 'profile', ...WITHOUT, legal_basis: 'consent' },
      ],
    });
    expectFaults(answer, 'categories[1].reason_de', 'categories[1].reason_en', 'categories[2].legal_basis');
    expectFailure(await bot.get('/data/categories/good'), 404, 'not_found');
  });

  it('turns to true only while no value is stored, with 409 and what mends it', async () => {
    await submit();
    expectFailure(await change({ requires_consent: true }), 409, 'conflict', IN_USE);
    await bot.hasForgotten(who);
    const { data } = await change({ requires_consent: true });
    expect(data).not.toHaveProperty('requires_consent');
    expectFailure(await submit(), 403, 'consent_required', { current_status: 'none' });
  });

  it('turns to false, but not while values of a withdrawn consent are stored', async () => {
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'x' });
    await bot.hasRevoked(who);
    expectFailure(await change(WITHOUT, 'profile'), 409, 'conflict', IN_USE);
    await bot.hasForgotten(who);
    expectSuccess(await change(WITHOUT, 'profile'), 200, expect.objectContaining(WITHOUT) as Json);
    expect((await submit('profile')).status).toBe(200);
  });
});

describe('a category with another basis that needs a consent still', () => {
  beforeEach(() => bot.hasCategory('orders', [field('value')], { legal_basis: 'contract' }));

  it('does not turn while a withdrawn consent has left values, though they have no time of erasure', async () => {
    await bot.hasConsent(who);
    await bot.hasData(who, 'orders', { value: 'x' });
    await bot.hasRevoked(who);
    expectFailure(await change(WITHOUT, 'orders'), 409, 'conflict', IN_USE);
    expectFailure(await values('orders'), 403, 'consent_required', { current_status: 'revoked' });
  });

  it('does not turn while the consent to it alone is withdrawn', async () => {
    await bot.hasConsent(who);
    await bot.hasData(who, 'orders', { value: 'x' });
    expect((await bot.post('/consents/revoke', { ...who, categories: ['orders'] })).status).toBe(200);
    expectFailure(await change(WITHOUT, 'orders'), 409, 'conflict', IN_USE);
  });

  it('does not become one of consent while a withdrawn consent has left values, which nothing would erase', async () => {
    await bot.hasConsent(who);
    await bot.hasData(who, 'orders', { value: 'x' });
    const [covered, refused] = [subject(), subject()];
    await bot.hasConsent(covered);
    await bot.hasData(covered, 'orders', { value: 'x' });
    await bot.hasRevoked(who);
    const basis = { legal_basis: 'consent' };
    expectFailure(await change(basis, 'orders'), 409, 'conflict', IN_USE);
    await bot.hasRequest(who, '2.0');
    expectFailure(await change({ ...basis, requires_consent: true }, 'orders'), 409, 'conflict', IN_USE);
    expect((await bot.get<Json>('/data/categories/orders')).data['legal_basis']).toBe('contract');
    await bot.hasForgotten(who);
    await bot.hasRequest(refused);
    expect((await change(basis, 'orders')).data['legal_basis']).toBe('consent');
    await bot.hasRevoked(covered);
    const sql = `SELECT 1 FROM user_data WHERE bot_id = '${bot.id}' AND withdrawn_at IS NOT NULL`;
    expect(await service.database.rows(sql)).toHaveLength(1);
    expect((await change(basis, 'orders')).status).toBe(200);
    // What is marked has its time of erasure, so a basis changed by mistake can be put back.
    expect((await change({ legal_basis: 'contract' }, 'orders')).status).toBe(200);
    expect((await change(basis, 'orders')).status).toBe(200);
  });

  it('turns while consents in force cover what is stored', async () => {
    await bot.hasConsent(who);
    await bot.hasData(who, 'orders', { value: 'x' });
    expect((await change(WITHOUT, 'orders')).status).toBe(200);
    await bot.hasRevoked(who);
    expect((await values('orders')).data.values).toEqual({ orders: { value: 'x' } });
  });
});

describe('POST /api/v1/data/submit of a category that needs no consent', () => {
  it('answers 200 for a user without a consent, after a refusal and after a withdrawal', async () => {
    expect((await submit()).status).toBe(200);
    await bot.hasRequest(who);
    expect((await submit()).status).toBe(200);
    await bot.post('/consents/decline', { ...who, consent_version: '1.0' });
    expect((await submit()).status).toBe(200);
    await bot.hasConsent(who);
    await bot.hasRevoked(who);
    expect((await submit()).status).toBe(200);
    expectFailure(await submit('profile'), 403, 'consent_required', { current_status: 'revoked' });
  });

  it('checks the values, and answers 403 before 404 for a category that is not declared', async () => {
    expectFaults(await submit('bans', { unknown: 1 }), 'data.unknown');
    expectFailure(await submit('nowhere'), 403, 'consent_required', { current_status: 'none' });
    await bot.delete('/data/categories/bans');
    expectFailure(await submit(), 403, 'consent_required', { current_status: 'none' });
  });

  it('answers 409 deletion_in_progress during an erasure, alone and in a batch, and 200 after it', async () => {
    await erasing();
    expectFailure(await submit(), 409, 'conflict', ERASING);
    const batch = await bot.post<{ results: { ok: boolean; error?: { code: string } }[] }>(
      '/data/submit/batch',
      {
        items: [{ ...who, category: 'bans', data: { value: 'x' } }],
      },
    );
    expect(batch.data.results).toMatchObject([{ ok: false, error: { code: 'conflict' } }]);
    expectFailure(await values('bans'), 409, 'conflict', ERASING);
    expect((await ofGuild('bans')).data.values).toEqual([]);
  });

  it('stores every one of many first submits of a user at the same moment, also of merges', async () => {
    const fields = ['value', 'other'];
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        bot.post('/data/submit', {
          ...{ ...who, category: 'bans', mode: 'merge' },
          data: { [fields[at % 2]!]: 'x' },
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect((await values('bans')).data.values).toEqual({ bans: { value: 'x', other: 'x' } });
  });

  it('lets no other bot store or read', async () => {
    await submit();
    const other = await service.registerBot();
    await other.hasCategory('bans');
    expectFailure(
      await other.post('/data/submit', { ...who, category: 'bans', data: { value: 'x' } }),
      403,
      'consent_required',
      { current_status: 'none' },
    );
  });

  it('works in a batch beside other categories', async () => {
    const items = ['bans', 'profile'].map((category) => ({ ...who, category, data: { value: 'x' } }));
    const { data } = await bot.post<{ results: { ok: boolean }[] }>('/data/submit/batch', { items });
    expect(data.results.map(({ ok }) => ok)).toEqual([true, false]);
  });
});

describe('what is stored without a consent', () => {
  it('answers 409 deletion_in_progress during an erasure, also where all values are read', async () => {
    await submit();
    await erasing();
    for (const category of ['bans', undefined])
      expectFailure(await values(category), 409, 'conflict', ERASING);
  });

  it('is read back, of the user and of the guild', async () => {
    expectFailure(await values(), 403, 'consent_required', { current_status: 'none' });
    await submit();
    expect((await values('bans')).data.values).toEqual({ bans: { value: 'x' } });
    expect((await values()).data.values).toEqual({ bans: { value: 'x' } });
    expect((await ofGuild('bans')).data.values).toHaveLength(1);
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'y' });
    expect((await values()).data.values).toEqual({ bans: { value: 'x' }, profile: { value: 'y' } });
    await bot.hasRevoked(who);
    expect((await values()).data.values).toEqual({ bans: { value: 'x' } });
    expect((await ofGuild('profile')).data.values).toEqual([]);
  });

  it('is exported with consent null, and in the full form with its basis and reasons', async () => {
    await submit();
    expectSuccess(
      await bot.export(who),
      200,
      expect.objectContaining({ consent: null, data: { bans: { value: 'x' } } }) as Json,
    );
    const full = (await bot.export<{ categories: Json[] }>(who, '&format=full')).data;
    expect(full.categories).toMatchObject([{ key: 'bans', ...WITHOUT }]);
  });

  it('is erased by a forget, after which nothing is left', async () => {
    await submit();
    const answer = await bot.post<Json>('/gdpr/forget-user', who);
    expect(answer.data).toMatchObject({ status: 'completed', deleted_categories: ['bans'] });
    expect((await bot.export(who)).status).toBe(404);
    for (const table of ['user_data', 'consents', 'subjects'])
      expect(await service.database.rows(`SELECT 1 FROM ${table} WHERE bot_id = '${bot.id}'`)).toEqual([]);
  });

  it('is erased by DELETE of its value and of its category', async () => {
    await submit();
    const path = `/data/values/${who.user_id}?guild_id=${who.guild_id}&category=bans`;
    expect((await bot.delete(path)).data).toMatchObject({ deleted: true });
    await submit();
    expect((await bot.delete('/data/categories/bans')).status).toBe(200);
    expect((await bot.export<{ data: Json }>(who)).status).toBe(404);
  });

  it('is neither marked nor announced by a withdrawal', async () => {
    await bot.hasConsent(who);
    await submit();
    await bot.hasRevoked(who);
    expect((await bot.status(who)).data).not.toHaveProperty('data_erased_at');
    expect(
      await service.database.rows(`SELECT withdrawn_at FROM user_data WHERE bot_id = '${bot.id}'`),
    ).toEqual([{ withdrawn_at: null }]);
  });

  it('is called so on the privacy page, with its reason; a category in which nothing is stored is not', async () => {
    await bot.hasConsent(who);
    const link = await bot.post<{ url: string }>('/privacy-links', { ...who, language: 'en' });
    const page = async () => (await fetch(link.data.url)).text();
    const badge = '<small>stored without consent</small>';
    expect(await page()).not.toContain(badge);
    await submit();
    const text = await page();
    for (const said of [badge, 'Why without consent', REASONS.reason_en]) expect(text).toContain(said);
  });

  it('lists its user with the status none', async () => {
    await submit();
    const { users } = (await bot.get<{ users: Json[] }>('/users')).data;
    expect(users).toMatchObject([{ ...who, status: 'none' }]);
  });
});

describe('a consent beside a category that needs none', () => {
  const named = { categories: ['bans'] };
  const request = (given: Json) =>
    bot.post('/consents/request', { ...who, consent_version: '1.0', ...given });

  it('answers 400 for a request, an acceptance and a withdrawal that name it', async () => {
    expectFaults(await request({ categories: ['profile', 'bans'] }), 'categories[1]');
    await request({});
    expectFaults(
      await bot.post('/consents/accept', { ...who, consent_version: '1.0', ...named }),
      'categories[0]',
    );
    await bot.hasConsent(who);
    expectFaults(await bot.post('/consents/revoke', { ...who, ...named }), 'categories[0]');
  });

  it('to everything declared does not list its user under it, and one that names it does', async () => {
    await bot.hasConsent(who);
    const users = async (category: string) =>
      (await bot.get<{ users: Json[] }>(`/users?category=${category}`)).data.users.length;
    expect([await users('bans'), await users('profile')]).toEqual([0, 1]);
    await bot.hasCategory('late', [field('value')], { legal_basis: 'contract' });
    const other = subject();
    await bot.post('/consents/request', { ...other, consent_version: '1.0', categories: ['late'] });
    expect(await users('late')).toBe(2);
    expect((await change(WITHOUT, 'late')).status).toBe(200);
    expect(await users('late')).toBe(1);
  });

  it('that named it before it was turned can be withdrawn for it, by the bot and on the privacy page', async () => {
    await bot.hasCategory('late', [field('value')], { legal_basis: 'contract' });
    const others = [subject(), subject()];
    for (const one of others) {
      await bot.post('/consents/request', {
        ...one,
        consent_version: '1.0',
        categories: ['late', 'profile'],
      });
      await bot.post('/consents/accept', { ...one, consent_version: '1.0' });
    }
    expect((await change(WITHOUT, 'late')).status).toBe(200);
    const [one, other] = others as [SubjectIds, SubjectIds];
    expect((await bot.post('/consents/revoke', { ...one, categories: ['late'] })).status).toBe(200);
    const { url } = (await bot.post<{ url: string }>('/privacy-links', other)).data;
    const form = forms(await get(url), 'revoke').find((fields) => fields.get('category') === 'late');
    expect((await send(url, 'revoke', form!)).status).toBe(303);
    for (const each of others)
      expect((await bot.status(each)).data['categories']).toEqual([
        { key: 'late', status: 'revoked' },
        { key: 'profile', status: 'accepted' },
      ]);
  });

  it('to everything declared is not about it: its withdrawal in part and its receipt leave it out', async () => {
    await bot.hasCategory('third');
    await bot.hasConsent(who);
    const receipt = await bot.get<Json>(`/consents/receipt?user_id=${who.user_id}&guild_id=${who.guild_id}`);
    expect(receipt.status).toBe(200);
    expect(JSON.stringify(receipt.data['payload'])).not.toContain('bans');
    const { data } = await bot.post<{ categories: Json[] }>('/consents/revoke', {
      ...who,
      categories: ['third'],
    });
    expect(data.categories.map(({ key }) => key)).toEqual(['profile', 'third']);
  });
});

describe('a bot that declares everything as legitimate interests', () => {
  it('has the reasons in its record, its dossier and its public notice, whose digest changes with them', async () => {
    const record = (
      await bot.get<{ activities: Json[]; security_measures: string[] }>(`/bots/${bot.id}/processing-record`)
    ).data;
    expect(record.activities).toContainEqual(expect.objectContaining({ category: 'bans', ...WITHOUT }));
    expect(record.security_measures.join()).toContain('need no consent');
    const dossier = (await bot.get<{ consent: { statements: string[] } }>(`/bots/${bot.id}/review-dossier`))
      .data;
    expect(dossier.consent.statements[0]).toContain('need no consent');
    const controller = { controller_name: 'Robin Example', controller_email: 'robin@example.org' };
    await bot.put(`/bots/${bot.id}/notice-settings`, { public: true, ...controller });
    const notice = async () =>
      (await (await fetch(`${service.url}/notice/${bot.id}?format=json`)).json()) as {
        digest: string;
        categories: Json[];
      };
    const before = await notice();
    expect(before.categories).toContainEqual(
      expect.objectContaining({ category: 'bans', requires_consent: false, reason: REASONS.reason_en }),
    );
    await change({ reason_en: 'Spam has to be prevented.' });
    expect((await notice()).digest).not.toBe(before.digest);
  });
});
