import { ConsentedDataHolders } from '@app/crypto';
import { type Batches, type BotSweep, UnitOfWork } from '@app/database';
import { EvidenceRetentionJob } from '@app/gdpr';
import { DeliveryRetention } from '@app/webhooks';
import type { Type } from '@nestjs/common';
import type { Bot } from '../support/bot';
import { withoutJobs } from '../support/jobs';
import { expectFailure } from '../support/expected';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject } from '../support/snowflakes';
import { SqlLog } from '../support/sql-log';

// On SQLite every other request waits for the end of a statement.

const MANY = 12_000;
const service = useServiceInProcess({ WEBHOOK_RETRY_SCHEDULE: '1h' });
let bot: Bot;
beforeAll(() => withoutJobs(service));
beforeEach(async () => {
  bot = await service.registerBot({ webhook_url: 'http://127.0.0.1:8088/closed' });
  await bot.hasCategory('profile');
});

/** Copies the one row of the bot in a table so many times, with other ids that are no older, and other values of some columns. */
async function copied(
  table: string,
  count: number,
  others: Readonly<Record<string, string>> = {},
): Promise<void> {
  const [{ id }] = (await service.database.rows<{ id: string }>(
    `SELECT id FROM ${table} WHERE bot_id = ?`,
    bot.id,
  )) as [{ id: string }];
  const columns = (await service.database.tables()).find(({ name }) => name === table)!.columns;
  const values = { ...others, id: `'${id.slice(0, 24)}' || (100000000000 + i)` };
  const selected = columns.map((column) => (values as Readonly<Record<string, string>>)[column] ?? column);
  await service.database.run(
    `INSERT INTO ${table} (${columns.join(', ')}) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     SELECT ${selected.join(', ')} FROM ${table}, n WHERE bot_id = ? AND id = ?`,
    ...[bot.id, id],
  );
}

interface Listed {
  readonly pagination: { readonly total_count: number; readonly next: string | null };
}

/** The statements about a table, while `work` is done, that neither look at a part of it nor name their rows as `named` says. */
async function unbounded(table: string, named: RegExp, work: () => Promise<unknown>): Promise<string[]> {
  const log = new SqlLog().open();
  await work();
  log.close();
  const read = log.statements().filter((sql) => sql.includes(` ${table}`) || sql.includes(`"${table}"`));
  expect(read.length).toBeGreaterThan(0);
  return read.filter((sql) => !/\bORDER BY [\w.]+( DESC)? LIMIT \d+\b/.test(sql) && !named.test(sql));
}

/** The rows that a walk over a list has, and those of some of its pages; each with the total. */
async function walked(path: string, name: string, pages: readonly string[]): Promise<unknown> {
  const [shown, found]: [unknown[], { rows: number; total: number }] = [[], { rows: 0, total: 0 }];
  const listed = async (query: string) =>
    (await bot.get<Listed & Readonly<Record<string, readonly unknown[]>>>(`${path}${query}`)).data;
  for (const page of pages) {
    const { [name]: rows = [], pagination } = await listed(page);
    shown.push([rows.length, pagination.total_count]);
  }
  for (let next: string | null = ''; next !== null;) {
    const { [name]: rows = [], pagination }: Awaited<ReturnType<typeof listed>> = await listed(
      `&page_size=100${next === '' ? '' : `&after=${next}`}`,
    );
    found.rows += rows.length;
    [found.total, next] = [pagination.total_count, pagination.next];
  }
  return { shown, found };
}

describe('of what one bot has by the million each statement looks at a part', () => {
  it('for a list of webhook calls, whatever its filters and its page are', async () => {
    const who = subject();
    await bot.hasForgotten(who);
    await copied('webhook_deliveries', MANY, { event: `'holder_task'` });
    const calls = '/webhooks/deliveries?';
    const of = (filter: string, ...pages: string[]) => walked(`${calls}${filter}`, 'deliveries', pages);
    const all = { rows: MANY, total: MANY };
    const found = await unbounded('webhook_deliveries', /\bid"? (IN|=) /, async () => {
      expect(await of('', '', '&page=601')).toEqual({
        shown: [
          [20, MANY + 1],
          [1, MANY + 1],
        ],
        found: { rows: MANY + 1, total: MANY + 1 },
      });
      expect(await of('event=holder_task', '&page=121&page_size=100')).toEqual({
        shown: [[0, MANY]],
        found: all,
      });
      expect(await of(`event=holder_task&status=pending&user_id=${who.user_id}`)).toEqual({
        shown: [],
        found: all,
      });
      for (const rare of ['event=user_forgotten', `event=user_forgotten&user_id=${who.user_id}`])
        expect(await of(rare)).toEqual({ shown: [], found: { rows: 1, total: 1 } });
      expect(await of('event=ping&status=delivered')).toEqual({ shown: [], found: { rows: 0, total: 0 } });
    });
    expect(found).toEqual([]);
  });

  it('for the values of a guild, of which few may be shown', async () => {
    const guild_id = snowflake();
    const [one, other] = [subject(), subject()].map(({ user_id }) => ({ user_id, guild_id }));
    for (const who of [one!, other!]) {
      await bot.hasConsent(who);
      await bot.hasData(who, 'profile', { value: 'x' });
    }
    await bot.hasRevoked(one!);
    const { user_id: stored } = service.stored(bot, one!);
    const columns = (await service.database.tables()).find(({ name }) => name === 'user_data')!.columns;
    const selected = columns.map((column) => (column === 'user_id' ? `'user' || (1000000 + i)` : column));
    await service.database.run(
      `INSERT INTO user_data (${columns.join(', ')}) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY})
       SELECT ${selected.join(', ')} FROM user_data, n WHERE bot_id = ? AND user_id = ?`,
      ...[bot.id, stored],
    );
    const path = `/data/values?guild_id=${guild_id}&category=profile`;
    const found = await unbounded('user_data', / given\b/, async () => {
      const [page, none] = [
        [1, 1],
        [0, 1],
      ];
      expect(await walked(path, 'values', ['', '&page=2'])).toEqual({
        shown: [page, none],
        found: { rows: 1, total: 1 },
      });
    });
    expect(found).toEqual([]);
  });

  it('for the deletion of a category that no consent names', async () => {
    await bot.hasCategory('unused');
    await bot.hasConsent(subject());
    await copied('consents', 1_200, { user_id: `'~user' || (1000000 + i)` });
    const log = new SqlLog().open();
    expect((await bot.delete('/data/categories/unused')).status).toBe(200);
    log.close();
    // Three parts, and one behind them.
    expect(log.runsOf(/ FROM consents WHERE [^]* ORDER BY guild_id, user_id LIMIT 500$/)).toBe(4);
    const chosen = log.statements().filter((sql) => /\bWHERE [^]*\bcategories (LIKE|GLOB|~)/.test(sql));
    expect(chosen).toEqual([]);
  });

  it('for entries of deleted bots in the ledger, with a turn for others after each bot', async () => {
    for (let bots = 0; bots < 3; bots++) await (await service.registerBot()).hasForgotten(subject());
    const sweep = service.app.get(EvidenceRetentionJob, { strict: false });
    const log = new SqlLog().open();
    const turns = await turnsOf(sweep.afterBots());
    log.close();
    const looks = log.runsOf(/SELECT bot_id FROM keys\.erasure_ledger/);
    expect(looks).toBeGreaterThan(3);
    expect(turns).toBeGreaterThanOrEqual(looks);
  });

  it.each<[string, Type<BotSweep>, string, RegExp, string]>([
    ['calls to give up and to remove', DeliveryRetention, 'webhook_deliveries', /AS "isMeant"/, ''],
    [
      'erasures that have left something',
      EvidenceRetentionJob,
      'deletion_requests',
      /AS erased_rows FROM/,
      '',
    ],
    [
      'requests that are too old and out of the ledger',
      EvidenceRetentionJob,
      'deletion_requests',
      /AS "isOld" FROM deletion_requests/,
      // Their ids are old, and none of them is.
      `UPDATE deletion_requests SET id = '00' || substr(id, 3), completed_at = '2100-01-01T00:00:00.000Z' WHERE bot_id = ?`,
    ],
  ])('when a job looks for %s, with a turn for others after each', async (_, type, table, looks, prepare) => {
    await bot.hasForgotten(subject());
    await copied(table, 1_200);
    if (prepare !== '') await service.database.run(prepare, bot.id);
    await service.database.run(
      `INSERT INTO webhook_health (bot_id, failures, last_outcome, last_failed_at) VALUES (?, 5, 'refused', ?)
       ON CONFLICT (bot_id) DO UPDATE SET failures = 5, last_failed_at = excluded.last_failed_at`,
      ...[bot.id, new Date().toISOString()],
    );
    const log = new SqlLog().open();
    const sweep = service.app.get(type, { strict: false });
    const turns = await turnsOf(sweep.batches(bot.id, new AbortController().signal));
    log.close();
    expect(log.runsOf(looks)).toBeGreaterThanOrEqual(3);
    expect(turns).toBeGreaterThanOrEqual(3);
  });
});

describe('behind the first part of the deletion of a category', () => {
  /** The number of parts of a deletion that needs some, behind the first of which `act` runs. */
  async function partsWith(act: () => Promise<unknown>): Promise<number> {
    await copied('consents', 600, { user_id: `'~user' || (1000000 + i)` });
    const [unitOfWork, holders] = [service.app.get(UnitOfWork), service.app.get(ConsentedDataHolders)];
    const [write, erase] = [unitOfWork.write.bind(unitOfWork), holders.eraseCategory.bind(holders)];
    let parts = 0;
    let acted: Promise<unknown> | undefined;
    const erasing = jest.spyOn(holders, 'eraseCategory').mockImplementation((...given) => {
      parts += 1;
      return erase(...given);
    });
    const writing = jest.spyOn(unitOfWork, 'write').mockImplementation(async (work) => {
      const done = await write(work);
      if (parts === 1 && acted === undefined) await (acted = act());
      return done;
    });
    expect((await bot.delete('/data/categories/unused')).status).toBe(200);
    for (const spy of [erasing, writing]) spy.mockRestore();
    return parts;
  }

  it('no consent comes to name the category', async () => {
    const who = subject();
    await bot.hasCategory('unused');
    await bot.post('/consents/request', { ...who, consent_version: '1' });
    const parts = await partsWith(async () => {
      const body = { ...who, consent_version: '1', categories: ['unused'] };
      expectFailure(await bot.post('/consents/accept', body), 404, 'not_found');
    });
    expect(parts).toBe(3);
    const naming = `SELECT 1 FROM consents WHERE bot_id = ? AND categories LIKE '%unused%'`;
    expect(await service.database.rows(naming, bot.id)).toEqual([]);
  });

  it('another call can end it: both answer that it is done, and a category registered since stays', async () => {
    await bot.hasConsent(subject());
    await bot.hasCategory('unused');
    await partsWith(async () => {
      expect((await bot.delete('/data/categories/unused')).status).toBe(200);
      await bot.hasCategory('unused');
    });
    expect((await bot.get('/data/categories/unused')).status).toBe(200);
  });
});

/** How often batches have given others a turn without any work. */
async function turnsOf(batches: Batches): Promise<number> {
  let turns = 0;
  for (let step = await batches.next(0); step.done !== true; step = await batches.next(0))
    turns += step.value === undefined ? 1 : 0;
  return turns;
}
