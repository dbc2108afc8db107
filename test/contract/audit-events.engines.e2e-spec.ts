import { Clock } from '@app/kernel';
import { ERASED_ID } from '@app/crypto';
import type { Bot } from '../support/bot';
import type { Json } from '../support/client';
import { damaged } from '../support/damaged';
import { auditEvent, expectFailure, expectFaults, expectSuccess, pagination } from '../support/expected';
import {
  ABSENT,
  BAD_PAGE_SIZES,
  BAD_PAGES,
  BAD_SNOWFLAKE_TEXTS,
  BAD_SNOWFLAKES,
  type Case,
  GOOD_SNOWFLAKES,
  itRefuses,
  itTakes,
} from '../support/inputs';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject } from '../support/snowflakes';

const service = useServiceInProcess();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot();
});

const EVENT_TYPES = [
  'consent_requested',
  'consent_accepted',
  'consent_revoked',
  'data_submitted',
  'data_exported',
  'data_deleted',
  'deletion_requested',
  'deletion_completed',
  'deletion_failed',
] as const;

const write = (body: unknown) => bot.post('/audit/event', body);
const valid = (): Json => ({
  ...subject(),
  event_type: 'data_exported',
  details: { reason: 'asked by mail' },
});

interface Events {
  readonly events: readonly Record<string, string>[];
}
const list = async (query = '') => (await bot.get<Events>(`/audit/events?${query}`)).data;

describe('POST /api/v1/audit/event', () => {
  it("answers 201 with the event, marked as the client's own", async () => {
    const who = subject();
    const details = { reason: 'asked by mail', list: [1, 'two', null, true], nested: { a: {} } };
    const answer = await write({ ...who, event_type: 'data_exported', details });
    expectSuccess(answer, 201, auditEvent(who, 'data_exported', { source: 'client', details }));
  });

  it.each(EVENT_TYPES)(
    "answers 201 to an event of the type %s, which cannot pass for the service's own",
    async (type) => {
      const who = subject();
      const answer = await write({ ...who, event_type: type, source: 'service' });
      expectSuccess(answer, 201, auditEvent(who, type, { source: 'client' }));
      expect((await list()).events).toStrictEqual([answer.data]);
    },
  );

  it.each(['user_id', 'guild_id'])('takes a %s of twenty zeros for the id that it is', async (name) => {
    const who = { ...subject(), [name]: ERASED_ID };
    expect((await write({ ...who, event_type: 'data_exported' })).data).toMatchObject(who);
    await bot.hasRequest(who);
    const accepted = await bot.post('/consents/accept', { ...who, consent_version: '1.0' });
    expect(accepted.data).toMatchObject(who);
    const { events } = await list();
    expect(events.map(({ user_id, guild_id }) => ({ user_id, guild_id }))).toStrictEqual([who, who, who]);
  });

  it.each(ABSENT)('answers details null where they are %s', async (_, details) => {
    expect((await write({ ...valid(), details })).data).toMatchObject({ details: null });
  });

  it('takes id, source and created_at from no caller', async () => {
    const given = {
      id: bot.id,
      created_at: '2000-01-01T00:00:00.000Z',
      source: 'service',
      bot_id: snowflake(),
    };
    const { data } = await write({ ...valid(), ...given });
    expect(data).toMatchObject({ source: 'client' });
    expect(data['id']).not.toBe(given.id);
    expect(data['created_at']).not.toBe(given.created_at);
    expect(data).not.toHaveProperty('bot_id');
  });

  it('keeps keys of details that JavaScript has other ideas about, and their order', async () => {
    const details = '{"zebra":1,"__proto__":{"toString":"x"},"constructor":[],"aardvark":2,"10":1,"9":2}';
    const raw = JSON.stringify({ ...valid(), details: 0 }).replace('"details":0', `"details":${details}`);
    const headers = { 'content-type': 'application/json' };
    const answer = await bot.send('POST', '/api/v1/audit/event', { headers, raw });
    expect(answer.status).toBe(201);
    const written = JSON.stringify(JSON.parse(details));
    expect(answer.text).toContain(`"details":${written}`);
    expect((await bot.get('/audit/events')).text).toContain(`"details":${written}`);
  });

  it('takes details of 8 KiB as JSON and answers 413 one byte above', async () => {
    const details = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) });
    expect((await write({ ...valid(), details: details(8192) })).status).toBe(201);
    expectFailure(await write({ ...valid(), details: details(8193) }), 413, 'payload_too_large');
  });

  it('writes nothing when it refuses', async () => {
    await write({ ...valid(), event_type: 'x' });
    await write({ ...valid(), details: { text: 'x'.repeat(9000) } });
    expectSuccess(await bot.get('/audit/events'), 200, { events: [], pagination: pagination(1, 20, 0) });
  });

  it('names every bad field at once', async () => {
    const answer = await write({ user_id: 1, event_type: 'x', details: [] });
    expectFaults(answer, 'user_id', 'guild_id', 'event_type', 'details');
  });

  it('answers 401 without a key', async () => {
    expectFailure(await service.anonymous.post('/audit/event', valid()), 401, 'unauthorized');
  });

  itRefuses('user_id', BAD_SNOWFLAKES, write, valid);
  itTakes('user_id', GOOD_SNOWFLAKES, write, valid, 201);
  itRefuses('guild_id', BAD_SNOWFLAKES, write, valid);
  itTakes('guild_id', GOOD_SNOWFLAKES, write, valid, 201);
  itRefuses(
    'event_type',
    [
      ...ABSENT,
      ['unknown', 'data_read'],
      ['upper case', 'DATA_EXPORTED'],
      ['empty', ''],
      ['a number', 1],
      ['an array', ['data_exported']],
      ['a name of Object.prototype', 'constructor'],
    ],
    write,
    valid,
  );
  itRefuses(
    'details',
    [
      ['an array', [1]],
      ['a text', 'x'],
      ['a number', 1],
      ['a boolean', false],
    ],
    write,
    valid,
  );
});

describe('GET /api/v1/audit/events', () => {
  it('answers 200 with an empty list and no pages before the first event', async () => {
    expectSuccess(await bot.get('/audit/events'), 200, { events: [], pagination: pagination(1, 20, 0) });
  });

  it.each([
    ['stands still', () => '2026-01-01T00:00:00.000Z'],
    ['runs backwards', (count: number) => `2026-01-01T00:00:00.${String(999 - count).padStart(3, '0')}Z`],
  ])('answers 200 newest first, in commit order also while the clock %s', async (_, time) => {
    const who = subject();
    const clock = jest.spyOn(service.app.get(Clock), 'nowIso');
    const written: unknown[] = [];
    for (let count = 0; count < 30; count++) {
      clock.mockReturnValue(time(count));
      written.unshift((await write({ ...who, event_type: 'data_exported', details: { count } })).data);
    }
    clock.mockRestore();
    expect(await list('page_size=100')).toStrictEqual({
      events: written,
      pagination: pagination(1, 100, 30),
    });
  });

  it('answers 200 with 20 on a page, every event once over the pages', async () => {
    for (let count = 0; count < 23; count++) await write(valid());
    const [first, second, third] = [await list(), await list('page=2'), await list('page=3')];
    expect([first, second, third].map(({ events }) => events.length)).toStrictEqual([20, 3, 0]);
    expect(third).toMatchObject({ pagination: pagination(3, 20, 23) });
    expect(new Set([...first.events, ...second.events].map((event) => event['id'])).size).toBe(23);
  });

  it('answers 200 at once far past the end', async () => {
    await write(valid());
    const answer = await bot.get('/audit/events?page=999999999&page_size=100');
    expectSuccess(answer, 200, { events: [], pagination: pagination(999999999, 100, 1) });
  });

  it.each(['9007199254740992', '12345678901234567890'])(
    'answers 400 with the largest page to page %s',
    async (page) => {
      const answer = await bot.get(`/audit/events?page=${page}`);
      expectFaults(answer, 'page');
      expect(answer.error.message).toContain('to 9007199254740991');
    },
  );

  describe('with filters', () => {
    const [userA, userB, guildA, guildB] = [snowflake(), snowflake(), snowflake(), snowflake()];
    const rows: Record<string, string>[] = [userA, userB].flatMap((user_id) =>
      [guildA, guildB].flatMap((guild_id) =>
        ['data_exported', 'data_deleted'].map((event_type) => ({ user_id, guild_id, event_type })),
      ),
    );

    it.each<[string, Record<string, string>]>([
      ['user_id', { user_id: userA }],
      ['guild_id', { guild_id: guildB }],
      ['event_type', { event_type: 'data_deleted' }],
      ['user_id and guild_id', { user_id: userA, guild_id: guildB }],
      ['user_id and event_type', { user_id: userB, event_type: 'data_exported' }],
      ['guild_id and event_type', { guild_id: guildA, event_type: 'data_deleted' }],
      ['all three', { user_id: userB, guild_id: guildA, event_type: 'data_deleted' }],
      ['a user without events', { user_id: guildA }],
      ['a guild without events', { guild_id: userA }],
      ['a type without events', { event_type: 'deletion_failed' }],
    ])('answers 200 with exactly the events of %s, and their total', async (_, filter) => {
      for (const row of rows) await write(row);
      const expected = rows
        .filter((row) => Object.entries(filter).every(([key, value]) => row[key] === value))
        .reverse();
      const answer = await list(`${new URLSearchParams(filter).toString()}&page_size=100`);
      expect(
        answer.events.map(({ user_id, guild_id, event_type }) => ({ user_id, guild_id, event_type })),
      ).toStrictEqual(expected);
      expect(answer).toMatchObject({ pagination: pagination(1, 100, expected.length) });
    });
  });

  it('shows and counts no event of another bot, whatever the filter', async () => {
    const who = subject();
    await (await service.registerBot()).post('/audit/event', { ...who, event_type: 'data_exported' });
    for (const query of [
      '',
      `user_id=${who.user_id}`,
      `guild_id=${who.guild_id}`,
      'event_type=data_exported',
    ])
      expect(await list(query)).toStrictEqual({ events: [], pagination: pagination(1, 20, 0) });
  });

  it.each(['user_id', 'guild_id'])('answers 400 naming %s when it is malformed', async (name) => {
    for (const [, text] of [...BAD_SNOWFLAKE_TEXTS, ['empty', '']] as Case[])
      expectFaults(await bot.get(`/audit/events?${name}=${encodeURIComponent(String(text))}`), name);
  });

  it.each(['x', '', 'DATA_EXPORTED', 'constructor', '%25', '_'])(
    'answers 400 naming event_type %j',
    async (type) => {
      expectFaults(await bot.get(`/audit/events?event_type=${type}`), 'event_type');
    },
  );

  it.each(BAD_PAGES)('answers 400 naming page (%s)', async (_, page) => {
    expectFaults(await bot.get(`/audit/events?page=${String(page)}`), 'page');
  });

  it.each(BAD_PAGE_SIZES)('answers 400 naming page_size (%s)', async (_, size) => {
    expectFaults(await bot.get(`/audit/events?page_size=${String(size)}`), 'page_size');
  });

  it('answers 200 with every event where some, or the keys of their users, are damaged, and says which cannot be opened', async () => {
    const ofUser = 'user_id = ?';
    const ofKey = 'id = (SELECT key_id FROM subjects WHERE user_id = ?)';
    const [details, sealed] = [
      ['audit_events', 'details', ofUser],
      ['keys.subject_keys', 'sealed', ofKey],
    ] as const;
    // Only an event that names its key tells its user.
    const damages: readonly [typeof details | typeof sealed, (text: string) => string, named?: 'named'][] = [
      [details, damaged, 'named'],
      [details, (text) => `x${text.slice(1)}`],
      [details, () => '{"reason":"not encrypted"}'],
      [sealed, damaged],
      [sealed, (text) => text.replace(/\.[\w-]{8}\./, '.AAAAAAAA.')],
    ];
    const expected: object[] = [];
    for (const [[table, column, where], damage, named] of damages) {
      const who = subject();
      const { user_id: userId } = service.stored(bot, who);
      await write({ ...valid(), ...who });
      const [row] = await service.database.rows<{ text: string }>(
        `SELECT ${column} AS text FROM ${table} WHERE ${where}`,
        userId,
      );
      const text = damage(row?.text ?? '');
      expect(text).not.toBe(row?.text);
      await service.database.run(`UPDATE ${table} SET ${column} = ? WHERE ${where}`, text, userId);
      expected.unshift({ user_id: named ? who.user_id : ERASED_ID, details: null, unreadable: true });
    }
    const lost = subject();
    await write({ ...valid(), ...lost });
    await service.database.run(
      `DELETE FROM keys.subject_keys WHERE ${ofKey}`,
      service.stored(bot, lost).user_id,
    );
    expected.unshift({ user_id: ERASED_ID, details: null, unreadable: true });
    // Another key than that of the user, which nothing but the check of the log tells from an erased one.
    const exchanged = subject();
    await write({ ...valid(), ...exchanged });
    await service.database.run(
      `UPDATE audit_events SET details = 's2.AAAAAAAAAAAA.' || substr(details, 17) WHERE user_id = ?`,
      service.stored(bot, exchanged).user_id,
    );
    expected.unshift({ user_id: ERASED_ID, details: null, erased: true });
    const [whole, bare] = [subject(), subject()];
    await write({ ...valid(), ...whole });
    expected.unshift({ user_id: whole.user_id, details: { reason: 'asked by mail' } });
    await write({ ...bare, event_type: 'data_exported' });
    expected.unshift({ user_id: bare.user_id, details: null });
    // A key that was opened before is not opened again.
    await service.restart();
    const { events } = await list();
    const shown = events.map(({ user_id, details, unreadable, erased }) => ({
      ...{ user_id, details, unreadable, erased },
    }));
    expect(shown).toEqual(expected);
    const told = service.logLines.filter((line) => line.includes('cannot be read'));
    expect(told).toHaveLength(damages.length + 1);
    expect(told.join()).not.toMatch(/\d{17,20}/);
  });

  it('answers 401 without a key', async () => {
    expectFailure(await service.anonymous.get('/audit/events'), 401, 'unauthorized');
  });
});

describe("the service's own events", () => {
  it('are written once per act that took effect, in the order of the acts', async () => {
    const who = subject();
    await bot.hasCategory('profile');
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'x' });
    expect((await bot.export(who)).status).toBe(200);
    await bot.hasRevoked(who);
    const { events } = await list(`user_id=${who.user_id}`);
    const types = [
      'consent_requested',
      'consent_accepted',
      'data_submitted',
      'data_exported',
      'consent_revoked',
    ];
    expect(events.map((event) => event['event_type']).reverse()).toStrictEqual(types);
    expect(events).toStrictEqual(
      types.reverse().map((type) => auditEvent(who, type, { details: expect.anything() as unknown })),
    );
  });

  it('hold no value that was stored', async () => {
    const who = subject();
    await bot.hasCategory('profile');
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'marker-value' });
    await bot.export(who);
    expect(JSON.stringify(await list())).not.toContain('marker-value');
  });

  it('are not written for an act that was refused', async () => {
    const who = subject();
    await bot.hasCategory('profile');
    expectFailure(
      await bot.post('/data/submit', { ...who, category: 'profile', data: {} }),
      403,
      'consent_required',
    );
    expectFailure(await bot.post('/consents/accept', { ...who, consent_version: '1' }), 404, 'not_found');
    expectFailure(await bot.post('/consents/revoke', who), 404, 'not_found');
    expectFailure(await bot.export(who), 404, 'not_found');
    expectSuccess(await bot.get('/audit/events'), 200, { events: [], pagination: pagination(1, 20, 0) });
  });

  it('are written once for a consent asked for twice', async () => {
    const who = subject();
    await bot.hasRequest(who, '1');
    await bot.hasRequest(who, '1');
    expect(await bot.eventTypes(who)).toStrictEqual(['consent_requested']);
  });
});
