import { type Bot, field } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { atDepth, itInPart } from '../support/depth';
import { expectFailure } from '../support/expected';
import { useService } from '../support/shared-service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';

const service = useService();
let bot: Bot;
let who: SubjectIds;
beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
});

const times = <T>(count: number, act: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)));

/** How often each status was answered. */
function tally(answers: readonly Answer<unknown>[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const submit = (data: Json, more: Json = {}) =>
  bot.post('/data/submit', { ...who, category: 'profile', data, ...more });

/** Plays the audit log, which is in commit order, through the state machine of the contract. */
function illegalMoves(types: readonly string[]): string[] {
  const faults: string[] = [];
  let state = 'none';
  for (const [at, type] of types.entries()) {
    const legal: Record<string, readonly string[]> = {
      consent_requested: ['none', 'pending', 'revoked', 'accepted'],
      consent_accepted: ['pending'],
      consent_revoked: ['accepted'],
      data_submitted: ['accepted'],
    };
    if (legal[type] !== undefined && !legal[type].includes(state)) faults.push(`${at}: ${type} in ${state}`);
    if (type === 'consent_requested' && state !== 'accepted') state = 'pending';
    if (type === 'consent_accepted') state = 'accepted';
    if (type === 'consent_revoked') state = 'revoked';
    if (type === 'deletion_completed') state = 'none';
  }
  return faults;
}

/** Every event of the bot, oldest first; also shows that totals and pages agree. */
async function allEvents(query: string): Promise<string[]> {
  const types: string[] = [];
  for (let page = 1; ; page++) {
    const { data } = await bot.get<{ events: { event_type: string }[]; pagination: { total_count: number } }>(
      `/audit/events?${query}&page_size=100&page=${page}`,
    );
    types.push(...data.events.map((event) => event.event_type));
    if (data.events.length < 100) {
      expect(types).toHaveLength(data.pagination.total_count);
      return types.reverse();
    }
  }
}

describe('of identical requests at the same moment', () => {
  it('one of 20 registrations is answered 201, with a key that works, the others 409', async () => {
    const body = { platform_bot_id: snowflake(), name: 'x' };
    const answers = await times(20, () =>
      service.anonymous.post<{ id: string; api_key: string }>('/bots/register', body),
    );
    expect(tally(answers)).toStrictEqual({ 201: 1, 409: 19 });
    const winner = answers.find(({ status }) => status === 201);
    const headers = { authorization: `Bearer ${winner?.data.api_key}` };
    expect((await service.anonymous.get(`/bots/${winner?.data.id}`, headers)).status).toBe(200);
  });

  it('one of 20 categories is answered 201, the others 409', async () => {
    const body = { key: 'profile', label_de: 'a', label_en: 'b', fields: [field('value')] };
    expect(tally(await times(20, () => bot.post('/data/register', body)))).toStrictEqual({ 201: 1, 409: 19 });
    expect((await bot.get('/data/categories')).data).toMatchObject({ pagination: { total_count: 1 } });
  });

  it('all of 20 servers are answered 201 with the one record', async () => {
    const answers = await times(20, () => bot.post('/servers/register', { guild_id: who.guild_id }));
    expect(tally(answers)).toStrictEqual({ 201: 20 });
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await bot.get('/servers')).data).toMatchObject({ pagination: { total_count: 1 } });
  });

  it('all of 20 consent requests are answered 201 with the one record and one event', async () => {
    const answers = await times(20, () => bot.post('/consents/request', { ...who, consent_version: '1' }));
    expect(tally(answers)).toStrictEqual({ 201: 20 });
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await bot.eventTypes(who)).toStrictEqual(['consent_requested']);
  });

  it('one of 20 acceptances is answered 200, the others 404', async () => {
    await bot.hasRequest(who);
    const answers = await times(20, () => bot.post('/consents/accept', { ...who, consent_version: '1.0' }));
    expect(tally(answers)).toStrictEqual({ 200: 1, 404: 19 });
    expect(await bot.eventTypes(who)).toStrictEqual(['consent_requested', 'consent_accepted']);
  });

  it('one of 20 revocations is answered 200, the others 404', async () => {
    await bot.hasConsent(who);
    expect(tally(await times(20, () => bot.post('/consents/revoke', who)))).toStrictEqual({
      200: 1,
      404: 19,
    });
    expect((await bot.eventTypes(who)).filter((type) => type === 'consent_revoked')).toHaveLength(1);
  });

  it('every deletion of a bot is answered 200, or 401 or 404 once the bot is deleted', async () => {
    const answers = await times(20, () => bot.delete(`/bots/${bot.id}`));
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    expect(answers.every(({ status }) => [200, 401, 404].includes(status))).toBe(true);
  });
});

describe('50 submits at the same moment', () => {
  beforeEach(async () => {
    await bot.hasCategory('profile', [
      field('value', 'number'),
      ...Array.from({ length: 49 }, (_, index) => field(`f${index}`, 'number')),
    ]);
    await bot.hasConsent(who);
  });

  it('are all answered 200 and on record, and what is stored is one of them whole', async () => {
    const answers = await times(50, (index) => submit({ value: index, f0: index }));
    expect(tally(answers)).toStrictEqual({ 200: 50 });
    const { profile } = (await bot.export<{ data: { profile: { value: number; f0: number } } }>(who)).data
      .data;
    expect(profile.f0).toBe(profile.value);
    expect((await bot.eventTypes(who)).filter((type) => type === 'data_submitted')).toHaveLength(50);
  });

  it('lose no key of a merge', async () => {
    const answers = await times(49, (index) => submit({ [`f${index}`]: index }, { mode: 'merge' }));
    expect(tally(answers)).toStrictEqual({ 200: 49 });
    const { profile } = (await bot.export<{ data: { profile: Record<string, number> } }>(who)).data.data;
    expect(profile).toStrictEqual(
      Object.fromEntries(Array.from({ length: 49 }, (_, index) => [`f${index}`, index])),
    );
  });

  it('by 50 users are each stored for the right one', async () => {
    const users = Array.from({ length: 50 }, () => subject());
    await Promise.all(users.map((user) => bot.hasConsent(user)));
    await Promise.all(users.map((user, index) => bot.hasData(user, 'profile', { value: index })));
    const stored = await Promise.all(users.map(async (user) => (await bot.export(user)).data['data']));
    expect(stored).toStrictEqual(users.map((_, index) => ({ profile: { value: index } })));
  });
});

describe('a storm of requests, acceptances, revocations and submits', () => {
  itInPart('makes legal moves only, and stores nothing while the consent is not accepted', async () => {
    await bot.hasCategory('profile');
    const acts = [
      () => bot.post('/consents/request', { ...who, consent_version: '1.0' }),
      () => bot.post('/consents/accept', { ...who, consent_version: '1.0' }),
      () => bot.post('/consents/revoke', who),
      () => submit({ value: 'x' }),
      () => submit({ value: 'y' }),
    ];
    const answers = (
      await times(8, async (client) => {
        const seen: Answer[] = [];
        for (let turn = 0; turn < atDepth(12, 25); turn++) {
          const act = acts[(client * 3 + turn * (1 + (client % 3))) % acts.length];
          if (act !== undefined) seen.push(await act());
        }
        return seen;
      })
    ).flat();
    expect(
      answers.filter(({ status }) => ![200, 201, 403, 404].includes(status)).map(({ text }) => text),
    ).toStrictEqual([]);
    const types = await allEvents(`user_id=${who.user_id}`);
    expect(illegalMoves(types)).toStrictEqual([]);
    expect(new Set(types)).toEqual(
      new Set(['consent_requested', 'consent_accepted', 'consent_revoked', 'data_submitted']),
    );
    const last = types.filter((type) => type.startsWith('consent_')).at(-1) ?? '';
    const states = { consent_requested: 'pending', consent_accepted: 'accepted', consent_revoked: 'revoked' };
    expect((await bot.status(who)).data['status']).toBe(states[last as keyof typeof states]);
  });

  itInPart('lets no submit through that began after the answer to a revocation', async () => {
    await bot.hasCategory('profile');
    for (let round = 0; round < atDepth(3, 10); round++) {
      await bot.hasConsent(who, `v${round}`);
      let revoked = false;
      const submits = times(10, async () => {
        for (let turn = 0; turn < 5; turn++) {
          const beganAfter = revoked;
          const answer = await submit({ value: 'x' });
          if (beganAfter) expectFailure(answer, 403, 'consent_required');
        }
      });
      await bot.hasRevoked(who);
      revoked = true;
      await submits;
      expectFailure(await submit({ value: 'x' }), 403, 'consent_required');
    }
    expect(illegalMoves(await allEvents(`user_id=${who.user_id}`))).toStrictEqual([]);
  });
});

describe('an erasure during submits', () => {
  function rowsOf(user: SubjectIds): Promise<number[]> {
    const { user_id: userId } = service.stored(bot, user);
    return Promise.all(
      ['user_data', 'consents', 'consent_history', 'subjects'].map(
        async (table) =>
          (await service.database.rows(`SELECT 1 FROM ${table} WHERE user_id = ?`, userId)).length,
      ),
    );
  }

  it('leaves nothing: no row, no export, and every later submit is 403', async () => {
    await bot.hasCategory('profile');
    await bot.hasConsent(who);
    expect(await rowsOf(who)).toStrictEqual([0, 1, 2, 1]);
    const submits = times(10, async (client) => {
      const seen: Answer[] = [];
      for (let turn = 0; turn < 10; turn++) seen.push(await submit({ value: `${client}.${turn}` }));
      return seen;
    });
    const erased = await bot.post<{ status: string }>('/gdpr/forget-user', who);
    expect(erased.data.status).toBe('completed');
    const answers = (await submits).flat();
    expect(answers.every(({ status }) => status === 200 || status === 403)).toBe(true);
    expect(await rowsOf(who)).toStrictEqual([0, 0, 0, 0]);
    expectFailure(await bot.export(who), 404, 'not_found');
    expect(illegalMoves(await allEvents(`user_id=${who.user_id}`))).toStrictEqual([]);
  });

  it('shows no earlier value to an export that is answered after it', async () => {
    await bot.hasCategory('profile');
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'earlier' });
    let erased = false;
    const exports = times(10, async () => {
      for (let turn = 0; turn < 5; turn++) {
        const beganAfter = erased;
        const answer = await bot.export(who);
        if (beganAfter) expectFailure(answer, 404, 'not_found');
      }
    });
    await bot.hasForgotten(who);
    erased = true;
    await exports;
  });

  it('of a whole bot leaves no row and no request answered with a fault', async () => {
    await bot.hasCategory('profile');
    const users = Array.from({ length: 10 }, () => subject());
    for (const user of users) await bot.hasConsent(user);
    const submits = times(10, async (client) => {
      const seen: Answer[] = [];
      for (let turn = 0; turn < 10; turn++) seen.push(await submit({ value: 'x' }, { ...users[client] }));
      return seen;
    });
    expect((await bot.delete(`/bots/${bot.id}`)).status).toBe(200);
    const answers = (await submits).flat();
    expect(
      answers.filter(({ status }) => ![200, 401].includes(status)).map(({ text }) => text),
    ).toStrictEqual([]);
    for (const user of users) expect(await rowsOf(user)).toStrictEqual([0, 0, 0, 0]);
  });
});

describe('readers beside writers', () => {
  it('see whole states: lists and their totals always agree', async () => {
    let writing = true;
    const writers = times(5, async () => {
      for (let turn = 0; turn < 20; turn++)
        await bot.post('/audit/event', { ...who, event_type: 'data_exported', details: { turn } });
    }).finally(() => (writing = false));
    while (writing) {
      const { data } = await bot.get<{ events: unknown[]; pagination: { total_count: number } }>(
        '/audit/events?page_size=100',
      );
      expect(data.events).toHaveLength(data.pagination.total_count);
    }
    await writers;
    expect(await allEvents('')).toHaveLength(100);
  });
});
