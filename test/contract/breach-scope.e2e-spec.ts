import { daysAfter, firstIdAt } from '@app/kernel';
import type { Bot } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { A_TIME, expectFailure, expectFaults, expectSuccess } from '../support/expected';
import { useService } from '../support/shared-service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';
import { ago } from '../support/time';

const service = useService();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot();
});

const scope = (from: string, to: string, caller = bot): Promise<Answer> =>
  caller.get(`/audit/breach-scope?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`);
const at = (time: string): string => `2024-03-${time}.000Z`;
const MARCH = ['2024-03-01T00:00:00.000Z', '2024-04-01T00:00:00.000Z'] as const;
const TODAY = [ago(3_600_000), new Date(Date.now() + 3_600_000).toISOString()] as const;

const counts = (stored: number[], exported: number[], deleted: number[], erased: number[]) =>
  Object.fromEntries(
    Object.entries({ stored, exported, deleted, erased }).map(([act, [events, subjects]]) => [
      act,
      { events, subjects },
    ]),
  );
const NOTHING = counts([0, 0], [0, 0], [0, 0], [0, 0]);

/** Appends an event with a given time to the log. */
async function happened(
  type: string,
  time: string,
  who: SubjectIds,
  source = 'service',
  caller = bot,
): Promise<void> {
  const { id } = (await caller.post<{ id: string }>('/audit/event', { ...who, event_type: type })).data;
  await service.database.run(
    'UPDATE audit_events SET source = ?, created_at = ? WHERE bot_id = ? AND id = ?',
    ...[source, time, caller.id, id],
  );
}

describe('GET /api/v1/audit/breach-scope', () => {
  it('answers 200 with how many users were acted on in the period, and what is held, by category', async () => {
    await bot.hasCategory('profile');
    await bot.hasCategory('notes');
    const guild = snowflake();
    const people = Array.from({ length: 3 }, () => ({ user_id: snowflake(), guild_id: guild }));
    const [ann = subject(), ben = subject(), cem = subject()] = people;
    const annElsewhere = { ...ann, guild_id: snowflake() };
    for (const who of [...people, annElsewhere]) await bot.hasConsent(who);
    for (const who of [ann, ben, annElsewhere]) await bot.hasData(who, 'profile', { value: 'x' });
    for (const value of ['x', 'y']) await bot.hasData(cem, 'notes', { value });
    await bot.hasData(ben, 'profile', { value: null });
    await bot.export(ann);
    await bot.hasForgotten(cem);
    expectSuccess(await scope(...TODAY), 200, {
      from: TODAY[0],
      to: TODAY[1],
      generated_at: A_TIME,
      log_begins_at: A_TIME,
      exact: true,
      affected: { subjects: 4, users: 3, guilds: 2 },
      acts: counts([5, 4], [1, 1], [1, 1], [1, 1]),
      records_held: 2,
      records_touched: 2,
      categories: [
        {
          category: 'notes',
          label_de: 'Kategorie notes',
          label_en: 'Category notes',
          records_held: 0,
          records_touched: 0,
        },
        {
          ...{ category: 'profile', label_de: 'Kategorie profile', label_en: 'Category profile' },
          ...{ records_held: 2, records_touched: 2 },
        },
      ],
    });
  });

  it('counts a theft by reading under records_held alone, and its words say so', async () => {
    await bot.hasCategory('profile');
    await bot.hasCategory('notes');
    const who = subject();
    await bot.hasConsent(who);
    await bot.hasConsent(subject());
    await bot.hasData(who, 'profile', { value: 'x' });
    await bot.hasData(who, 'notes', { value: 'x' });
    const theDayAfter = [new Date(Date.now() + 1).toISOString(), TODAY[1]] as const;
    await service.database.run(
      'UPDATE audit_events SET created_at = ? WHERE bot_id = ?',
      ago(86_400_000),
      bot.id,
    );
    const values = await bot.get(`/data/values?guild_id=${who.guild_id}&category=profile`);
    expect(values.text).toContain('"x"');
    const affected = { subjects: 0, users: 0, guilds: 0 };
    expect((await scope(...theDayAfter)).data).toMatchObject({ affected, acts: NOTHING, records_held: 2 });
    const document = await (await fetch(`${service.url}/docs-json`)).text();
    // One user with two values, and one with a consent alone.
    for (const words of [
      'Reads of values and copies of the database leave no record',
      'every user about whom Lethe holds anything, also a consent alone',
      'one for each user, guild and category, and not the users',
    ])
      expect(document).toContain(words);
  });

  it('answers 200 with zeros for a bot of which nothing is known', async () => {
    expectSuccess(await scope(...MARCH), 200, {
      from: MARCH[0],
      to: MARCH[1],
      generated_at: A_TIME,
      log_begins_at: null,
      exact: true,
      affected: { subjects: 0, users: 0, guilds: 0 },
      acts: NOTHING,
      records_held: 0,
      records_touched: 0,
      categories: [],
    });
  });

  it('counts a user who was erased in one guild alone once, and the guild of an erased user once', async () => {
    await bot.hasCategory('profile');
    const [guild, elsewhere] = [snowflake(), snowflake()];
    const ann = snowflake();
    const subjects = [
      { user_id: ann, guild_id: guild },
      { user_id: ann, guild_id: elsewhere },
      { user_id: snowflake(), guild_id: guild },
    ];
    for (const who of subjects) {
      await bot.hasConsent(who);
      await bot.hasData(who, 'profile', { value: 'x' });
    }
    const affected = { subjects: 3, users: 2, guilds: 2 };
    expect((await scope(...TODAY)).data).toMatchObject({ affected });
    await bot.hasForgotten({ user_id: ann, guild_id: guild });
    expect((await scope(...TODAY)).data).toMatchObject({
      affected,
      acts: { erased: { events: 1, subjects: 1 } },
    });
  });

  it('holds no id of a user or guild, and no value', async () => {
    const who = subject();
    await bot.hasCategory('profile');
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'Ada' });
    expect((await scope(...TODAY)).text).not.toMatch(new RegExp(`${who.user_id}|${who.guild_id}|Ada`));
  });

  it('counts from the first moment on and up to, but not with, the last one', async () => {
    const who = subject();
    for (const time of ['09T23:59:59', '10T00:00:00', '11T12:00:00', '11T23:59:59', '12T00:00:00'])
      await happened('data_submitted', at(time), who);
    const { data } = await scope(at('10T00:00:00'), at('12T00:00:00'));
    expect(data['acts']).toStrictEqual({ ...NOTHING, stored: { events: 3, subjects: 1 } });
    expect(data['log_begins_at']).toBe(at('09T23:59:59'));
  });

  it('takes a period in another zone for what it is', async () => {
    await happened('data_submitted', at('10T00:00:00'), subject());
    const { data } = await scope('2024-03-10T02:00:00+02:00', '2024-03-10T02:00:01+02:00');
    expect(data).toMatchObject({ from: at('10T00:00:00'), acts: { stored: { events: 1 } } });
  });

  it('finds the whole period after a clock was set forward and back', async () => {
    for (let day = 1; day <= 28; day++) {
      const time = at(`${String(day).padStart(2, '0')}T12:00:00`);
      const later = daysAfter(time, 60);
      // The times of acts follow the clock at once. Their ids do so later, and in the same process they stay ahead.
      const isAhead = day >= 8 && day < 20;
      const idTime = day >= 20 && day < 24 ? later : time;
      const who = subject();
      await happened('data_submitted', isAhead ? later : time, who);
      await service.database.run(
        'UPDATE audit_events SET id = ? || substr(id, 25) WHERE bot_id = ? AND user_id = ?',
        ...[firstIdAt(idTime).slice(0, 24), bot.id, service.stored(bot, who).user_id],
      );
    }
    expect((await scope(at('03T00:00:00'), at('28T00:00:00'))).data).toMatchObject({
      exact: true,
      affected: { subjects: 5 + 8 },
    });
  });

  it('finds the whole period in the hour after a stop of days, when ids are as old as the stop', async () => {
    const hours = Array.from({ length: 24 }, (_, hour) => `20T${String(hour).padStart(2, '0')}:30:00`);
    for (const [hour, time] of hours.entries()) {
      const who = subject();
      await happened('data_submitted', at(time), who);
      const idTime = hour < 20 ? at(`10T${String(hour).padStart(2, '0')}:30:00`) : at(time);
      await service.database.run(
        'UPDATE audit_events SET id = ? || substr(id, 25) WHERE bot_id = ? AND user_id = ?',
        ...[firstIdAt(idTime).slice(0, 24), bot.id, service.stored(bot, who).user_id],
      );
    }
    expect((await scope(at('20T05:00:00'), at('20T22:00:00'))).data).toMatchObject({
      exact: true,
      affected: { subjects: 17 },
    });
  });

  it('finds the period in a long log, also where its order is not that of the times', async () => {
    const days = Array.from({ length: 28 }, (_, index) => `${String(index + 1).padStart(2, '0')}`);
    for (const day of days) {
      // Two events committed in the other order, as by two processes.
      await happened('data_submitted', at(`${day}T12:01:30`), subject());
      await happened('data_exported', at(`${day}T12:00:00`), subject());
    }
    for (const [first, last, stored, exported] of [
      ['05T12:01:00', '07T12:01:00', 2, 2],
      ['05T12:00:00', '05T12:00:01', 0, 1],
      ['05T12:01:30', '05T12:01:31', 1, 0],
      ['01T00:00:00', '31T00:00:00', 28, 28],
    ] as const) {
      const { data } = await scope(at(first), at(last));
      expect(data['acts']).toMatchObject({ stored: { events: stored }, exported: { events: exported } });
    }
  });

  it('counts in a log that is longer than what is read at once', async () => {
    const who = subject();
    await happened('data_submitted', at('01T00:00:00'), who);
    const { guild_id: guildId } = service.stored(bot, who);
    const [{ seq: last }] = (await service.database.rows<{ seq: number }>(
      'SELECT seq FROM audit_events WHERE bot_id = ?',
      bot.id,
    )) as [{ seq: number }];
    const numbers = Array.from({ length: 4_999 }, (_, index) => index);
    for (let begin = 0; begin < numbers.length; begin += 500) {
      const rows = numbers
        .slice(begin, begin + 500)
        .map(
          (n) =>
            `('${bot.id}', ${last + n + 1}, 'x${n}', '${guildId}', 'u${n % 1_000}', 'data_exported', 'service', 's2.erased.x', '${at('02T00:00:00')}')`,
        );
      await service.database.run(
        `INSERT INTO audit_events (bot_id, seq, id, guild_id, user_id, event_type, source, details, created_at) VALUES ${rows.join(', ')}`,
      );
    }
    const { data } = await scope(...MARCH);
    expect(data).toMatchObject({
      affected: { subjects: 1_001, users: 1_001, guilds: 1 },
      acts: { stored: { events: 1, subjects: 1 }, exported: { events: 4_999, subjects: 1_000 } },
    });
  });

  it('counts records in more batches than one, by what was stored in the period and not since', async () => {
    await bot.hasCategory('profile');
    const numbers = Array.from({ length: 10_500 }, (_, index) => index);
    for (let begin = 0; begin < numbers.length; begin += 500) {
      const rows = numbers.slice(begin, begin + 500).map((n) => {
        const time = n < 30 ? at('02T00:00:00') : '2023-01-01T00:00:00.000Z';
        return `('${bot.id}', 'g', 'u${n}', 'profile', '{}', '${time}', '${time}')`;
      });
      await service.database.run(
        `INSERT INTO user_data (bot_id, guild_id, user_id, category_key, value, created_at, updated_at) VALUES ${rows.join(', ')}`,
      );
    }
    expect((await scope(...MARCH)).data).toMatchObject({
      records_held: 10_500,
      records_touched: 30,
      categories: [{ category: 'profile', records_held: 10_500, records_touched: 30 }],
    });
  });

  it("counts the service's own acts alone: what a bot has posted is none, and a consent is none", async () => {
    const who = subject();
    await happened('data_submitted', at('02T00:00:00'), who, 'client');
    await happened('consent_accepted', at('02T00:00:00'), who);
    expect((await scope(...MARCH)).data).toMatchObject({ acts: NOTHING, affected: { subjects: 0 } });
  });

  it('counts nothing of another bot', async () => {
    const other = await service.registerBot();
    await other.hasCategory('profile');
    await happened('data_submitted', at('02T00:00:00'), subject(), 'service', other);
    expect((await scope(...MARCH)).data).toMatchObject({
      acts: NOTHING,
      categories: [],
      log_begins_at: null,
    });
  });

  it('answers 409 report_in_progress while a report of the same bot is made, and not to another bot', async () => {
    const other = await service.registerBot();
    let [one, two, theirs] = [] as unknown as [Answer, Answer, Answer];
    // A short report may end before the second request arrives, so pairs are sent until two overlap.
    for (let pair = 0; pair < 200 && (pair === 0 || one.status === two.status); pair += 1)
      [one, two, theirs] = await Promise.all([scope(...MARCH), scope(...MARCH), scope(...MARCH, other)]);
    expect([one.status, two.status].sort()).toStrictEqual([200, 409]);
    expectFailure(one.status === 409 ? one : two, 409, 'conflict', { reason: 'report_in_progress' });
    expect(theirs.status).toBe(200);
    expect((await scope(...MARCH)).status).toBe(200);
  });

  it.each<[string, string, string[]]>([
    ['', '', ['from', 'to']],
    ['yesterday', MARCH[1], ['from']],
    [MARCH[0], '2026-13-01T00:00:00Z', ['to']],
    [MARCH[1], MARCH[0], ['to']],
    [MARCH[0], MARCH[0], ['to']],
    ['2025-01-01T00:00:00Z', '2026-01-02T00:00:01Z', ['to']],
    ['-271821-04-20T00:00:00Z', MARCH[1], ['from']],
    [MARCH[0], '+275760-09-13T00:00:00Z', ['to']],
  ])('answers 400 for the period from %j to %j', async (from, to, fields) => {
    expectFaults(await scope(from, to), ...fields);
  });

  it('answers 200 for a period of 366 days', async () => {
    expect((await scope('2025-01-01T00:00:00Z', '2026-01-02T00:00:00Z')).status).toBe(200);
  });

  it('answers 400 naming both times when they are missing', async () => {
    expectFaults(await bot.get('/audit/breach-scope'), 'from', 'to');
  });

  it('answers 401 without a key', async () => {
    const answer = await service.anonymous.get<Json>('/audit/breach-scope');
    expectFailure(answer, 401, 'unauthorized');
  });
});
