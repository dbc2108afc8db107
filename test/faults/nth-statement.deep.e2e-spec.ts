import { ApiKeyDirectory } from '@app/bots';
import { ErasureService } from '@app/gdpr';
import { type Bot, field } from '../support/bot';
import type { Answer } from '../support/client';
import { engine } from '../support/database';
import { isFull, stepAtDepth } from '../support/depth';
import { withoutSealing } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';
import { StatementFaults } from '../support/statement-faults';
import { dumpOf } from '../support/tenant-dump';

// R31: whichever statement of a request fails, the whole request takes effect or nothing of it.

const service = useServiceInProcess({ WEBHOOK_RETRY_SCHEDULE: '1h' });
const faults = new StatementFaults();
const unhandled: unknown[] = [];
const heard = (reason: unknown): unknown => unhandled.push(reason);

beforeAll(async () => {
  await withoutSealing(service);
  faults.install();
  process.on('unhandledRejection', heard);
});
afterEach(async () => {
  // SQLite destroys the keys of a bot before its rows. A deletion that failed is continued later.
  const lost = `SELECT key_id FROM subjects JOIN bots ON bots.id = subjects.bot_id AND deleted_at IS NULL
    WHERE key_id NOT IN (SELECT id FROM keys.subject_keys)`;
  expect(await service.database.rows(lost)).toStrictEqual([]);
  // SQLite commits a new key before the row that names it, and keeps it if that fails.
  const lone = 'SELECT id FROM keys.subject_keys WHERE id NOT IN (SELECT key_id FROM subjects)';
  if (engine === 'postgres') expect(await service.database.rows(lone)).toStrictEqual([]);
});
afterAll(() => {
  process.off('unhandledRejection', heard);
  jest.restoreAllMocks();
  expect(unhandled).toStrictEqual([]);
});

/** The statements that fail: each of them, or a fifth of them on the one engine and another fifth on the other. */
const STEP = stepAtDepth(5, 1);
const FIRST = isFull || engine === 'sqlite' ? 1 : 3;

/** Whether a statement has failed. The first one that has to fail exists. */
function hasFailed(nth: number): boolean {
  const { fired } = faults;
  if (nth === FIRST) expect(fired).toBe(true);
  return fired;
}

interface Scene {
  readonly bot: Bot;
  readonly who: SubjectIds;
  readonly asked: SubjectIds;
  /** The key of `who`: after its destruction no row leads to it. */
  readonly keyId: string;
}

/** What a user has decided in the guilds in which a group acts. */
type Group = 'asked' | 'accepted';

/** A bot with a user who has consented and has stored values, and a user with a request that waits. */
async function scene(group?: Group): Promise<Scene> {
  const bot = await service.registerBot({ webhook_url: 'http://127.0.0.1:8088/closed' });
  const [who, asked] = [subject(), subject()];
  await bot.hasCategory('profile', [field('value'), field('more', 'json')]);
  await bot.post('/servers/register', { guild_id: who.guild_id, name: 'before' });
  await bot.hasConsent(who);
  await bot.hasData(who, 'profile', { value: 'before' });
  await bot.post('/consents/texts', { ...TEXT, language: 'de' });
  await bot.hasRequest(asked);
  for (const guild_id of group === undefined ? [] : GUILDS)
    await (group === 'asked' ? bot.hasRequest({ ...who, guild_id }) : bot.hasConsent({ ...who, guild_id }));
  const { user_id: userId } = service.stored(bot, who);
  const [key] = await service.database.rows<{ id: string }>(
    'SELECT id FROM subjects JOIN keys.subject_keys ON id = key_id WHERE bot_id = ? AND user_id = ?',
    ...[bot.id, userId],
  );
  if (key === undefined) throw new Error('the subject has no key');
  return { bot, who, asked, keyId: key.id };
}

const dump = ({ bot }: Scene) => dumpOf(service.database, bot.id);
/** The line of the ledger about a deleted bot, which names no subject. */
const NOTE_OF_BOT = /erasure_ledger .*"guild_id":"","user_id":""/;

const TEXT = { consent_version: '2', title: 'a', body: 'b', jurisdiction: 'c' };
const labels = { label_de: 'a', label_en: 'b' };
const ACTS: readonly (readonly [string, (scene: Scene) => Promise<Answer>])[] = [
  ['PUT /bots/{id}', ({ bot }) => bot.put(`/bots/${bot.id}`, { name: 'after' })],
  ['POST /servers/register', ({ bot }) => bot.post('/servers/register', { guild_id: `${'9'.repeat(18)}` })],
  [
    'POST /data/register',
    ({ bot }) => bot.post('/data/register', { ...labels, key: 'x', fields: [field('v')] }),
  ],
  [
    "POST /data/register in the guide's shape",
    ({ bot }) => bot.post('/data/register', { bot_id: bot.id, categories: [{ name: 'x' }, { name: 'y' }] }),
  ],
  ['PUT /data/categories/{key}', ({ bot }) => bot.put('/data/categories/profile', { retention_days: 3 })],
  ['DELETE /data/categories/{key}', ({ bot }) => bot.delete('/data/categories/profile')],
  [
    'POST /consents/request',
    ({ bot, who }) => bot.post('/consents/request', { ...who, consent_version: '2' }),
  ],
  [
    'POST /consents/accept',
    ({ bot, asked }) => bot.post('/consents/accept', { ...asked, consent_version: '1.0' }),
  ],
  [
    'POST /consents/request of a version with a text',
    ({ bot, asked }) => bot.post('/consents/request', { ...asked, consent_version: '2', language: 'de' }),
  ],
  ['POST /consents/texts', ({ bot }) => bot.post('/consents/texts', { ...TEXT, language: 'en' })],
  ['POST /consents/revoke', ({ bot, who }) => bot.post('/consents/revoke', who)],
  [
    'POST /data/submit',
    ({ bot, who }) => bot.post('/data/submit', { ...who, category: 'profile', data: { value: 'after' } }),
  ],
  [
    'POST /data/submit that merges',
    ({ bot, who }) =>
      bot.post('/data/submit', { ...who, category: 'profile', data: { more: 1 }, mode: 'merge' }),
  ],
  [
    'POST /data/submit that empties',
    ({ bot, who }) => bot.post('/data/submit', { ...who, category: 'profile', data: {} }),
  ],
  ['GET /data/export/{user_id}', ({ bot, who }) => bot.export(who, '&format=full')],
  ['POST /audit/event', ({ bot, who }) => bot.post('/audit/event', { ...who, event_type: 'data_exported' })],
];

type GroupAct = (scene: Scene, guild: string) => Promise<Answer>;

/** The guilds in which a user is asked at the same time. */
const GUILDS = ['1', '2', '3'].map((digit) => digit.repeat(18));
const atOnce = (act: GroupAct, tried: Scene) => Promise.all(GUILDS.map((guild) => act(tried, guild)));
const statusesOf = (answers: readonly Answer[]) => answers.map(({ status }) => status);

/** Acts of several callers that share a transaction. */
const GROUPS: readonly (readonly [string, number, Group, GroupAct])[] = [
  [
    'POST /consents/request',
    201,
    'asked',
    ({ bot, who: { user_id } }, guild_id) =>
      bot.post('/consents/request', { user_id, guild_id, consent_version: '2', categories: ['profile'] }),
  ],
  [
    'POST /consents/accept',
    200,
    'asked',
    ({ bot, who: { user_id } }, guild_id) =>
      bot.post('/consents/accept', { user_id, guild_id, consent_version: '1.0' }),
  ],
  [
    'POST /consents/revoke',
    200,
    'accepted',
    ({ bot, who: { user_id } }, guild_id) => bot.post('/consents/revoke', { user_id, guild_id }),
  ],
];

/** Answers that say that the act took effect, or that the caller can try again. */
function requireHonest(answer: Answer, done: number): void {
  expect({ text: answer.text, status: answer.status }).toMatchObject({
    status: answer.status === done ? done : 503,
  });
  if (answer.status === 503) expect(answer.header('retry-after')).toBe('1');
}

describe('whichever statement fails', () => {
  it.each(ACTS)('%s takes place whole or not at all, and can be repeated', async (_, act) => {
    const model = await scene();
    const before = await dump(model);
    const { status: done } = await act(model);
    const after = await dump(model);
    expect(done).toBeLessThan(300);
    for (let nth = FIRST, fired = true; fired; nth += STEP) {
      const tried = await scene();
      faults.failAt(nth);
      const answer = await act(tried);
      faults.heal();
      fired = hasFailed(nth);
      requireHonest(answer, done);
      const found = await dump(tried);
      expect({ nth, found }).toStrictEqual({ nth, found: answer.status === done ? after : before });
      if (answer.status === done) continue;
      expect((await act(tried)).status).toBe(done);
      expect({ nth, found: await dump(tried) }).toStrictEqual({ nth, found: after });
    }
  });

  it.each(GROUPS)('%s of one moment take place whole or not at all each', async (_, done, group, act) => {
    const model = await scene(group);
    expect(statusesOf(await atOnce(act, model))).toStrictEqual([done, done, done]);
    const after = await dump(model);
    for (let nth = FIRST, fired = true; fired; nth += STEP) {
      const tried = await scene(group);
      faults.failAt(nth);
      const answers = await atOnce(act, tried);
      faults.heal();
      fired = hasFailed(nth);
      for (const answer of answers) requireHonest(answer, done);
      for (const [at, answer] of answers.entries())
        if (answer.status !== done) expect((await act(tried, GUILDS[at]!)).status).toBe(done);
      expect({ nth, found: await dump(tried) }).toStrictEqual({ nth, found: after });
    }
  });

  it('POST /bots/register leaves a bot that was answered, or none', async () => {
    for (let nth = FIRST, fired = true; fired; nth += STEP) {
      const body = { platform_bot_id: snowflake(), name: 'x' };
      faults.failAt(nth);
      const answer = await service.anonymous.post('/bots/register', body);
      faults.heal();
      fired = hasFailed(nth);
      requireHonest(answer, 201);
      const rows = await service.database.rows(
        'SELECT 1 FROM bots WHERE platform_bot_id = ?',
        body.platform_bot_id,
      );
      expect({ nth, rows: rows.length }).toStrictEqual({ nth, rows: answer.status === 201 ? 1 : 0 });
      if (answer.status !== 201)
        expect((await service.anonymous.post('/bots/register', body)).status).toBe(201);
    }
  });

  it('DELETE /bots/{id} can be repeated until it is answered or the key is void, and the bot is then deleted or marked as deleted', async () => {
    // Each deletion would wait for a second until no process trusts the key.
    jest
      .spyOn(service.app.get(ApiKeyDirectory, { strict: false }), 'forgottenEverywhere')
      .mockResolvedValue();
    // It has many equal statements: each of the first ones fails, and fewer of the later ones.
    for (let nth = FIRST, fired = true; fired; nth += STEP + Math.floor(nth / 5)) {
      const tried = await scene();
      faults.failAt(nth);
      const answer = await tried.bot.delete(`/bots/${tried.bot.id}`);
      faults.heal();
      fired = hasFailed(nth);
      requireHonest(answer, 200);
      if (answer.status !== 200)
        // 503 where the recovery of deletions has taken it over meanwhile.
        expect([200, 401, 503]).toContain((await tried.bot.delete(`/bots/${tried.bot.id}`)).status);
      // The ledger says that its keys are destroyed.
      const left = (await dump(tried)).filter((line) => !NOTE_OF_BOT.test(line));
      // The rest of a bot with a void key is marked, and deleted by the recovery of deletions.
      const marked = left.some((line) => line.startsWith('bots') && line.includes('"deleted_at":"*"'));
      expect({ nth, isGone: left.length === 0 || marked }).toStrictEqual({ nth, isGone: true });
    }
  });
});

const ERASURES: readonly (readonly [string, (scene: Scene) => Promise<Answer>])[] = [
  ['POST /gdpr/forget-user', ({ bot, who }) => bot.post('/gdpr/forget-user', who)],
  ['DELETE /servers/{guild_id}', ({ bot, who }) => bot.delete(`/servers/${who.guild_id}`)],
];

/** The present rows, key and requests of the subject. */
async function stateOf({ bot, who, keyId }: Scene) {
  const { user_id: userId } = service.stored(bot, who);
  return service.database.session(async (look) => {
    const of = (table: string, column = '1') =>
      look<{ status: string }>(
        `SELECT ${column} AS status FROM ${table} WHERE bot_id = ? AND user_id = ?`,
        ...[bot.id, userId],
      );
    const requests = (await of('deletion_requests', 'status')).map(({ status }) => status);
    const events = (await of('audit_events', 'event_type')).map(({ status }) => status);
    const calls = (await of('webhook_deliveries')).length;
    const places = ['user_data', 'consent_history', 'subjects'];
    const rows = [];
    for (const place of places) rows.push((await of(place)).length > 0);
    const keys = await look('SELECT 1 FROM keys.subject_keys WHERE id = ?', keyId);
    return { requests, events, calls, held: { rows: [...new Set(rows)], key: keys.length > 0 } };
  });
}

const HELD = { rows: [true], key: true };
const ERASED = { rows: [false], key: false };
/** SQLite commits to the keys first, then to the data: data without its key is about to be removed. */
const BETWEEN = { rows: [true], key: false };

const count = (list: readonly string[], wanted: string): number =>
  list.filter((each) => each === wanted).length;

describe.each(ERASURES)('an erasure by %s', (_, act) => {
  it.each([
    ['one statement fails', false],
    ['the database is gone from a statement on', true],
  ])('is never half, is not completed too early, and is resumed when %s', async (__, lasting) => {
    const erasures = service.app.get(ErasureService, { strict: false });
    for (let nth = FIRST, fired = true; fired; nth += lasting && !isFull ? 2 * STEP : STEP) {
      const tried = await scene();
      faults.failAt(nth, lasting);
      const answer = await act(tried);
      faults.heal();
      fired = hasFailed(nth);
      requireHonest(answer, 200);
      const left = await stateOf(tried);
      const completed = count(left.requests, 'completed');
      // On SQLite the key is removed from the files in between: erased data is not yet reported as completed.
      const isUnderWay = engine === 'sqlite' && left.requests.includes('processing');
      const allowed = completed > 0 ? [ERASED] : isUnderWay ? [HELD, BETWEEN, ERASED] : [HELD];
      expect(allowed.map((held) => ({ nth, held }))).toContainEqual({ nth, held: left.held });
      expect(count(left.events, 'deletion_completed')).toBe(completed);
      expect(left.calls).toBe(completed);
      if (/"status":"failed"/.test(answer.text)) expect(left.requests).toStrictEqual(['failed']);
      await erasures.finishLeft();
      expect((await stateOf(tried)).requests).not.toContain('processing');
      if (answer.status !== 200) expect([200, 404]).toContain((await act(tried)).status);
      const end = await stateOf(tried);
      expect({ nth, held: end.held }).toStrictEqual({ nth, held: ERASED });
      expect(count(end.events, 'deletion_completed')).toBe(count(end.requests, 'completed'));
      expect(count(end.events, 'deletion_failed')).toBe(count(end.requests, 'failed'));
    }
  });
});
