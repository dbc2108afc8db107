import type { Bot } from '../support/bot';
import type { Json } from '../support/client';
import { A_TIME, consentStatus, expectFailure, expectFaults, expectSuccess } from '../support/expected';
import { useService } from '../support/shared-service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';

const service = useService();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot();
  await bot.hasCategory('profile');
  await bot.hasCategory('notes');
});

interface Listed {
  readonly users: readonly (Json & SubjectIds)[];
  readonly pagination: { readonly page_size: number; readonly next: string | null };
}

const list = (query = '', of: Bot = bot) => of.get<Listed>(`/users?${query}`);
const names = ({ users }: Listed) => users.map(({ user_id, guild_id }) => `${user_id} ${guild_id}`);
const nameOf = ({ user_id, guild_id }: SubjectIds) => `${user_id} ${guild_id}`;
const sorted = (those: readonly SubjectIds[]) => those.map(nameOf).sort();
const people = (count: number, guild?: string): SubjectIds[] =>
  Array.from({ length: count }, () => ({ ...subject(), ...(guild !== undefined && { guild_id: guild }) }));

/** The names on all pages, in their order. */
async function walked(query = '', onPage?: (page: Listed) => Promise<void>): Promise<string[]> {
  const found: string[] = [];
  for (let next: string | null | undefined; next !== null;) {
    const { data } = await list(`${query}${next === undefined ? '' : `&after=${next}`}`);
    found.push(...names(data));
    await onPage?.(data);
    next = data.pagination.next;
  }
  return found;
}

/** Erases the row of the key, as a damaged file would. */
const losesKey = async (who: SubjectIds) => {
  const { guild_id, user_id } = service.stored(bot, who);
  await service.database.run(
    `UPDATE subjects SET key_id = 'lost' WHERE bot_id = ? AND guild_id = ? AND user_id = ?`,
    ...[bot.id, guild_id, user_id],
  );
};

describe('GET /api/v1/users', () => {
  it('answers for each user what GET /consents/status answers, with the time of the last act', async () => {
    const [accepted, pending, revoked, declined, partly, newer] = people(6);
    await bot.hasConsent(accepted!);
    await bot.hasRequest(pending!);
    await bot.hasConsent(revoked!);
    await bot.hasData(revoked!, 'profile', { value: 'a' });
    await bot.hasRevoked(revoked!);
    await bot.post('/consents/decline', { consent_id: await bot.hasRequest(declined!) });
    await bot.post('/consents/request', { ...partly!, categories: ['profile', 'notes'] });
    await bot.post('/consents/accept', {
      ...{ ...partly!, consent_version: (await bot.status(partly!)).data['version'] },
      categories: ['profile'],
    });
    await bot.hasConsent(newer!);
    await bot.hasRequest(newer!, '2.0');
    const { data } = await list();
    expect(data.pagination).toStrictEqual({ page_size: 20, next: null });
    expect(names(data).sort()).toStrictEqual(
      sorted([accepted!, pending!, revoked!, declined!, partly!, newer!]),
    );
    for (const user of data.users)
      expect(user).toStrictEqual({ ...(await bot.status(user)).data, updated_at: A_TIME });
    const states = new Map(data.users.map((user) => [nameOf(user), user['status']]));
    expect(states.get(nameOf(declined!))).toBe('none');
    expect(states.get(nameOf(newer!))).toBe('accepted');
    expect(data.users.find((user) => user.user_id === revoked!.user_id)).toHaveProperty('data_erased_at');
  });

  it('lists a user who never was asked and of whom the log has an event, and writes none itself', async () => {
    const who = subject();
    await bot.post('/audit/event', { ...who, event_type: 'data_exported' });
    expectSuccess(await list(), 200, {
      users: [consentStatus(who, { updated_at: null })],
      pagination: { page_size: 20, next: null },
    });
    expect(await bot.eventTypes(who)).toStrictEqual(['data_exported']);
  });

  it('answers an empty list to a bot without users, and never shows users of another bot', async () => {
    const who = subject();
    await bot.hasConsent(who);
    const other = await service.registerBot();
    const nothing = { users: [], pagination: { page_size: 20, next: null } };
    for (const query of [
      '',
      `user_id=${who.user_id}`,
      `guild_id=${who.guild_id}`,
      'order=recent',
      'status=accepted',
    ])
      expectSuccess(await list(query, other), 200, nothing);
    expectSuccess(
      await list(`user_id=${who.user_id}&guild_id=${who.guild_id}&order=recent`, other),
      200,
      nothing,
    );
  });

  it('answers one user in every guild, the users of one guild, or one of them, in both orders', async () => {
    const guild = snowflake();
    const inGuild = people(3, guild);
    const everywhere = [inGuild[0]!, ...[1, 2].map(() => ({ ...inGuild[0]!, guild_id: snowflake() }))];
    for (const who of [...inGuild, ...everywhere.slice(1), ...people(2)]) await bot.hasConsent(who);
    for (const order of ['', '&order=key', '&order=recent']) {
      const user = `user_id=${inGuild[0]!.user_id}`;
      expect((await walked(`${user}&page_size=1${order}`)).sort()).toStrictEqual(sorted(everywhere));
      expect((await walked(`guild_id=${guild}&page_size=1${order}`)).sort()).toStrictEqual(sorted(inGuild));
      expect(await walked(`${user}&guild_id=${guild}${order}`)).toStrictEqual([nameOf(inGuild[0]!)]);
    }
  });

  it('answers the users with a status, of the consent or of one category', async () => {
    const [accepted, partly, revoked, pending, declined, never] = people(6);
    await bot.hasConsent(accepted!);
    await bot.post('/consents/request', {
      ...{ ...partly!, consent_version: '1.0', categories: ['profile', 'notes'] },
    });
    await bot.post('/consents/accept', { ...partly!, consent_version: '1.0' });
    await bot.post('/consents/revoke', { ...partly!, categories: ['notes'] });
    await bot.hasConsent(revoked!);
    await bot.hasRevoked(revoked!);
    await bot.post('/consents/request', { ...pending!, consent_version: '1.0', categories: ['notes'] });
    await bot.post('/consents/decline', { consent_id: await bot.hasRequest(declined!) });
    await bot.post('/audit/event', { ...never!, event_type: 'data_exported' });
    for (const [query, those] of [
      ['status=accepted', [accepted, partly]],
      ['status=revoked', [revoked]],
      ['status=pending', [pending]],
      ['status=none', [declined, never]],
      ['category=profile', [accepted, partly, revoked]],
      ['category=notes', [accepted, partly, revoked, pending]],
      ['category=profile&status=accepted', [accepted, partly]],
      ['category=notes&status=accepted', [accepted]],
      ['category=notes&status=revoked', [partly, revoked]],
      ['category=notes&status=pending', [pending]],
      ['category=notes&status=none', []],
    ] as const)
      for (const order of ['key', 'recent'])
        expect([query, order, (await walked(`${query}&order=${order}`)).sort()]).toStrictEqual([
          ...[query, order, sorted(those.map((who) => who!))],
        ]);
  });

  it('answers each user once while users come and are erased between the pages', async () => {
    const those = people(7);
    for (const who of those) await bot.hasConsent(who);
    for (const order of ['key', 'recent']) {
      const come: SubjectIds[] = [];
      const erased: SubjectIds[] = [];
      const found = await walked(`page_size=2&order=${order}`, async ({ users }) => {
        come.push(subject());
        await bot.hasConsent(come.at(-1)!);
        if (erased.length > 0) return;
        const unread = those.find((who) => !users.some(({ user_id }) => user_id === who.user_id))!;
        for (const who of [users[0]!, unread]) await bot.hasForgotten(who);
        erased.push(users[0]!, unread);
      });
      expect(new Set(found).size).toBe(found.length);
      const stay = those.filter((who) => !erased.some(({ user_id }) => user_id === who.user_id));
      expect(found).toEqual(expect.arrayContaining(stay.map(nameOf)));
      expect(found).not.toContain(nameOf(erased[1]!));
      for (const who of [...come, ...those]) await bot.hasForgotten(who);
      those.splice(0, those.length, ...people(7));
      for (const who of those) await bot.hasConsent(who);
    }
  });

  it('leaves out a user from the beginning of the erasure on, also where the newest events are of erased users', async () => {
    const [kept, ...erased] = people(4);
    const closing = subject();
    for (const who of [kept!, closing, ...erased]) await bot.hasConsent(who);
    for (const who of erased) await bot.hasForgotten(who);
    const { guild_id, user_id } = service.stored(bot, closing);
    await service.database.run(
      'UPDATE consents SET erasing = 1 WHERE bot_id = ? AND guild_id = ? AND user_id = ?',
      ...[bot.id, guild_id, user_id],
    );
    for (const query of ['', 'order=recent', `user_id=${closing.user_id}`])
      expect(names((await list(query)).data)).toStrictEqual(query.startsWith('user') ? [] : [nameOf(kept!)]);
    // One place for each of them, and yet the page is full.
    expect(names((await list('order=recent&page_size=1')).data)).toStrictEqual([nameOf(kept!)]);
    expect((await list(`user_id=${erased[0]!.user_id}`)).data.users).toStrictEqual([]);
  });

  it('orders by the newest event of each user with order=recent, as it was where the walk began', async () => {
    const those = people(4);
    for (const who of those) await bot.hasConsent(who);
    await bot.post('/audit/event', { ...those[1]!, event_type: 'data_exported' });
    const expected = [those[1]!, those[3]!, those[2]!, those[0]!].map(nameOf);
    expect(await walked('order=recent')).toStrictEqual(expected);
    const moved = walked('order=recent&page_size=1', async () => {
      await bot.post('/audit/event', { ...those[0]!, event_type: 'data_exported' });
    });
    expect(await moved).toStrictEqual(expected);
    expect((await walked('order=recent'))[0]).toBe(nameOf(those[0]!));
  });

  it('looks at 5,000 events with order=recent, in portions: no user is lost or repeated between them', async () => {
    const [last, newest] = people(2);
    for (const who of [last!, newest!]) await bot.hasConsent(who);
    const { guild_id, user_id } = service.stored(bot, newest!);
    const [stored] = await service.database.rows<{ last: number | string }>(
      'SELECT MAX(seq) AS last FROM audit_events',
    );
    const fill = (count: number, name: string, from: number) =>
      service.database.run(
        `INSERT INTO audit_events (bot_id, seq, id, guild_id, user_id, event_type, source, details, created_at)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
         SELECT ?, ${from} + i, '${bot.id.slice(-12)}${name}' || i, ?, ?, 'data_exported', 'bot', 'null', '2026-01-01T00:00:00.000Z' FROM n`,
        ...[bot.id, guild_id, user_id],
      );
    await fill(1_100, 'a', Number(stored!.last) + 100);
    expect(await walked('order=recent')).toStrictEqual([nameOf(newest!), nameOf(last!)]);
    expect(await walked('order=recent&page_size=1')).toStrictEqual([nameOf(newest!), nameOf(last!)]);
    await fill(4_000, 'b', Number(stored!.last) + 1_200);
    expect(await walked('order=recent')).toStrictEqual([nameOf(newest!)]);
  });

  it('hides no user whose key is lost, and shows the ids that the request has named', async () => {
    const [kept, lost] = people(2);
    for (const who of [kept!, lost!]) await bot.hasConsent(who);
    await losesKey(lost!);
    const { users } = (await list()).data;
    const zeros = '0'.repeat(20);
    expect(names({ users } as Listed).sort()).toStrictEqual([`${zeros} ${zeros}`, nameOf(kept!)].sort());
    expect(users.find(({ user_id }) => user_id === zeros)).toMatchObject({
      ...{ status: 'accepted', unreadable: true },
    });
    expect((await list(`user_id=${lost!.user_id}`)).data.users).toMatchObject([
      { user_id: lost!.user_id, guild_id: zeros, unreadable: true },
    ]);
  });

  it('looks at 500 users for one page at most, and answers the cursor behind them', async () => {
    const declared = service.stored(bot, subject());
    const one = subject();
    await bot.hasConsent(one);
    // Places in the list, behind which nothing can be shown.
    await service.database.run(
      `INSERT INTO subjects (bot_id, guild_id, user_id, key_id)
       WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
       SELECT ?, ?, 'user' || i, 'none' || i FROM n`,
      ...[bot.id, declared.guild_id],
    );
    const pages: number[] = [];
    const found = await walked('status=accepted&page_size=100', ({ users }) => {
      pages.push(users.length);
      return Promise.resolve();
    });
    expect(found).toStrictEqual([nameOf(one)]);
    expect(pages).toHaveLength(3);
  });

  it('answers 400 for wrong filters with words that mend them, and 404 for an undeclared category', async () => {
    expectFaults(
      await list('user_id=1&guild_id=x&status=gone&order=new&page_size=101&after=%20'),
      ...['after', 'guild_id', 'order', 'page_size', 'status', 'user_id'],
    );
    const numbered = await list('page=2');
    expectFaults(numbered, 'page');
    expect(JSON.stringify(numbered.error.details)).toContain('pagination.next');
    expectFaults(await list('category='), 'category');
    expectFailure(await list('category=unknown'), 404, 'not_found');
  });

  it('refuses a cursor that was changed, or is of another list, filter, order or bot', async () => {
    for (const who of people(3)) await bot.hasConsent(who);
    const next = (await list('page_size=1')).data.pagination.next!;
    const changed = next.slice(0, -3) + (next.at(-3) === 'A' ? 'B' : 'A') + next.slice(-2);
    for (const query of [`after=${changed}`, `status=accepted&after=${next}`, `order=recent&after=${next}`])
      expectFaults(await list(query), 'after');
    expectFaults(await list(`after=${next}`, await service.registerBot()), 'after');
    expectFaults(await bot.get(`/servers?after=${next}`), 'after');
    expect((await list(`after=${next}&page_size=2`)).data.users).toHaveLength(2);
  });
});
