import { ErasureLedger } from '@app/gdpr';
import { JobRunner } from '@app/database';
import { Clock, Degradations } from '@app/kernel';
import { lastBackups, StorageSampling } from '@app/operations';
import type { Bot } from '../support/bot';
import { Client, type Json, PREFIX } from '../support/client';
import { engine } from '../support/database';
import { expectFailure, pagination } from '../support/expected';
import { UNKNOWN_UUID } from '../support/inputs';
import { runNow } from '../support/jobs';
import { CLOSED_ROUTES, OPERATOR_ROUTES } from '../support/routes';
import { Service, useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';
import { amidDay, stopWindows } from '../support/time';

const OPERATOR_TOKEN = 'an-operator-token-'.repeat(3);
const service = useServiceInProcess({
  OPERATOR_TOKEN,
  RATE_LIMIT_OPERATOR: '1000000',
  RATE_LIMIT_TIERS: 'free=1000000,standard=2000000,high=3000000',
});
let operator: Client;
let bot: Bot;
let who: SubjectIds;

beforeEach(async () => {
  operator = new Client(service.url, OPERATOR_TOKEN);
  bot = await service.registerBot({ name: 'Greeter' });
  await bot.hasCategory('profile');
  who = subject();
  await bot.hasConsent(who);
  await bot.hasData(who, 'profile', { value: 'Zebra' });
});
afterEach(() => jest.restoreAllMocks());

/** What the list shows of a bot. */
async function listed({ id }: Bot): Promise<Json | undefined> {
  const pages = Math.ceil(
    ((await operator.get('/operator/bots')).data['pagination'] as { total_count: number }).total_count / 100,
  );
  for (let page = 1; page <= pages; page++) {
    const { data } = await operator.get<{ bots: Json[] }>(`/operator/bots?page_size=100&page=${page}`);
    const found = data.bots.find((each) => each['id'] === id);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The lines of an export over HTTP. */
async function ledger(): Promise<{ readonly response: Response; readonly lines: string[] }> {
  const response = await fetch(`${service.url}${PREFIX}/operator/ledger`, {
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
  });
  return { response, lines: (await response.text()).trim().split('\n') };
}

describe.each(OPERATOR_ROUTES)('$method /api/v1$path', ({ method, path }) => {
  it.each([
    ['no header', {}],
    ['another token', { authorization: `Bearer ${OPERATOR_TOKEN}x` }],
    ['the beginning of the token', { authorization: `Bearer ${OPERATOR_TOKEN.slice(0, -1)}` }],
    ['the token in another case', { authorization: `Bearer ${OPERATOR_TOKEN.toUpperCase()}` }],
    ['the token alone', { authorization: OPERATOR_TOKEN }],
    ['the token as Basic', { authorization: `Basic ${OPERATOR_TOKEN}` }],
    [
      'the token in another header',
      { 'x-operator-token': OPERATOR_TOKEN, cookie: `token=${OPERATOR_TOKEN}` },
    ],
  ])('answers 401 for %s', async (_, headers) => {
    const answer = await service.anonymous.send(method, PREFIX + path, { headers });
    expectFailure(answer, 401, 'unauthorized');
    expect(answer.header('www-authenticate')).toBe('Bearer');
  });

  it('answers 401 for the API key of a bot, whatever its scopes, and 404 for another method', async () => {
    expectFailure(await bot.send(method, PREFIX + path), 401, 'unauthorized');
    expectFailure(await operator.send('DELETE', PREFIX + path), 404, 'not_found');
  });
});

describe('the token of the operator', () => {
  it.each(CLOSED_ROUTES)('opens no route of a bot: $method $path', async ({ method, path }) => {
    expectFailure(await operator.send(method, PREFIX + path), 401, 'unauthorized');
  });

  it('is in no line of the log and in no answer, whether it is right or almost right', async () => {
    const answers = [
      await operator.get('/operator/status'),
      await operator.get('/operator/findings'),
      await operator.get('/bots/me'),
      await new Client(service.url, `${OPERATOR_TOKEN}x`).get('/operator/status'),
    ];
    const said = service.logLines.join('\n') + answers.map(({ text }) => text).join('\n');
    expect(said).not.toContain(OPERATOR_TOKEN);
  });

  it('is counted in a bucket of its own, and others in that of their address', async () => {
    const small = await new Service({
      OPERATOR_TOKEN,
      RATE_LIMIT_OPERATOR: '3',
      RATE_LIMIT_ANONYMOUS: '5',
    }).start();
    stopWindows(small);
    try {
      const [right, wrong] = [new Client(small.url, OPERATOR_TOKEN), new Client(small.url, 'wrong')];
      for (let left = 2; left >= 0; left--) {
        const answer = await right.get('/operator/storage');
        expect([answer.status, answer.header('x-ratelimit-limit')]).toEqual([200, '3']);
        expect(answer.header('x-ratelimit-remaining')).toBe(String(left));
      }
      const refused = await right.get('/operator/storage');
      expectFailure(refused, 429, 'rate_limit_exceeded');
      expect(Number(refused.header('retry-after'))).toBeGreaterThan(0);
      for (let at = 0; at < 5; at++) expect((await wrong.get('/operator/storage')).status).toBe(401);
      expectFailure(await wrong.get('/operator/storage'), 429, 'rate_limit_exceeded');
      expectFailure(await right.get('/operator/storage'), 429, 'rate_limit_exceeded');
    } finally {
      await small.stop();
    }
  });

  it.each([
    ['is none', {}],
    ['is an empty one', { OPERATOR_TOKEN: '' }],
  ])('where there %s, every path is answered 404 like an unknown one, to everybody', async (_, settings) => {
    const without = await new Service(settings).start();
    try {
      const own = await without.registerBot();
      for (const { method, path } of OPERATOR_ROUTES)
        for (const client of [
          without.anonymous,
          own,
          new Client(without.url, OPERATOR_TOKEN),
          new Client(without.url, ''),
        ]) {
          const answer = await client.send(method, PREFIX + path);
          const unknown = await client.send(method, `${PREFIX}/operators${path}`);
          expect([path, answer.status, answer.text]).toEqual([path, 404, unknown.text]);
        }
    } finally {
      await without.stop();
    }
  });
});

describe('GET /operator/status', () => {
  it('answers 200 with versions, migrations, backlog and health, and names no user', async () => {
    const answer = await operator.get('/operator/status');
    expect(answer.data).toMatchObject({
      health: { status: 'ok', conditions: [] },
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      node: process.version,
      master_key: engine === 'sqlite' ? 'file' : 'environment',
      database: { engine, version: expect.stringMatching(/^\d+\.\d+/), bytes: expect.any(Number) },
      migrations: { applied: expect.any(Number), pending: [], unknown: [] },
      erasures: { processing: 0, oldest: null },
      backups: engine === 'sqlite' ? { data: null } : null,
    });
    for (const secret of [who.user_id, who.guild_id, 'Zebra', bot.key])
      expect(answer.text).not.toContain(secret);
    expect(answer.header('cache-control')).toBe('no-store');
  });

  it('says in words what readiness calls degraded, at once, and what to do', async () => {
    const known = [
      'rate_limit_local',
      'disk_low',
      'clock_step',
      'database_damaged',
      'log_failing',
      'erasure_unfinished',
      'key_file_missing',
    ];
    // A watch of the service would end what it does not see.
    jest.spyOn(service.app.get(Degradations), 'current', 'get').mockReturnValue([...known, 'another']);
    const { health } = (
      await operator.get<{ health: { status: string; conditions: Json[] } }>('/operator/status')
    ).data;
    expect([health.status, health.conditions.map(({ name }) => name)]).toEqual([
      'degraded',
      [...known, 'another'],
    ]);
    expect(new Set(health.conditions.map(({ says }) => says)).size).toBe(known.length + 1);
    for (const { mend } of health.conditions) expect(mend).toMatch(/\.$/);
  });

  it('reads the database once for all who ask at the same time', async () => {
    const { database } = service;
    const clock = service.app.get(Clock);
    const nowMs = clock.monotonicMs();
    // The reading that answers may be an earlier one, and its time end between two of these.
    jest.spyOn(clock, 'monotonicMs').mockReturnValue(nowMs);
    await database.run(`INSERT INTO migrations (timestamp, name) VALUES (1, 'OfANewerLethe')`);
    try {
      const read = async () => (await operator.get('/operator/status')).data;
      const first = await read();
      expect((await Promise.all([read(), read()])).map((each) => each['read_at'])).toEqual([
        first['read_at'],
        first['read_at'],
      ]);
      jest.spyOn(clock, 'monotonicMs').mockReturnValue(nowMs + 6_000);
      expect(await read()).toMatchObject({ migrations: { unknown: ['OfANewerLethe'] } });
    } finally {
      await database.run(`DELETE FROM migrations WHERE name = 'OfANewerLethe'`);
    }
  });
});

describe('GET /operator/findings', () => {
  it('answers what doctor finds, faults first, with what to do', async () => {
    const { findings } = (await operator.get<{ findings: Json[] }>('/operator/findings')).data;
    const levels = findings.map(({ level }) => level);
    expect(levels).toEqual([...levels].sort());
    if (engine === 'sqlite')
      expect(findings).toContainEqual(expect.objectContaining({ id: 'backup_missing', level: 'fault' }));
    for (const { says, mend } of findings)
      expect([says, mend]).toEqual([expect.stringMatching(/\.$/), expect.stringMatching(/\S/)]);
  });
});

describe('GET /operator/storage', () => {
  it('answers the size now and a sample for each day, of which the job writes one and keeps 400', async () => {
    await amidDay();
    const { database } = service;
    await database.run(`INSERT INTO storage_samples VALUES ('2020-01-01', 1, 1, 1)`);
    await database.run(`INSERT INTO storage_samples VALUES ('2999-01-01', 1, 1, 1)`);
    await database.run(`DELETE FROM storage_samples WHERE day > '2020-01-01' AND day < '2999-01-01'`);
    for (let runs = 0; runs < 2; runs++) await runNow(service, StorageSampling);
    await database.run(`DELETE FROM storage_samples WHERE day = '2999-01-01'`);
    const { bytes, disk, samples } = (
      await operator.get<Record<string, unknown> & { samples: Json[] }>('/operator/storage')
    ).data;
    expect(bytes).toBeGreaterThan(0);
    expect(disk === null).toBe(engine === 'postgres');
    expect(samples).toHaveLength(1);
    expect(samples[0]).toMatchObject({
      at: expect.stringMatching(/T00:00:00\.000Z$/),
      bytes: expect.any(Number),
    });
    expect(samples[0]?.['subjects']).toBeGreaterThan(0);
  });
});

describe('GET /operator/bots', () => {
  it('lists every bot with tier, state and size, in pages', async () => {
    expect(await listed(bot)).toMatchObject({
      platform_bot_id: bot.platformBotId,
      name: 'Greeter',
      state: 'active',
      suspended_at: null,
      tier: 'free',
      subjects: 1,
      values: 1,
    });
    const { data } = await operator.get<Json>('/operator/bots?page_size=1&page=100000');
    expect(data).toMatchObject({ bots: [], pagination: { page: 100_000, page_size: 1 } });
    const [{ total }] = (await service.database.rows('SELECT COUNT(*) AS total FROM bots')) as [
      { total: number },
    ];
    expect(data['pagination']).toEqual(pagination(100_000, 1, Number(total)));
  });

  it('is walked by its cursor, which no list of a bot takes', async () => {
    await service.registerBot();
    const { data } = await operator.get<Json>('/operator/bots?page_size=1');
    const [{ id: first }] = data['bots'] as [{ id: string }];
    const { next } = data['pagination'] as { next: string };
    const after = await operator.get<Json>(`/operator/bots?page_size=1&after=${next}`);
    const [{ id: second }] = after.data['bots'] as [{ id: string }];
    expect(second > first).toBe(true);
    expectFailure(await bot.get(`/servers?after=${next}`), 400, 'invalid_request');
  });

  it.each(['page=0', 'page_size=101', 'page=x'])('answers 400 for ?%s', async (query) => {
    expectFailure(await operator.get(`/operator/bots?${query}`), 400, 'invalid_request');
  });

  it('shows the last use of a key, and a bot that is being deleted', async () => {
    // A job would go on with the deletion.
    jest.spyOn(service.app.get(JobRunner), 'run').mockResolvedValue();
    const [used, deleted] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'];
    await service.database.run('UPDATE api_keys SET last_used_at = ? WHERE bot_id = ?', used, bot.id);
    expect(await listed(bot)).toMatchObject({ last_used_at: used });
    await service.database.run('UPDATE bots SET deleted_at = ? WHERE id = ?', deleted, bot.id);
    expect(await listed(bot)).toMatchObject({ state: 'deleting' });
    expectFailure(await operator.post(`/operator/bots/${bot.id}/suspend`), 404, 'not_found');
    await service.database.run('UPDATE bots SET deleted_at = NULL WHERE id = ?', bot.id);
  });
});

describe('POST /operator/bots/{id}/suspend and /resume, PUT /tier', () => {
  const submit = () => bot.post('/data/submit', { ...who, category: 'profile', data: { value: 'x' } });

  it('suspends and resumes a bot, from the answer on, a repeat without a change', async () => {
    expect((await submit()).status).toBe(200);
    const suspended = await operator.post(`/operator/bots/${bot.id}/suspend`);
    expect([suspended.status, suspended.data]).toMatchObject([200, { id: bot.id, state: 'suspended' }]);
    expectFailure(await submit(), 403, 'suspended');
    const again = await operator.post(`/operator/bots/${bot.id.toUpperCase()}/suspend`, {});
    expect(again.data['suspended_at']).toBe(suspended.data['suspended_at']);
    expect(await listed(bot)).toMatchObject({ state: 'suspended' });
    expect((await operator.get('/operator/status')).data).toMatchObject({ bots: { suspended: 1 } });
    for (let repeat = 0; repeat < 2; repeat++)
      expect((await operator.post(`/operator/bots/${bot.id}/resume`)).data).toMatchObject({
        state: 'active',
      });
    expect((await submit()).status).toBe(200);
    for (const act of ['has suspended a bot', 'has ended the suspension of a bot']) {
      const log = service.logLines.filter((line) => line.includes(`The operator ${act}`));
      expect(log.filter((line) => line.includes(bot.id) && line.includes('"isChanged":true'))).toHaveLength(
        1,
      );
      expect(log.filter((line) => line.includes(bot.id) && line.includes('"isChanged":false'))).toHaveLength(
        1,
      );
    }
  });

  it('changes the tier of a bot from the answer on, and gives it back to the settings', async () => {
    const limit = async () => (await bot.get('/bots/me')).header('x-ratelimit-limit');
    const before = await limit();
    for (let repeat = 0; repeat < 2; repeat++)
      expect((await operator.put(`/operator/bots/${bot.id}/tier`, { tier: 'high' })).data).toMatchObject({
        tier: 'high',
        stored_tier: 'high',
      });
    expect(await limit()).not.toBe(before);
    expect((await operator.put(`/operator/bots/${bot.id}/tier`, { tier: 'default' })).data).toMatchObject({
      tier: 'free',
      stored_tier: null,
    });
    expect(await limit()).toBe(before);
    const log = service.logLines.filter(
      (line) => line.includes('The operator has changed the tier') && line.includes(bot.id),
    );
    expect(log.map((line) => line.includes('"isChanged":true'))).toEqual([true, false, true]);
  });

  it.each(['gold', '', 'x'.repeat(65), null, 7])(
    'answers 400 for the tier %j and says which there are',
    async (tier) => {
      const refused = await operator.put(`/operator/bots/${bot.id}/tier`, { tier });
      expectFailure(refused, 400, 'invalid_request');
      if (tier === 'gold') expect(refused.text).toContain('free, standard, high, default');
      expect(await listed(bot)).toMatchObject({ tier: 'free', stored_tier: null });
    },
  );

  it('works while the disk is almost full', async () => {
    // A watch of the service would end what it does not see.
    jest.spyOn(service.app.get(Degradations), 'has').mockImplementation((name) => name === 'disk_low');
    const acts = [];
    for (const act of ['suspend', 'resume'])
      acts.push((await operator.post(`/operator/bots/${bot.id}/${act}`)).status);
    expect(acts).toEqual([200, 200]);
  });

  it('answers 404 for the tier of an unknown bot', async () => {
    const path = `/operator/bots/${UNKNOWN_UUID}/tier`;
    expectFailure(await operator.put(path, { tier: 'high' }), 404, 'not_found');
  });

  it.each(['suspend', 'resume'])('answers 404 for an unknown bot and 400 for no id: %s', async (act) => {
    expectFailure(await operator.post(`/operator/bots/${UNKNOWN_UUID}/${act}`), 404, 'not_found');
    expectFailure(await operator.post(`/operator/bots/x/${act}`), 400, 'invalid_request');
  });
});

describe('GET /operator/ledger', () => {
  const logged = (text: string): number => service.logLines.filter((line) => line.includes(text)).length;
  const downloads = (): number => logged('The operator has downloaded the ledger');
  const answers = (): number => logged('"/api/v1/operator/ledger"');

  it('answers the file of ledger:export, which an import takes, with digests in place of ids', async () => {
    await bot.hasForgotten(who);
    const { response, lines } = await ledger();
    expect([
      response.status,
      response.headers.get('content-type'),
      response.headers.get('cache-control'),
    ]).toEqual([...[200, 'application/x-ndjson', 'no-store']]);
    expect(lines.join()).not.toContain(who.user_id);
    const merged = await service.app.get(ErasureLedger).merge(async function* () {
      yield* lines;
    });
    expect(merged).toMatchObject({ added: 0, known: lines.length - 2 });
    expect(merged.known).toBeGreaterThan(0);
    await until(() => downloads() > 0);
    if (engine === 'sqlite') await until(() => lastBackups(service.databasePath).ledger !== undefined);
  });

  it('records no download for HEAD, which makes no ledger', async () => {
    const pieces = jest.spyOn(service.app.get(ErasureLedger), 'pieces');
    const before = downloads();
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const response = await fetch(`${service.url}${PREFIX}/operator/ledger`, { method: 'HEAD', headers });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
    expect(pieces).not.toHaveBeenCalled();
    // Its answer ends this request before the next one.
    await operator.get('/operator/storage');
    expect(downloads()).toBe(before);
  });

  it('records no download whose reader goes away before its end', async () => {
    jest.spyOn(service.app.get(ErasureLedger), 'pieces').mockImplementation(async function* () {
      yield 'x'.repeat(64 * 1_048_576);
    });
    const [before, answered] = [downloads(), answers()];
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const leaving = new AbortController();
    await fetch(`${service.url}${PREFIX}/operator/ledger`, { headers, signal: leaving.signal });
    leaving.abort();
    await until(() => answers() > answered);
    expect(downloads()).toBe(before);
  });
});
