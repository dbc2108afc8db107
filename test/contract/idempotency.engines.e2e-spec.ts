import { encryptedBy, InstallationKeys } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import { ErasureService } from '@app/gdpr';
import { Claims, IdempotencyRetention } from '@app/acts';
import document from '../../openapi.json';
import { type Bot, field } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { expectFailure } from '../support/expected';
import { ownPaths } from '../support/further-modules';
import { runNow } from '../support/jobs';
import { useServiceInProcess } from '../support/service';
import { CLOSED_ROUTES } from '../support/routes';
import { until } from '../support/until';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';
import { ago } from '../support/time';
import { keptOpen } from '../support/units';

const service = useServiceInProcess({ WEBHOOK_RETRY_SCHEDULE: '1h' });
let bot: Bot;
let who: SubjectIds;
let turn = 0;

interface Parameter {
  readonly name: string;
}

beforeEach(async () => {
  bot = await service.registerBot({ webhook_url: 'http://127.0.0.1:8088/closed' });
  who = subject();
});

const newKey = (): string => `key-${++turn}`;
const under = (key: string) => ({ 'idempotency-key': key });
const replayed = (answer: Answer): boolean => answer.header('idempotent-replayed') === 'true';
const submitted = (key: string, data: Json = { value: 'a' }, whom = who) =>
  bot.post('/data/submit', { ...whom, category: 'profile', data }, under(key));

const expectConflict = (answer: Answer, reason: string) => expectFailure(answer, 409, 'conflict', { reason });

const typesOf = (whom: SubjectIds) => bot.eventTypes(whom);

async function consented(whom = who): Promise<void> {
  await bot.hasCategory('profile');
  await bot.hasConsent(whom);
}

const labels = { label_de: 'a', label_en: 'b' };

const objectable = () =>
  bot.post('/data/register', {
    ...{ key: 'objectable', ...labels, legal_basis: 'legitimate_interests', fields: [field('value')] },
  });

/** One request for each POST with a key, and what has to be there before it. */
const POSTS: Readonly<Record<string, () => Promise<readonly [path: string, body?: Json]>>> = {
  '/audit/event': async () => [
    '/audit/event',
    { ...who, event_type: 'data_exported', details: { note: 'seen' } },
  ],
  '/bots/{bot_id}/webhook-secret/rotate': async () => [`/bots/${bot.id}/webhook-secret/rotate`, {}],
  '/bots/{bot_id}/keys': async () => [`/bots/${bot.id}/keys`, { scopes: ['read'] }],
  '/bots/{bot_id}/keys/rotate': async () => [`/bots/${bot.id}/keys/rotate`, { overlap_seconds: 3600 }],
  '/consents/texts': async () => [
    '/consents/texts',
    { consent_version: '1', language: 'en', title: 'a', body: 'b' },
  ],
  '/consents/request': async () => {
    await bot.hasCategory('profile');
    return ['/consents/request', { ...who, categories: ['profile'], language: 'en' }];
  },
  '/consents/accept': async () => {
    await bot.hasRequest(who);
    return ['/consents/accept', { ...who, consent_version: '1.0' }];
  },
  '/consents/decline': async () => {
    await bot.hasRequest(who);
    return ['/consents/decline', { ...who }];
  },
  '/consents/revoke': async () => {
    await consented();
    await bot.hasData(who, 'profile', { value: 'a' });
    return ['/consents/revoke', { ...who }];
  },
  '/data/register': async () => ['/data/register', { key: 'profile', ...labels, fields: [field('value')] }],
  '/data/submit': async () => {
    await consented();
    return ['/data/submit', { ...who, category: 'profile', data: { value: 'a' } }];
  },
  '/data/submit/batch': async () => {
    await consented();
    const items = ['a', 'b'].map((value) => ({ ...who, category: 'profile', data: { value } }));
    return ['/data/submit/batch', { items }];
  },
  '/data/object': async () => {
    await objectable();
    return ['/data/object', { ...who, category: 'objectable' }];
  },
  '/data/restrict': async () => {
    await consented();
    return ['/data/restrict', { ...who, category: 'profile' }];
  },
  '/data/unrestrict': async () => {
    await consented();
    await bot.post('/data/restrict', { ...who });
    return ['/data/unrestrict', { ...who }];
  },
  '/gdpr/forget-user': async () => {
    await consented();
    return ['/gdpr/forget-user', { ...who }];
  },
  '/holders': async () => ['/holders', { key: 'db', kind: 'pull', covers: ['levels'], ...labels }],
  '/holders/{key}/tasks/{task_id}/acknowledge': async () => {
    await bot.post('/holders', { key: 'db', kind: 'pull', covers: ['levels'], ...labels });
    return [`/holders/db/tasks/${await bot.hasForgotten(who)}/acknowledge`, { result: 'erased' }];
  },
  '/privacy-links': async () => ['/privacy-links', { ...who }],
  '/servers/register': async () => ['/servers/register', { guild_id: who.guild_id, name: 'a' }],
  '/servers/{guild_id}/cancel-deletion': async () => {
    await bot.post('/servers/register', { guild_id: who.guild_id });
    await bot.delete(`/servers/${who.guild_id}?grace_days=3`);
    return [`/servers/${who.guild_id}/cancel-deletion`];
  },
  '/webhooks/deliveries/{id}/redeliver': async () => {
    const { id } = (await bot.post<{ id: string }>('/webhooks/test')).data;
    return [`/webhooks/deliveries/${id}/redeliver`];
  },
  '/webhooks/replay': async () => {
    await bot.post('/webhooks/test');
    return ['/webhooks/replay', { since: '2026-01-01T00:00:00Z' }];
  },
  '/webhooks/test': async () => ['/webhooks/test'],
};

describe('Idempotency-Key', () => {
  it('is taken by every POST but the registration and those that only read', () => {
    const posts = CLOSED_ROUTES.filter(
      ({ method, scopes }) => method === 'POST' && scopes.some((scope) => scope !== 'read'),
    );
    const paths = ownPaths(document.paths) as Record<string, { post?: { parameters: Parameter[] } }>;
    const taking = Object.entries(paths)
      .filter(([, { post }]) => post?.parameters.some(({ name }) => name === 'Idempotency-Key'))
      .map(([path]) => path.replace('/api/v1', ''));
    expect(taking.sort()).toStrictEqual(Object.keys(POSTS).sort());
    expect(taking).toHaveLength(posts.length);
  });

  it.each(Object.keys(POSTS))('POST %s is done once, and its answer is replayed unchanged', async (route) => {
    const [path, body] = await POSTS[route]!();
    const key = newKey();
    const first = await bot.post(path, body, under(key));
    const before = await rowsOf();
    const second = await bot.post(path, body, under(key));
    expect([first.status, replayed(first)]).toStrictEqual([first.status < 300 ? first.status : 200, false]);
    expect([second.status, replayed(second)]).toStrictEqual([first.status, true]);
    if (route.endsWith('redeliver')) expect(second.data['id']).toBe(first.data['id']);
    else expect(second.text).toBe(first.text);
    expect(await rowsOf()).toStrictEqual(before);
  });

  /** The number of rows of the bot in each table that an act writes to. */
  async function rowsOf(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const table of [
      'audit_events',
      'consent_history',
      'webhook_deliveries',
      'deletion_requests',
      'api_keys',
    ])
      counts[table] = (await service.database.rows(`SELECT 1 FROM ${table} WHERE bot_id = ?`, bot.id)).length;
    return counts;
  }

  it('of a registration is not looked at', async () => {
    const body = { platform_bot_id: snowflake(), name: 'a' };
    expect((await service.anonymous.post('/bots/register', body, under('a'))).status).toBe(201);
    expectConflict(await service.anonymous.post('/bots/register', body, under('a')), 'bot_exists');
  });

  it('of another body is 409 idempotency_key_reused, and nothing is done', async () => {
    await consented();
    const key = newKey();
    await submitted(key);
    expectConflict(await submitted(key, { value: 'b' }), 'idempotency_key_reused');
    expectConflict(await submitted(key, { value: 'a' }, subject()), 'idempotency_key_reused');
    expect((await bot.export<{ data: Json }>(who)).data.data).toMatchObject({ profile: { value: 'a' } });
  });

  it('of no body is that of an empty object', async () => {
    const key = newKey();
    const first = await bot.post('/webhooks/test', undefined, under(key));
    const again = await bot.post('/webhooks/test', {}, under(key));
    expect([again.status, replayed(again), again.text]).toStrictEqual([first.status, true, first.text]);
  });

  it('is one of a bot, a method and a path', async () => {
    const key = newKey();
    const ping = (of: Bot) => of.post('/webhooks/test', undefined, under(key));
    const other = await service.registerBot({ webhook_url: 'http://127.0.0.1:8088/closed' });
    for (const answer of [
      await ping(bot),
      await ping(other),
      await bot.post('/webhooks/replay', { since: '2099-01-01T00:00:00Z' }, under(key)),
    ])
      expect([answer.status < 300, replayed(answer)]).toStrictEqual([true, false]);
  });

  it.each(['', 'a b', 'ä', 'x'.repeat(256)])('%j is 400 and names the header', async (key) => {
    const answer = await bot.post('/webhooks/test', undefined, under(Buffer.from(key).toString('latin1')));
    expectFailure(answer, 400, 'invalid_request');
    expect(answer.error.details).toMatchObject({ fields: [{ field: 'Idempotency-Key' }] });
  });

  it('sent many times at once is done once; the others are replayed or 409 idempotency_in_progress', async () => {
    await consented();
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 20 }, () => submitted(key)));
    const done = answers.filter(({ status }) => status === 200);
    expect(done.filter((answer) => !replayed(answer))).toHaveLength(1);
    for (const answer of answers)
      if (answer.status !== 200) expectConflict(answer, 'idempotency_in_progress');
    expect(await typesOf(who)).toStrictEqual(['consent_requested', 'consent_accepted', 'data_submitted']);
  });

  it('of a request that is being answered is 409 idempotency_in_progress at once', async () => {
    await consented();
    const key = newKey();
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const locked = new Promise<void>((resolve) => {
      void service.app.get(UnitOfWork).write(async (tx) => {
        await keptOpen(tx);
        await tx.all('SELECT 1 FROM consents WHERE bot_id = ? FOR UPDATE', bot.id);
        resolve();
        await released;
      });
    });
    await locked;
    const both = [submitted(key), submitted(key)];
    expectConflict(await Promise.race(both), 'idempotency_in_progress');
    release();
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toStrictEqual([200, 409]);
    expect(replayed(await submitted(key))).toBe(true);
  });

  it('stays in progress when the client of the request is gone, until the act has ended', async () => {
    await consented();
    const key = newKey();
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const locked = new Promise<void>((resolve) => {
      void service.app.get(UnitOfWork).write(async (tx) => {
        await keptOpen(tx);
        await tx.all('SELECT 1 FROM consents WHERE bot_id = ? FOR UPDATE', bot.id);
        resolve();
        await released;
      });
    });
    await locked;
    const gone = new AbortController();
    const first = fetch(`${service.url}/api/v1/data/submit`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bot.key}`, 'content-type': 'application/json', ...under(key) },
      body: JSON.stringify({ ...who, category: 'profile', data: { value: 'a' } }),
      signal: gone.signal,
    });
    const claims = service.app.get(Claims, { strict: false });
    await until(() => (Reflect.get(claims, 'underWay') as Set<string>).size === 1);
    gone.abort();
    await expect(first).rejects.toThrow();
    expectConflict(await submitted(key), 'idempotency_in_progress');
    release();
    await until(async () => (await submitted(key)).status === 200);
    expect(await typesOf(who)).toStrictEqual(['consent_requested', 'consent_accepted', 'data_submitted']);
  });

  it('of a refused request can be sent again', async () => {
    await bot.hasCategory('profile');
    const key = newKey();
    expectFailure(await submitted(key), 403, 'consent_required');
    await bot.hasConsent(who);
    const again = await submitted(key);
    expect([again.status, replayed(again)]).toStrictEqual([200, false]);
  });

  it('is 401 without an API key, and 400 of the body comes first', async () => {
    expectFailure(await service.anonymous.post('/webhooks/test', undefined, under('a')), 401, 'unauthorized');
    const bad = await bot.post('/data/submit', { ...who, category: 7 }, under(newKey()));
    expectFailure(bad, 400, 'invalid_request');
  });

  it.each([
    ['made of declarations', async () => undefined],
    [
      'registered',
      () => bot.post('/consents/texts', { consent_version: '1', language: 'en', title: 'a', body: 'b' }),
    ],
  ])(
    'of a request for consent answers the texts that it has shown, %s, as the history names them',
    async (_, register) => {
      await bot.hasCategory('profile');
      const body = { ...who, categories: ['profile'], consent_version: '1' };
      const key = newKey();
      const ask = () => bot.post<{ texts: object }>('/consents/request', body, under(key));
      await register();
      const first = await ask();
      await bot.put('/data/categories/profile', { label_en: 'New' });
      const second = await ask();
      expect([second.status, replayed(second), second.text]).toStrictEqual([201, true, first.text]);
      const { entries } = (
        await bot.get<{ entries: { texts: { digest: string }[] }[] }>(
          `/consents/history?user_id=${who.user_id}&guild_id=${who.guild_id}`,
        )
      ).data;
      expect(entries).toHaveLength(1);
      const digest = entries[0]?.texts[0]?.digest ?? '';
      const shown = await bot.get(`/consents/texts/${digest}`);
      expect(shown.data).toMatchObject(first.data.texts);
    },
  );

  it('of an acceptance that was followed by a withdrawal answers it without a receipt', async () => {
    await bot.hasRequest(who);
    const key = newKey();
    const accept = () => bot.post('/consents/accept', { ...who, consent_version: '1.0' }, under(key));
    const first = await accept();
    await bot.hasRevoked(who);
    const second = await accept();
    expect([second.status, replayed(second)]).toStrictEqual([200, true]);
    expect({ ...second.data, receipt: undefined }).toStrictEqual({ ...first.data, receipt: undefined });
    expect(second.data).not.toHaveProperty('receipt');
  });

  it('of an acceptance of which a part was withdrawn answers it without a receipt, and with one beside a newer request', async () => {
    for (const key of ['profile', 'notes']) await bot.hasCategory(key);
    const asked = { ...who, consent_version: '1.0', categories: ['profile', 'notes'] };
    await bot.post('/consents/request', asked);
    const key = newKey();
    const accept = () => bot.post('/consents/accept', { ...who, consent_version: '1.0' }, under(key));
    const first = await accept();
    await bot.post('/consents/request', { ...asked, consent_version: '2.0' });
    const second = await accept();
    expect([replayed(second), second.data]).toStrictEqual([true, first.data]);
    await bot.post('/consents/revoke', { ...who, categories: ['notes'] });
    const third = await accept();
    expect([third.status, replayed(third)]).toStrictEqual([200, true]);
    expect({ ...third.data, receipt: undefined }).toStrictEqual({ ...first.data, receipt: undefined });
    expect(third.data).not.toHaveProperty('receipt');
  });

  it('of a declared category answers it as it is then', async () => {
    const body = { key: 'profile', ...labels, fields: [field('value')] };
    const key = newKey();
    const register = () => bot.post('/data/register', body, under(key));
    await register();
    await bot.put('/data/categories/profile', { label_en: 'New' });
    const second = await register();
    expect([replayed(second), second.data['label_en']]).toStrictEqual([true, 'New']);
    await bot.delete('/data/categories/profile');
    expectConflict(await register(), 'idempotency_answer_erased');
    expectFailure(await bot.get('/data/categories/profile'), 404, 'not_found');
  });

  it('of a holder answers it as it is then, and 409 idempotency_answer_erased once it is deleted', async () => {
    const body = { key: 'db', kind: 'pull', covers: ['levels'], ...labels };
    const key = newKey();
    const register = () => bot.post('/holders', body, under(key));
    await register();
    await bot.put('/holders/db', { label_en: 'New' });
    const second = await register();
    expect([replayed(second), second.data['label_en']]).toStrictEqual([true, 'New']);
    await bot.delete('/holders/db');
    expectConflict(await register(), 'idempotency_answer_erased');
    expectFailure(await bot.get('/holders/db'), 404, 'not_found');
  });
});

describe('of an act that stores nothing about its user', () => {
  it.each([
    ['/privacy-links', 201],
    ['/data/unrestrict', 200],
  ])('%s is replayed, and its answer alone makes no subject', async (path, status) => {
    const key = newKey();
    const ask = () => bot.post(path, who, under(key));
    const first = await ask();
    expect([first.status, replayed(first)]).toStrictEqual([status, false]);
    const second = await ask();
    expect([second.text, replayed(second)]).toStrictEqual([first.text, true]);
    expect(await service.database.rows('SELECT 1 FROM subjects WHERE bot_id = ?', bot.id)).toEqual([]);
    expectFailure(await bot.export(who), 404, 'not_found');
    await consented();
    expect((await ask()).text).toBe(first.text);
  });

  it('/data/unrestrict has no ids in its answer, which is read anew', async () => {
    const key = newKey();
    const ask = () => bot.post<{ restrictions: unknown[] }>('/data/unrestrict', who, under(key));
    expect((await ask()).data.restrictions).toEqual([]);
    await consented();
    expect((await bot.post('/data/restrict', who)).status).toBe(200);
    expect((await ask()).data.restrictions).toHaveLength(1);
  });

  it('has an answer that ends with the user where something is held', async () => {
    await consented();
    const key = newKey();
    const ask = () => bot.post('/data/unrestrict', who, under(key));
    expect((await ask()).status).toBe(200);
    await bot.hasForgotten(who);
    expectConflict(await ask(), 'idempotency_answer_erased');
  });
});

describe('after an erasure', () => {
  const keyIds = async (table: string, column: string) =>
    (await service.database.rows<{ id: string }>(`SELECT ${column} AS id FROM ${table}`)).map(({ id }) => id);

  it('no key opens the stored answers about the user, and their keys are 409 idempotency_answer_erased', async () => {
    await consented();
    const [submit, event, accept] = [newKey(), newKey(), newKey()];
    await submitted(submit);
    const audit = { ...who, event_type: 'data_exported' };
    await bot.post('/audit/event', audit, under(event));
    await bot.hasRequest(who, '2');
    const acceptance = { ...who, consent_version: '2' };
    await bot.post('/consents/accept', acceptance, under(accept));
    const [key] = await keyIds(`subjects WHERE bot_id = '${bot.id}'`, 'key_id');
    const rows = await service.database.rows<{ answer: string }>(
      'SELECT answer FROM idempotency_keys WHERE bot_id = ? ORDER BY created_at',
      bot.id,
    );
    expect(rows.map(({ answer }) => encryptedBy(answer))).toStrictEqual([key, key, key]);
    await bot.hasForgotten(who);
    expect(await keyIds('keys.subject_keys', 'id')).not.toContain(key);
    const expectErased = async () => {
      expectConflict(await submitted(submit), 'idempotency_answer_erased');
      expectConflict(await bot.post('/audit/event', audit, under(event)), 'idempotency_answer_erased');
      expectConflict(
        await bot.post('/consents/accept', acceptance, under(accept)),
        'idempotency_answer_erased',
      );
    };
    await expectErased();
    // The user has another key then.
    await bot.hasConsent(who);
    await expectErased();
  });

  it('what is stored of an acceptance names the user to the key of the user only', async () => {
    await bot.hasRequest(who);
    await bot.post('/consents/accept', { ...who, consent_version: '1.0' }, under(newKey()));
    const [row] = await service.database.rows<{ id: string; answer: string }>(
      'SELECT id, answer FROM idempotency_keys WHERE bot_id = ?',
      bot.id,
    );
    const stored = service.stored(bot, who);
    expect(JSON.stringify(row)).not.toContain(stored.user_id);
    const [key] = await keyIds(`subjects WHERE bot_id = '${bot.id}'`, 'key_id');
    expect(encryptedBy(row?.answer ?? '')).toBe(key);
  });

  it('an answer that an earlier version has stored is 409 idempotency_answer_erased too, and nothing is done twice', async () => {
    await consented();
    const [key, before] = [newKey(), await bot.eventTypes(who)];
    await submitted(key);
    const [row] = await service.database.rows<{ id: string }>(
      'SELECT id FROM idempotency_keys WHERE bot_id = ?',
      bot.id,
    );
    const { installation } = service.app.get(InstallationKeys);
    const older = installation.encrypt('"2026-01-01"', `idempotency_keys/${bot.id}/${row?.id}`);
    await service.database.run('UPDATE idempotency_keys SET answer = ? WHERE bot_id = ?', older, bot.id);
    expectConflict(await submitted(key), 'idempotency_answer_erased');
    expect(await bot.eventTypes(who)).toHaveLength(before.length + 1);
  });

  it('the answers about other users stay', async () => {
    await consented();
    const other = { ...subject(), guild_id: who.guild_id };
    await bot.hasConsent(other);
    const key = newKey();
    await submitted(key, { value: 'a' }, other);
    await bot.hasForgotten(who);
    expect(replayed(await submitted(key, { value: 'a' }, other))).toBe(true);
  });

  it('the repeat of forget-user erases nothing that was stored since', async () => {
    await consented();
    const key = newKey();
    const forget = () => bot.post<{ request_id: string }>('/gdpr/forget-user', who, under(key));
    const first = await forget();
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'new' });
    const second = await forget();
    expect([replayed(second), second.text]).toStrictEqual([true, first.text]);
    expect((await bot.export(who)).status).toBe(200);
    expectConflict(await bot.post('/gdpr/forget-user', subject(), under(key)), 'idempotency_key_reused');
  });

  it('the repeat of forget-user in all guilds answers every request with its salt', async () => {
    await bot.hasCategory('profile');
    const guilds = [who, { ...who, guild_id: snowflake() }, { ...who, guild_id: snowflake() }];
    for (const each of guilds) await bot.hasConsent(each);
    const key = newKey();
    const forget = () =>
      bot.post<{ requests: Json[] }>(
        '/gdpr/forget-user',
        { user_id: who.user_id, scope: 'all_guilds' },
        under(key),
      );
    const first = await forget();
    expect(first.data.requests).toHaveLength(3);
    await bot.hasConsent(who);
    const second = await forget();
    expect([replayed(second), second.text]).toStrictEqual([true, first.text]);
    expect((await bot.status(who)).data).toMatchObject({ status: 'accepted' });
  });

  it('the repeat of an interrupted forget-user in all guilds erases no guild twice', async () => {
    await bot.hasCategory('profile');
    const second = { ...who, guild_id: snowflake() };
    for (const each of [who, second]) await bot.hasConsent(each);
    const key = newKey();
    const forget = () =>
      bot.post<{ requests: { guild_id: string; request_id: string }[] }>(
        '/gdpr/forget-user',
        { user_id: who.user_id, scope: 'all_guilds' },
        under(key),
      );
    // The second guild fails.
    const erasures = service.app.get(ErasureService, { strict: false });
    const inTurn = jest.spyOn(erasures, 'eraseInTurn').mockRejectedValue(new Error('injected'));
    const { status, error } = await forget();
    expect([status, error?.details?.['requests']]).toStrictEqual([500, [expect.anything()]]);
    inTurn.mockRestore();
    const { data: before } = await bot.status(who);
    const erased = before['status'] === 'none' ? who : second;
    await bot.hasConsent(erased, '2');
    const { requests } = (await forget()).data;
    expect(requests.map(({ guild_id }) => guild_id).sort()).toStrictEqual(
      [who.guild_id, second.guild_id].sort(),
    );
    expect((await bot.status(erased)).data).toMatchObject({ status: 'accepted', version: '2' });
    const repeat = await forget();
    expect([replayed(repeat), repeat.data.requests]).toStrictEqual([true, requests]);
  });

  it('of a user without anything held, in all guilds, is replayed too', async () => {
    const key = newKey();
    const forget = () =>
      bot.post('/gdpr/forget-user', { user_id: who.user_id, scope: 'all_guilds' }, under(key));
    const first = await forget();
    await bot.hasConsent(who);
    expect((await forget()).text).toBe(first.text);
    expect((await bot.status(who)).data).toMatchObject({ status: 'accepted' });
  });
});

describe('what is stored', () => {
  it('holds no id, no key of the caller, no value, no detail and no secret in plain', async () => {
    await consented();
    const key = `user:${who.user_id}`;
    await bot.post(
      '/audit/event',
      { ...who, event_type: 'data_exported', details: { note: 'sesame' } },
      under(key),
    );
    await submitted(key, { value: 'sesame' });
    await bot.hasRequest(who, '2');
    await bot.post('/consents/accept', { ...who, consent_version: '2' }, under(key));
    await bot.post('/servers/register', { guild_id: who.guild_id, name: 'sesame' }, under(key));
    const secret = await bot.post<{ webhook_secret: string }>(
      `/bots/${bot.id}/webhook-secret/rotate`,
      {},
      under(key),
    );
    const forget = { ...subject(), guild_id: who.guild_id };
    const salt = await bot.post<{ certificate_salt: string }>('/gdpr/forget-user', forget, under(key));
    await bot.post('/consents/revoke', who, under(key));
    const rows = await service.database.rows('SELECT * FROM idempotency_keys WHERE bot_id = ?', bot.id);
    expect(rows).toHaveLength(7);
    const text = JSON.stringify(rows);
    for (const plain of [
      ...[who.user_id, who.guild_id, forget.user_id, 'sesame', 'user:', bot.name],
      ...[secret.data.webhook_secret, salt.data.certificate_salt],
    ])
      expect(text).not.toContain(plain);
  });

  it('is small, however long the answer is', async () => {
    const description = 'x'.repeat(5_000);
    for (let at = 0; at < 5; at++)
      await bot.post(
        '/data/register',
        { key: `c${at}`, ...labels, description, fields: [field('value')] },
        under(newKey()),
      );
    const categories = ['c0', 'c1', 'c2', 'c3', 'c4'];
    await bot.post(
      '/consents/texts',
      { consent_version: '1', language: 'en', title: 'a', body: description },
      under(newKey()),
    );
    await bot.post('/consents/request', { ...who, categories, consent_version: '1' }, under(newKey()));
    await bot.post('/consents/accept', { ...who, consent_version: '1' }, under(newKey()));
    const rows = await service.database.rows<{ answer: string }>(
      'SELECT answer FROM idempotency_keys WHERE bot_id = ?',
      bot.id,
    );
    expect(rows).toHaveLength(8);
    expect(Math.max(...rows.map(({ answer }) => answer.length))).toBeLessThan(2_000);
  });

  it('is small, however many guilds an erasure is about', async () => {
    const longest = async (guilds: number): Promise<number> => {
      const { user_id } = subject();
      for (let at = 0; at < guilds; at++) await bot.hasConsent({ user_id, guild_id: snowflake() });
      await service.database.run('DELETE FROM idempotency_keys WHERE bot_id = ?', bot.id);
      const key = newKey();
      const forget = () =>
        bot.post<{ requests: Json[] }>('/gdpr/forget-user', { user_id, scope: 'all_guilds' }, under(key));
      const first = await forget();
      expect(first.data.requests).toHaveLength(guilds);
      const second = await forget();
      expect([replayed(second), second.text]).toStrictEqual([true, first.text]);
      const rows = await service.database.rows<{ answer: string }>(
        'SELECT answer FROM idempotency_keys WHERE bot_id = ?',
        bot.id,
      );
      return Math.max(...rows.map(({ answer }) => answer.length));
    };
    expect(await longest(10)).toBe(await longest(1));
  });

  it('is deleted with the bot', async () => {
    await bot.post('/webhooks/test', undefined, under('a'));
    await bot.delete(`/bots/${bot.id}`);
    expect(await service.database.rows('SELECT 1 FROM idempotency_keys WHERE bot_id = ?', bot.id)).toEqual(
      [],
    );
  });
});

describe('after 24 hours', () => {
  const age = (hours: number) =>
    service.database.run(
      'UPDATE idempotency_keys SET created_at = ? WHERE bot_id = ?',
      ago(hours * 3_600_000),
      bot.id,
    );
  const left = async () =>
    (await service.database.rows('SELECT 1 FROM idempotency_keys WHERE bot_id = ?', bot.id)).length;

  it('a key is new again, with any body', async () => {
    await consented();
    const key = newKey();
    await submitted(key);
    await age(23.9);
    expect(replayed(await submitted(key))).toBe(true);
    await age(24.1);
    const again = await submitted(key, { value: 'b' });
    expect([again.status, replayed(again)]).toStrictEqual([200, false]);
    expect(replayed(await submitted(key, { value: 'b' }))).toBe(true);
  });

  it('the job removes it, and not earlier', async () => {
    for (let at = 0; at < 3; at++) await bot.post('/webhooks/test', undefined, under(newKey()));
    await age(23.9);
    // Nothing to remove is a place at which a stopped run ends.
    const search = service.app.get(IdempotencyRetention).batches(bot.id);
    expect(await search.next(0)).toStrictEqual({ done: false, value: undefined });
    await runNow(service, IdempotencyRetention);
    expect(await left()).toBe(3);
    await age(24.1);
    await runNow(service, IdempotencyRetention);
    expect(await left()).toBe(0);
  });
});
