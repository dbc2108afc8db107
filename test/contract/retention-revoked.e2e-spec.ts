import { ConsentedDataHolders, type ErasedParts, hasMore } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import { JOB } from '@app/http';
import { Clock, daysAfter } from '@app/kernel';
import { WithdrawnDataErasure } from '@app/user-data';
import { Bot, field } from '../support/bot';
import type { Json } from '../support/client';
import { engine } from '../support/database';
import { A_TIME, consentStatus, expectFailure } from '../support/expected';
import { leased, runNow, sweepOnce } from '../support/jobs';
import { Service, useServiceInProcess } from '../support/service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';
import { SqlLog } from '../support/sql-log';

const service = useServiceInProcess();
let bot: Bot;
let who: SubjectIds;

beforeEach(async () => {
  bot = await service.registerBot();
  await bot.hasCategory('profile');
  await bot.hasCategory('notes');
  await bot.hasCategory('billing', [field('value')], { legal_basis: 'contract' });
  who = subject();
});
afterEach(() => jest.restoreAllMocks());

interface Shown {
  readonly status: string;
  readonly revoked_at: string;
  readonly accepted_at: string | null;
  readonly data_erased_at?: string;
  readonly categories?: readonly { readonly key: string; readonly data_erased_at?: string }[];
}

/** Sets the played time to a number of days and milliseconds after an answered time. */
function after(iso: string, days: number, ms = 0): void {
  jest.spyOn(service.app.get(Clock), 'nowMs').mockReturnValue(Date.parse(daysAfter(iso, days)) + ms);
}

const sweep = (of: Service = service) => runNow(of, WithdrawnDataErasure);

async function stores(...categories: string[]): Promise<void> {
  for (const category of categories) await bot.hasData(who, category, { value: 'x' });
}

async function revoked(categories?: string[]): Promise<Shown> {
  const answer = await bot.post<Shown>('/consents/revoke', { ...who, ...(categories && { categories }) });
  expect(answer.status).toBe(200);
  return answer.data;
}

const status = async (): Promise<Shown> => (await bot.status(who)).data as unknown as Shown;

/** The categories with stored values. */
async function held(): Promise<string[]> {
  return Object.keys((await bot.export<{ data: object }>(who)).data.data);
}

async function deletions(): Promise<unknown[]> {
  const query = `user_id=${who.user_id}&guild_id=${who.guild_id}&event_type=data_deleted`;
  const { events } = (await bot.get<{ events: { details: unknown }[] }>(`/audit/events?${query}`)).data;
  return events.map(({ details }) => details);
}

/** Grants by category, in the guide's shape; what is answered about erasures is what the status shows. */
async function grants(categories: string[], granted = categories): Promise<void> {
  const { data } = await bot.post<{ id: string }>('/consents/request', { ...who, categories });
  const accept = { consent_id: data.id, categories: granted };
  const answers = [
    await bot.post<Shown>('/consents/accept', accept),
    await bot.post<Shown>('/consents/accept', accept),
  ];
  const { data_erased_at, categories: decided } = await status();
  for (const answer of answers) {
    expect(answer.status).toBe(200);
    const { data_erased_at: announced, categories: answered } = answer.data;
    expect([announced, answered]).toEqual([data_erased_at, decided]);
  }
}

describe('data that rests on a consent', () => {
  it('is erased when the consent has been revoked for REVOKED_DATA_GRACE_DAYS, no moment before', async () => {
    await bot.hasConsent(who);
    await stores('profile', 'notes');
    const { revoked_at: at, data_erased_at: announced } = await revoked();
    expect(announced).toBe(daysAfter(at, 30));
    after(at, 30, -1);
    await sweep();
    expect(await held()).toEqual(['notes', 'profile']);
    expect((await status()).data_erased_at).toBe(announced);
    after(at, 30);
    await sweep();
    expect(await held()).toEqual([]);
    expect(await deletions()).toEqual(
      expect.arrayContaining([
        { category: 'notes', reason: 'consent_revoked', actor: 'job' },
        { category: 'profile', reason: 'consent_revoked', actor: 'job' },
      ]),
    );
    expect(await deletions()).toHaveLength(2);
  });

  it('is erased without an erasure request; consent and history stay, and no further time is announced', async () => {
    await bot.hasConsent(who);
    await stores('profile');
    const { revoked_at: at } = await revoked();
    after(at, 31);
    await sweep();
    expect((await bot.status(who)).data).toStrictEqual(
      consentStatus(who, { status: 'revoked', version: '1.0', accepted_at: A_TIME, revoked_at: at }),
    );
    const full = (await bot.export<Record<string, unknown[]>>(who, '&format=full')).data;
    expect(full['consent_history']).toHaveLength(3);
    expect(full['deletion_requests']).toEqual([]);
  });

  it('is all that is erased: values of another legal basis stay, unannounced', async () => {
    await bot.hasConsent(who);
    await stores('profile', 'billing');
    const { revoked_at: at } = await revoked();
    after(at, 31);
    await sweep();
    expect(await held()).toEqual(['billing']);
    expect(await status()).not.toHaveProperty('data_erased_at');
  });

  it('is erased at its time also where the user has restricted the processing', async () => {
    await bot.hasConsent(who);
    await stores('profile');
    expect((await bot.post('/data/restrict', who)).status).toBe(200);
    const { revoked_at: at, data_erased_at: announced } = await revoked();
    expect(announced).toBe(daysAfter(at, 30));
    after(at, 31);
    await sweep();
    expect(await held()).toEqual([]);
  });

  it('stays where the legal basis was changed before its time had come', async () => {
    await bot.hasConsent(who);
    await stores('profile');
    const { revoked_at: at } = await revoked();
    expect(await status()).toHaveProperty('data_erased_at');
    await bot.put('/data/categories/profile', { legal_basis: 'legal_obligation' });
    expect(await status()).not.toHaveProperty('data_erased_at');
    after(at, 31);
    await sweep();
    expect(await held()).toEqual(['profile']);
    await bot.put('/data/categories/profile', { legal_basis: 'consent' });
    await sweep();
    expect(await held()).toEqual(['profile']);
  });

  it('stays when the consent was given anew, also at the last moment', async () => {
    await bot.hasConsent(who);
    await stores('profile');
    const { revoked_at: at } = await revoked();
    after(at, 29.9);
    await bot.hasRequest(who, '2.0');
    expect((await status()).data_erased_at).toBe(daysAfter(at, 30));
    await bot.post('/consents/accept', { ...who, consent_version: '2.0' });
    expect(await status()).not.toHaveProperty('data_erased_at');
    after(at, 300);
    await sweep();
    expect(await held()).toEqual(['profile']);
  });

  it('counts from the last revocation', async () => {
    await bot.hasConsent(who);
    await stores('profile');
    const first = await revoked();
    after(first.revoked_at, 20);
    await bot.hasConsent(who, '2.0');
    const second = await revoked();
    after(first.revoked_at, 31);
    await sweep();
    expect(await held()).toEqual(['profile']);
    after(second.revoked_at, 30);
    await sweep();
    expect(await held()).toEqual([]);
  });

  it('is erased also while a new request waits: a request is no consent', async () => {
    await bot.hasConsent(who);
    await stores('profile');
    const { revoked_at: at } = await revoked();
    await bot.hasRequest(who, '2.0');
    after(at, 30);
    await sweep();
    expect(await held()).toEqual([]);
    expect((await bot.status(who)).data).toMatchObject({ status: 'pending' });
  });

  it('is not announced where nothing is held, or nothing rests on the consent', async () => {
    await bot.hasConsent(who);
    await stores('billing');
    expect(await revoked()).not.toHaveProperty('data_erased_at');
    expect(await status()).not.toHaveProperty('data_erased_at');
  });

  it('leaves other users, guilds and bots with the same values unchanged', async () => {
    const other = await service.registerBot();
    await other.hasCategory('profile');
    const neighbours: [Bot, SubjectIds][] = [
      [other, who],
      [bot, { ...who, guild_id: snowflake() }],
      [bot, { ...who, user_id: snowflake() }],
    ];
    for (const [of, subjectIds] of neighbours) {
      await of.hasConsent(subjectIds);
      await of.hasData(subjectIds, 'profile', { value: 'theirs' });
    }
    await bot.hasConsent(who);
    await stores('profile');
    const { revoked_at: at } = await revoked();
    after(at, 31);
    await sweep();
    expect(await held()).toEqual([]);
    for (const [of, subjectIds] of neighbours)
      expect((await of.export(subjectIds)).data).toMatchObject({ data: { profile: { value: 'theirs' } } });
  });

  it('is left to a running erasure', async () => {
    await bot.hasConsent(who);
    await stores('profile');
    const { revoked_at: at } = await revoked();
    const { user_id: userId } = service.stored(bot, who);
    await service.database.run('UPDATE consents SET erasing = 1 WHERE user_id = ?', userId);
    after(at, 31);
    await sweep();
    await service.database.run('UPDATE consents SET erasing = 0 WHERE user_id = ?', userId);
    expect(await held()).toEqual(['profile']);
  });
});

describe('a category that was withdrawn alone', () => {
  it('is erased alone, after its own time, which is announced beside it', async () => {
    await bot.hasConsent(who);
    await stores('profile', 'notes');
    const shown = await revoked(['notes']);
    expect(shown).not.toHaveProperty('data_erased_at');
    const at = shown.categories?.find(({ key }) => key === 'notes')?.data_erased_at ?? '';
    expect((await status()).categories).toEqual(
      expect.arrayContaining([
        { key: 'profile', status: 'accepted' },
        { key: 'notes', status: 'revoked', data_erased_at: at },
      ]),
    );
    after(at, 0, -1);
    await sweep();
    expect(await held()).toEqual(['notes', 'profile']);
    after(at, 0);
    await sweep();
    expect(await held()).toEqual(['profile']);
    expect(await deletions()).toEqual([{ category: 'notes', reason: 'consent_revoked', actor: 'job' }]);
    expect((await status()).categories).toEqual(
      expect.arrayContaining([{ key: 'notes', status: 'revoked' }]),
    );
  });

  it('is erased before the rest when the rest is withdrawn later', async () => {
    await grants(['profile', 'notes']);
    await stores('profile', 'notes');
    const first = (await revoked(['notes'])).categories?.find(({ key }) => key === 'notes');
    const at = first?.data_erased_at ?? '';
    after(at, -20);
    const whole = await revoked();
    expect(whole.data_erased_at).toBe(daysAfter(whole.revoked_at, 30));
    after(at, 0);
    await sweep();
    expect(await held()).toEqual(['profile']);
    after(whole.revoked_at, 30);
    await sweep();
    expect(await held()).toEqual([]);
  });

  it('is kept when it is granted again; categories that the new consent leaves out are erased', async () => {
    await grants(['profile', 'notes']);
    await stores('profile', 'notes');
    const { revoked_at: at } = await revoked();
    await grants(['profile', 'notes'], ['profile']);
    expect((await status()).categories).toEqual([
      { key: 'profile', status: 'accepted' },
      { key: 'notes', status: 'none', data_erased_at: daysAfter(at, 30) },
    ]);
    after(at, 30);
    await sweep();
    expect(await held()).toEqual(['profile']);
  });

  it('is erased also when a new consent leaves it out, without any revocation, and is announced from then on', async () => {
    await grants(['profile', 'notes']);
    await stores('profile', 'notes');
    await grants(['profile']);
    const { accepted_at: at } = await status();
    expect((await status()).data_erased_at).toBe(daysAfter(String(at), 30));
    await grants(['profile']);
    await revoked();
    await grants(['profile']);
    expect((await status()).data_erased_at).toBe(daysAfter(String(at), 30));
    after(String(at), 30);
    await sweep();
    expect(await held()).toEqual(['profile']);
  });
});

describe('an accept in the same moment', () => {
  it('is kept, and no longer marked, where a consent in force covers it', async () => {
    await bot.hasConsent(who);
    await stores('profile');
    const { user_id: userId } = service.stored(bot, who);
    const marked = 'SELECT 1 FROM user_data WHERE user_id = ? AND withdrawn_at IS NOT NULL';
    // A consent was accepted between the job's choice of a bot and its reading.
    await service.database.run(
      `UPDATE user_data SET withdrawn_at = '2020-01-01T00:00:00.000Z' WHERE user_id = ?`,
      userId,
    );
    expect(await service.database.rows(marked, userId)).toHaveLength(1);
    await sweep();
    expect(await held()).toEqual(['profile']);
    expect(await service.database.rows(marked, userId)).toEqual([]);
  });

  it('keeps all of the data or finds none of it, whichever is first', async () => {
    const people = Array.from({ length: 15 }, () => ({ ...subject(), guild_id: who.guild_id }));
    for (who of people) {
      await bot.hasConsent(who);
      await stores('profile', 'notes');
    }
    let at = '';
    for (who of people) ({ revoked_at: at } = await revoked());
    after(at, 31);
    for (const each of people) await bot.hasRequest(each, '2.0');
    const accepts = people.map((each) => bot.post('/consents/accept', { ...each, consent_version: '2.0' }));
    await Promise.all([...accepts, sweep(), sweep()]);
    await sweep();
    const left: string[][] = [];
    for (who of people) {
      left.push(await held());
      expect(await deletions()).toHaveLength(2 - left.at(-1)!.length);
    }
    for (const categories of left) expect([0, 2]).toContain(categories.length);
  });
});

describe('a backlog', () => {
  const SUBJECTS = 150;

  /** Users who withdrew long ago, with two values each, which a batch boundary would separate. */
  async function planted(): Promise<void> {
    const users = Array.from({ length: SUBJECTS }, (_, index) =>
      service.stored(bot, { ...who, user_id: String(10n ** 17n + BigInt(index)) }),
    );
    const rows = (values: string): string => users.map(() => values).join(', ');
    await service.database.run(
      `INSERT INTO consents (bot_id, guild_id, user_id, id, status, version, requested_at, erasing)
       VALUES ${rows(`(?, ?, ?, ?, 'revoked', '1', '2020', 0)`)}`,
      ...users.flatMap((user) => [bot.id, user.guild_id, user.user_id, user.user_id]),
    );
    for (const [key, at] of [
      ['profile', '2020-01-01T00:00:00.000Z'],
      ['notes', '2020-01-01T00:00:00.001Z'],
    ] as const)
      await service.database.run(
        `INSERT INTO user_data (bot_id, guild_id, user_id, category_key, value, created_at, updated_at, withdrawn_at)
         VALUES ${rows(`(?, ?, ?, '${key}', '{}', '2020', '2020', '${at}')`)}`,
        ...users.flatMap((user) => [bot.id, user.guild_id, user.user_id]),
      );
    if (engine === 'postgres') await service.database.run('ANALYZE');
  }

  const left = () =>
    service.database.rows<{ values: number | string }>(
      'SELECT COUNT(*) AS "values" FROM user_data WHERE bot_id = ? GROUP BY user_id',
      bot.id,
    );

  it('is erased in batches that split no user, is interrupted by a stop, and continues later', async () => {
    await planted();
    const unitOfWork = service.app.get(UnitOfWork);
    const lease = await leased(service, 'withdrawn-data');
    const stopping = new AbortController();
    const batch = lease.batch.bind(lease);
    jest.spyOn(lease, 'batch').mockImplementation(async (work) => {
      stopping.abort();
      return batch(work);
    });
    await sweepOnce(service, WithdrawnDataErasure, lease, stopping.signal);
    await unitOfWork.write((tx) => lease.end(tx));
    const parted = (await left()).map((row) => Number(row.values));
    expect(parted.every((values) => values === 2)).toBe(true);
    expect(parted.length).toBeLessThan(SUBJECTS);
    await sweep();
    expect(await left()).toEqual([]);
  });
});

describe('REVOKED_DATA_GRACE_DAYS', () => {
  const started: Service[] = [];
  afterEach(async () => {
    for (const one of started.splice(0)) await one.stop();
  });

  async function withGrace(days: string): Promise<Service> {
    const one = await new Service({ REVOKED_DATA_GRACE_DAYS: days }).start();
    started.push(one);
    bot = await one.registerBot();
    await bot.hasCategory('profile');
    await bot.hasConsent(who);
    await stores('profile');
    return one;
  }

  it('0 erases at the next run', async () => {
    const one = await withGrace('0');
    const { revoked_at: at, data_erased_at: announced } = await revoked();
    expect(announced).toBe(at);
    await sweep(one);
    expect(await held()).toEqual([]);
  });

  it('off erases nothing and announces nothing; values withdrawn meanwhile are erased once it is set again', async () => {
    const one = await withGrace('off');
    const { revoked_at: at, ...rest } = await revoked();
    expect(rest).not.toHaveProperty('data_erased_at');
    expect(await status()).not.toHaveProperty('data_erased_at');
    const clock = (of: Service) => jest.spyOn(of.app.get(Clock), 'nowMs');
    clock(one).mockReturnValue(Date.parse(daysAfter(at, 300)));
    await sweep(one);
    expect(await held()).toEqual(['profile']);
    await one.app.close();
    const again = new Service({ REVOKED_DATA_GRACE_DAYS: '90' }, one.database);
    await again.start();
    bot = new Bot(again.url, {
      id: bot.id,
      platform_bot_id: bot.platformBotId,
      name: bot.name,
      api_key: bot.key,
      api_key_prefix: '',
      webhook_secret: bot.webhookSecret,
    });
    expect((await status()).data_erased_at).toBe(daysAfter(at, 90));
    clock(again).mockReturnValue(Date.parse(daysAfter(at, 90)));
    await sweep(again);
    expect(await held()).toEqual([]);
    await again.app.close();
    started.splice(0);
    await one.remove();
  });
});

describe('a batch that fails in its middle', () => {
  it('leaves values and audit log as they were, and is done again', async () => {
    await bot.hasConsent(who);
    await stores('profile', 'notes');
    const { revoked_at: at } = await revoked();
    after(at, 31);
    const unitOfWork = service.app.get(UnitOfWork);
    const write = unitOfWork.write.bind(unitOfWork);
    let failures = 0;
    const failing = jest.spyOn(unitOfWork, 'write').mockImplementation((work) =>
      write(async (tx) => {
        const done = await work(tx);
        // The unit that has erased, among units of other jobs.
        if ((await tx.get('SELECT 1 FROM user_data WHERE bot_id = ?', bot.id)) !== undefined) return done;
        failures += 1;
        throw new Error('injected');
      }),
    );
    await sweep();
    failing.mockRestore();
    expect(failures).toBe(1);
    expect(await held()).toEqual(['notes', 'profile']);
    expect(await deletions()).toEqual([]);
    await sweep();
    expect(await held()).toEqual([]);
    expectFailure(
      await bot.post('/data/submit', { ...who, category: 'profile', data: {} }),
      403,
      'consent_required',
    );
  });
});

describe('the deletion of a category', () => {
  it.each(['requestedat', 'acceptedat', 'revokedat', 'version'])(
    'with the key %s looks for the consents that name it, not for that part of a stored consent',
    async (key) => {
      const asked = (...categories: string[]) =>
        bot.post('/consents/request', { ...who, consent_version: '1', categories });
      await asked('profile');
      await bot.post('/consents/accept', { ...who, consent_version: '1' });
      await revoked();
      await asked('notes');
      await bot.hasCategory(key);
      const holders = service.app.get(ConsentedDataHolders, { strict: false });
      const changed: number[] = [];
      for (const category of ['profile', 'profile', key]) {
        const log = new SqlLog().open();
        await service.app
          .get(UnitOfWork)
          .write((tx) => holders.eraseCategory(tx, bot.id, category, 500, JOB));
        log.close();
        changed.push(log.runsOf(/^INSERT INTO consents /));
      }
      expect(changed).toEqual([1, 0, 0]);
    },
  );

  it('walks the consents that name it by their places, each part from the end of the one before', async () => {
    const asked = await Promise.all(
      [who, subject(), subject()].map(async (one) => {
        const body = { ...one, categories: ['profile', 'notes'] };
        return (await bot.post<{ id: string }>('/consents/request', body)).status;
      }),
    );
    expect(asked).toEqual([201, 201, 201]);
    const holders = service.app.get(ConsentedDataHolders, { strict: false });
    const part = (before?: ErasedParts) =>
      service.app.get(UnitOfWork).write((tx) => holders.eraseCategory(tx, bot.id, 'profile', 2, JOB, before));
    const first = await part();
    const place = [...first.values()].find(({ isMore }) => isMore)?.after;
    const places = await service.database.rows<{ guild_id: string; user_id: string }>(
      'SELECT guild_id, user_id FROM consents WHERE bot_id = ? ORDER BY guild_id, user_id',
      bot.id,
    );
    expect(place).toMatchObject({ guildId: places[1]?.guild_id, userId: places[1]?.user_id });
    // Written there by hand: the parts do not look there again, a repeat of the deletion does.
    const behind = `UPDATE consents SET categories = '{"profile":"pending"}' WHERE bot_id = ? AND guild_id = ? AND user_id = ?`;
    await service.database.run(behind, bot.id, places[0]?.guild_id ?? '', places[0]?.user_id ?? '');
    expect(hasMore(await part(first))).toBe(false);
    const named = `SELECT 1 FROM consents WHERE bot_id = ? AND categories LIKE '%profile%'`;
    expect(await service.database.rows(named, bot.id)).toHaveLength(1);
    expect((await bot.delete('/data/categories/profile')).status).toBe(200);
    expect(await service.database.rows(named, bot.id)).toEqual([]);
  });

  it('that was interrupted is said by the category, which no consent comes to name until a repeat has ended it', async () => {
    const [asked, decided] = [subject(), subject()];
    for (const one of [asked, decided]) await bot.post('/consents/request', { ...one, consent_version: '1' });
    await bot.post('/consents/accept', { ...decided, consent_version: '1' });
    expect((await bot.get<Json>('/data/categories/profile')).data).not.toHaveProperty('deleting_at');
    const at = new Date().toISOString();
    const mark = 'UPDATE categories SET deleting_at = ? WHERE bot_id = ? AND key = ?';
    await service.database.run(mark, at, bot.id, 'profile');
    const shown = { key: 'profile', deleting_at: at };
    expect((await bot.get('/data/categories/profile')).data).toMatchObject(shown);
    const { categories } = (await bot.get<{ categories: Json[] }>('/data/categories')).data;
    expect(categories.find(({ key }) => key === 'profile')).toMatchObject(shown);
    const names = { categories: ['profile'], consent_version: '1' };
    for (const path of ['/consents/request', '/consents/accept'])
      expectFailure(await bot.post(path, { ...asked, ...names }), 404, 'not_found');
    expectFailure(
      await bot.post('/data/register', {
        key: 'profile',
        label_de: 'x',
        label_en: 'x',
        fields: [field('x')],
      }),
      409,
      'conflict',
    );
    expect((await bot.post('/consents/revoke', { ...decided, categories: ['notes'] })).status).toBe(200);
    const naming = `SELECT 1 FROM consents WHERE bot_id = ? AND categories LIKE '%profile%'`;
    expect(await service.database.rows(naming, bot.id)).toEqual([]);
    expect((await bot.delete('/data/categories/profile')).status).toBe(200);
    expectFailure(await bot.get('/data/categories/profile'), 404, 'not_found');
  });

  it('looks for consents in its first part, and behind them in its last one, however many parts its values need', async () => {
    await grants(['profile']);
    const given: string[] = [];
    for (let user = 0; user < 1_001; user++) {
      const { user_id: userId, guild_id: guildId } = service.stored(bot, subject());
      given.push(bot.id, userId, guildId);
    }
    const now = new Date().toISOString();
    const row = `(?, ?, ?, 'profile', '{}', '${now}', '${now}')`;
    await service.database.run(
      `INSERT INTO user_data (bot_id, user_id, guild_id, category_key, value, created_at, updated_at)
       VALUES ${Array.from({ length: 1_001 }, () => row).join(', ')}`,
      ...given,
    );
    const log = new SqlLog().open();
    try {
      expect((await bot.delete('/data/categories/profile')).status).toBe(200);
    } finally {
      log.close();
    }
    expect(log.runsOf(/ AS "isNaming"\s+FROM consents /)).toBe(2);
    expect(await service.database.rows('SELECT 1 FROM user_data WHERE bot_id = ?', bot.id)).toEqual([]);
  });
});
