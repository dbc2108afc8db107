/**
 * The module brings a migration, which all modules of the process would have from then on.
 *
 * @own-modules
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { createLogger, NestLogger, readConfig } from '@app/kernel';
import { SubjectDataHolders } from '@app/subjects';
import { SqliteDatabase } from '@app/database';
import { AppModule } from '../../apps/api/src/app.module';
import { configureApp, newHttpAdapter } from '../../apps/api/src/configure-app';
import { openApiDocument } from '../../apps/api/src/openapi';
import { RemindersModule } from './add-a-module/reminders.module';
import { Bot, field } from '../support/bot';
import type { Answer } from '../support/client';
import {
  AN_ID,
  auditEvent,
  exportRecord,
  expectFailure,
  expectFaults,
  expectSuccess,
} from '../support/expected';
import { type SubjectIds, subject } from '../support/snowflakes';

const ROOT = join(__dirname, '../..');
const DIRECTORY = mkdtempSync(join(tmpdir(), 'lethe-module-'));
const DATABASE = join(DIRECTORY, 'lethe.db');

const config = readConfig({
  NODE_ENV: 'test',
  DATABASE_URL: `sqlite:${DATABASE}`,
  RATE_LIMIT_TIERS: 'free=1000000',
  RATE_LIMIT_ANONYMOUS: '1000000',
});
const logger = createLogger('silent');

let app: NestExpressApplication;
let bot: Bot;
let who: SubjectIds;

beforeAll(async () => {
  app = await NestFactory.create<NestExpressApplication>(
    // Step 5 of libs/README.md, as start() does it.
    AppModule.forRoot(config, logger, [RemindersModule]),
    newHttpAdapter(),
    { logger: new NestLogger(logger), abortOnError: false },
  );
  configureApp(app);
  await app.listen(0, '127.0.0.1');
});

afterAll(async () => {
  await app.close();
  rmSync(DIRECTORY, { recursive: true });
});

beforeEach(async () => {
  const { port } = app.getHttpServer().address() as AddressInfo;
  bot = await Bot.register(`http://127.0.0.1:${port}`);
  who = subject();
});

const REMINDER = { text: 'Water the plants', due_at: '2027-01-01T08:00:00.000Z' };
const ITEM = { items: [REMINDER] };

/** How many reminders of a bot the file holds. */
function rowsOf({ id }: Bot): unknown {
  const database = new SqliteDatabase(DATABASE, { readonly: true });
  try {
    return database.prepare('SELECT COUNT(*) FROM reminders WHERE bot_id = ?').pluck().get(id);
  } finally {
    database.close();
  }
}

const remind = (of: SubjectIds): Promise<Answer> => bot.post('/reminders', { ...of, ...REMINDER });

describe('a module that a team has added in five steps', () => {
  it('stores under consent and answers in the envelope', async () => {
    await bot.hasConsent(who);
    expectSuccess(await remind(who), 201, { id: AN_ID, ...REMINDER });
  });

  it('answers 403 without consent, and stores nothing', async () => {
    expectFailure(await remind(who), 403, 'consent_required', { current_status: 'none' });
    await bot.hasConsent(who);
    expect((await bot.export(who)).data).toMatchObject({ data: {} });
  });

  it('answers 403 where other categories were granted', async () => {
    await bot.hasCategory('profile');
    const asked = { ...who, consent_version: '1.0', categories: ['profile'] };
    await bot.post('/consents/request', asked);
    await bot.post('/consents/accept', { ...who, consent_version: '1.0' });
    expectFailure(await remind(who), 403, 'consent_required');
  });

  it('names every bad field, wants the key, and counts with the limiter', async () => {
    expectFaults(await bot.post('/reminders', { ...who, text: '', due_at: 'soon' }), 'text', 'due_at');
    const response = await fetch(`${bot.baseUrl}/api/v1/reminders`, { method: 'POST' });
    expect([response.status, response.headers.has('x-ratelimit-limit')]).toEqual([401, true]);
  });

  it('has its data in the export beside that of the service', async () => {
    await bot.hasConsent(who);
    await bot.hasCategory('reminders', [field('channel')]);
    await bot.hasData(who, 'reminders', { channel: 'garden' });
    await remind(who);
    const data = { reminders: { channel: 'garden' }, 'acme.reminders': ITEM };
    expectSuccess(await bot.export(who), 200, exportRecord(who, bot, { data }));
  });

  it('has its data erased with everything else, of this guild alone', async () => {
    const elsewhere = { user_id: who.user_id, guild_id: subject().guild_id };
    for (const each of [who, elsewhere]) {
      await bot.hasConsent(each);
      await remind(each);
    }
    const forgotten = await bot.post('/gdpr/forget-user', who);
    expect(forgotten.data).toMatchObject({ status: 'completed', deleted_categories: ['acme.reminders'] });
    expectFailure(await bot.export(who), 404, 'not_found');
    expect((await bot.export(elsewhere)).data).toMatchObject({ data: { 'acme.reminders': ITEM } });
  });

  it('has its act in the audit log', async () => {
    await bot.hasConsent(who);
    await remind(who);
    const query = `user_id=${who.user_id}&event_type=data_submitted`;
    const { events } = (await bot.get<{ events: unknown[] }>(`/audit/events?${query}`)).data;
    expect(events).toEqual([auditEvent(who, 'data_submitted', { details: { category: 'reminders' } })]);
  });

  it('has its rows go with the bot', async () => {
    await bot.hasConsent(who);
    await remind(who);
    expect(rowsOf(bot)).toBe(1);
    await bot.delete(`/bots/${bot.id}`);
    expect(rowsOf(bot)).toBe(0);
  });

  it('is asked by the service as the holder of its table, and stands in the documentation', () => {
    const tables = app
      .get(SubjectDataHolders)
      .all()
      .flatMap((holder) => holder.tables);
    expect(tables).toContain('reminders');
    expect(Object.keys(openApiDocument(app).paths)).toContain('/api/v1/reminders');
  });
});

describe('libs/README.md', () => {
  it('names every file of this module in its steps', () => {
    const readme = readFileSync(join(ROOT, 'libs/README.md'), 'utf8');
    const linked = [...readme.matchAll(/\.\.\/(test\/repository\/add-a-module\/[^)]+)\)/g)].map(
      ([, path = '']) => path,
    );
    expect(linked).toHaveLength(7);
    expect(linked.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});
