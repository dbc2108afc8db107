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
import { Clock, createLogger, daysAfter, NestLogger, readConfig } from '@app/kernel';
import { SubjectDataHolders, SubjectDigests, SubjectTexts, UnreadableSecretError } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import {
  CategoryRetention,
  DueData,
  requireReading,
  requireStorable,
  WithdrawnDataErasure,
} from '@app/user-data';
import { AuditService, declareEventTypes } from '@app/audit';
import { LetheHttpAdapter } from '@app/http';
import { SqliteDatabase } from '@app/database';
import { AppModule } from '../../apps/api/src/app.module';
import { configureApp } from '../../apps/api/src/configure-app';
import { openApiDocument } from '../../apps/api/src/openapi';
import { RemindersHolder } from './add-a-module/reminders.holder';
import { RemindersModule } from './add-a-module/reminders.module';
import { Bot, field } from '../support/bot';
import { type Answer, Client } from '../support/client';
import {
  AN_ID,
  auditEvent,
  expectFailure,
  expectFaults,
  expectSuccess,
  exportRecord,
} from '../support/expected';
import { endPeriods, runNow } from '../support/jobs';
import { forgetInMemory } from '../support/opened-keys';
import { PATIENT, PATIENT_SERVER } from '../support/patient';
import { get } from '../support/privacy-page';
import { subject, type SubjectIds } from '../support/snowflakes';
import { filesBelow } from '../support/traces';

const ROOT = join(__dirname, '../..');
const DIRECTORY = mkdtempSync(join(tmpdir(), 'lethe-module-'));
const DATABASE = join(DIRECTORY, 'lethe.db');

const config = readConfig({
  NODE_ENV: 'test',
  ...PATIENT,
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
    new LetheHttpAdapter(config),
    { logger: new NestLogger(logger), abortOnError: false },
  );
  configureApp(app);
  await app.listen(0, '127.0.0.1');
  Object.assign(app.getHttpServer(), PATIENT_SERVER);
  await endPeriods({ app });
});

afterAll(async () => {
  await app.close();
  rmSync(DIRECTORY, { recursive: true });
});

beforeEach(async () => {
  const { port } = app.getHttpServer().address() as AddressInfo;
  bot = await Bot.register(`http://127.0.0.1:${port}`);
  await bot.hasCategory('reminders', [field('channel')], { retention_days: 90 });
  who = subject();
});
afterEach(() => jest.restoreAllMocks());

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

/** What the database and the files beside it hold, as bytes. */
function filesHold(text: string): boolean {
  return filesBelow(DIRECTORY).some((path) => readFileSync(path).includes(text));
}

async function eventsOf(type: string): Promise<unknown[]> {
  const query = `user_id=${who.user_id}&event_type=${type}`;
  return (await bot.get<{ events: unknown[] }>(`/audit/events?${query}`)).data.events;
}

/** From now on it is so many days, and milliseconds, after a time that was answered. */
function after(iso: string, days: number, ms = 0): void {
  jest.spyOn(app.get(Clock), 'nowMs').mockReturnValue(Date.parse(daysAfter(iso, days)) + ms);
}

async function sweep(): Promise<void> {
  for (const job of [WithdrawnDataErasure, CategoryRetention]) await runNow({ app }, job);
}

const deletions = async () =>
  ((await eventsOf('data_deleted')) as { details: unknown }[]).map((one) => one.details);

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

  it('answers 404 where the bot has not declared the category', async () => {
    await bot.delete('/data/categories/reminders');
    await bot.hasConsent(who);
    expectFailure(await remind(who), 404, 'not_found');
  });

  it('names every bad field, wants the key, and counts with the limiter', async () => {
    expectFaults(await bot.post('/reminders', { ...who, text: '', due_at: 'soon' }), 'text', 'due_at');
    const response = await fetch(`${bot.baseUrl}/api/v1/reminders`, { method: 'POST' });
    expect([response.status, response.headers.has('x-ratelimit-limit')]).toEqual([401, true]);
  });

  it('wants the scope write of its POST, which no one has declared', async () => {
    const made = await bot.post<{ api_key: string }>(`/bots/${bot.id}/keys`, { scopes: ['read'] });
    const reader = new Client(bot.baseUrl, made.data.api_key);
    const details = { required: 'write' };
    expectFailure(await reader.post('/reminders', REMINDER), 403, 'insufficient_scope', details);
  });

  it('has its data in the export beside that of the service', async () => {
    await bot.hasConsent(who);
    await bot.hasData(who, 'reminders', { channel: 'garden' });
    await remind(who);
    const data = { reminders: { channel: 'garden' }, 'acme.reminders': ITEM };
    expectSuccess(await bot.export(who), 200, exportRecord(who, bot, { data }));
  });

  it('fails an export, and names its data, where the key of the user is lost', async () => {
    await bot.hasConsent(who);
    await remind(who);
    await app.get(UnitOfWork).write(async (tx) => {
      const held = await tx.get<{ key_id: string }>('SELECT key_id FROM subjects WHERE bot_id = ?', bot.id);
      await tx.run('DELETE FROM keys.subject_keys WHERE id = ?', held?.key_id ?? '');
      forgetInMemory({ app }, held?.key_id ?? '');
    });
    const path = `/data/export/${who.user_id}?scope=all_guilds`;
    for (const refused of [await bot.export(who), await bot.get(path)])
      expectFailure(refused, 500, 'internal_error', { categories: ['acme.reminders'] });
  });

  it('has each text decrypted in the unit that has made the key of its user', async () => {
    const texts = app.get(SubjectTexts, { strict: false });
    const named = app.get(SubjectDigests, { strict: false }).named(bot.id, who);
    const read = app.get(UnitOfWork).write(async (tx) => {
      const text = await texts.encrypt(tx, named, 'reminders', 'r', REMINDER.text);
      const one = await texts.decrypt(tx, named, 'reminders', 'r', text);
      return [one, ...(await texts.decryptAll(tx, named, 'reminders', [{ id: 'r', text }], 'x'))];
    });
    expect(await read).toEqual([REMINDER.text, REMINDER.text]);
  });

  it.each(['by decryptAll', 'by a holder of its own'])(
    'leaves the privacy page usable where a text is damaged, with the values of others: found %s',
    async (found) => {
      await bot.hasConsent(who);
      await bot.hasData(who, 'reminders', { channel: 'garden' });
      await remind(who);
      const planted = `UPDATE reminders SET text = 'planted' WHERE bot_id = ?`;
      await app.get(UnitOfWork).write((tx) => tx.run(planted, bot.id));
      const [holders, holder] = [app.get(SubjectDataHolders), app.get(RemindersHolder, { strict: false })];
      if (found !== 'by decryptAll')
        jest.spyOn(holder, 'export').mockRejectedValue(new UnreadableSecretError());
      // It is asked before the others.
      const others = holders.all().filter((one) => one !== holder);
      jest.spyOn(holders, 'all').mockReturnValue([holder, ...others]);
      const { url } = (await bot.post<{ url: string }>('/privacy-links', who)).data;
      const page = await get(url);
      expect([page.status, page.text]).toEqual([200, expect.stringContaining('garden')]);
      expect(page.text).toContain('Some values cannot be read');
    },
  );

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
    expect(await eventsOf('acme.reminder_set')).toEqual([
      auditEvent(who, 'acme.reminder_set', { details: { due_at: REMINDER.due_at } }),
    ]);
  });

  it('has its own type of event listed, filtered, counted and documented, and closed to bots', async () => {
    await bot.hasConsent(who);
    await remind(who);
    await remind(who);
    const { data } = await bot.get<{ pagination: object }>('/audit/events?event_type=acme.reminder_set');
    expect(data.pagination).toMatchObject({ total_count: 2 });
    const { data: all } = await bot.get<{ pagination: object }>('/audit/events');
    expect(all.pagination).toMatchObject({ total_count: 4 });
    expectFaults(await bot.post('/audit/event', { ...who, event_type: 'acme.reminder_set' }), 'event_type');
    expectFaults(await bot.get('/audit/events?event_type=acme.other'), 'event_type');
    expect(JSON.stringify((await openApiDocument(app)).components?.schemas?.['AuditEventView'])).toContain(
      '"acme.reminder_set"',
    );
  });

  it('cannot record a type that it has not declared', async () => {
    const named = app.get(SubjectDigests, { strict: false }).named(bot.id, who);
    const recorded = app
      .get(UnitOfWork)
      .write((tx) => app.get(AuditService, { strict: false }).record(tx, named, 'acme.other'));
    await expect(recorded).rejects.toThrow('declareEventTypes');
    expect(() => declareEventTypes('acme.a_name_that_the_column_does_not_take')).toThrow('32 characters');
    expect(() => declareEventTypes('Acme.Reminder')).toThrow('lower case');
  });

  it('has its texts encrypted in the database, and no id of a user or guild', async () => {
    await bot.hasConsent(who);
    await remind(who);
    expect(rowsOf(bot)).toBe(1);
    // Shows that the files are searched: the id of the bot is stored as it is.
    expect(filesHold(bot.id)).toBe(true);
    for (const hidden of [who.user_id, who.guild_id, REMINDER.text]) expect(filesHold(hidden)).toBe(false);
  });

  it('has its rows erased after a revocation and its days of grace, no moment before, with one event', async () => {
    await bot.hasConsent(who);
    await remind(who);
    await remind(who);
    const { data } = await bot.post<Record<string, string>>('/consents/revoke', who);
    const { revoked_at: at = '', data_erased_at: announced } = data;
    expect(announced).toBe(daysAfter(at, 30));
    after(at, 30, -1);
    await sweep();
    expect(rowsOf(bot)).toBe(2);
    after(at, 30);
    const counted = await app.get(DueData, { strict: false }).counts(bot.id);
    expect(counted).toEqual([{ category: 'reminders', reason: 'consent_revoked', values: 2 }]);
    await sweep();
    expect(rowsOf(bot)).toBe(0);
    expect(await deletions()).toEqual([{ category: 'reminders', reason: 'consent_revoked', actor: 'job' }]);
  });

  it('has its rows kept when the user revokes and then consents again', async () => {
    await bot.hasConsent(who);
    await remind(who);
    await bot.post('/consents/revoke', who);
    await bot.hasConsent(who);
    after(new Date().toISOString(), 31);
    await sweep();
    expect(rowsOf(bot)).toBe(1);
  });

  it('has its days of grace counted from the last revocation', async () => {
    await bot.hasConsent(who);
    await remind(who);
    await bot.post('/consents/revoke', who);
    await bot.hasConsent(who);
    after(new Date().toISOString(), 10);
    const { data } = await bot.post<Record<string, string>>('/consents/revoke', who);
    expect(data['data_erased_at']).toBe(daysAfter(data['revoked_at'] ?? '', 30));
  });

  it('has its rows erased where the user withdraws this category alone', async () => {
    await bot.hasCategory('profile');
    await bot.hasConsent(who);
    await remind(who);
    await bot.post('/consents/revoke', { ...who, categories: ['profile'] });
    after(new Date().toISOString(), 31);
    await sweep();
    expect(rowsOf(bot)).toBe(1);
    jest.restoreAllMocks();
    await bot.post('/consents/revoke', { ...who, categories: ['reminders'] });
    after(new Date().toISOString(), 31);
    await sweep();
    expect(rowsOf(bot)).toBe(0);
  });

  it('has its rows erased after the retention_days of the category', async () => {
    await bot.hasConsent(who);
    const before = new Date().toISOString();
    await remind(who);
    after(before, 90, -1);
    await sweep();
    expect(rowsOf(bot)).toBe(1);
    after(new Date().toISOString(), 90);
    await sweep();
    expect(rowsOf(bot)).toBe(0);
    expect(await deletions()).toEqual([{ category: 'reminders', reason: 'retention', actor: 'job' }]);
  });

  it('has its rows erased with the category, of all its users', async () => {
    for (const each of [who, subject()]) {
      await bot.hasConsent(each);
      await remind(each);
    }
    await bot.delete('/data/categories/reminders');
    expect(rowsOf(bot)).toBe(0);
    expect(await deletions()).toEqual([
      { category: 'reminders', actor: expect.stringMatching(/^key:/) as unknown },
    ]);
  });

  it('has its rows erased by DELETE /data/values, with one event', async () => {
    await bot.hasConsent(who);
    await remind(who);
    await remind(who);
    const erase = () => bot.delete(`/data/values/${who.user_id}?guild_id=${who.guild_id}&category=reminders`);
    expectSuccess(await erase(), 200, { deleted: true });
    expect(rowsOf(bot)).toBe(0);
    expectSuccess(await erase(), 200, { deleted: false });
    expect(await deletions()).toEqual([
      { category: 'reminders', actor: expect.stringMatching(/^key:/) as unknown },
    ]);
  });

  it('has its rows erased by an objection (Art. 21), of this user alone, and stores no more', async () => {
    await bot.delete('/data/categories/reminders');
    await bot.hasCategory('reminders', [field('channel')], { legal_basis: 'legitimate_interests' });
    const other = subject();
    for (const each of [who, other]) {
      await bot.hasConsent(each);
      await remind(each);
    }
    expect((await bot.post('/data/object', who)).status).toBe(200);
    expect(rowsOf(bot)).toBe(1);
    expect(await deletions()).toMatchObject([{ act: 'objection', categories: ['reminders'] }]);
    expectFailure(await remind(who), 403, 'processing_refused', { reason: 'objection' });
    expect((await remind(other)).status).toBe(201);
  });

  it('keeps its rows under a restriction (Art. 18), and neither adds to them nor reads them', async () => {
    await bot.hasConsent(who);
    await remind(who);
    const named = app.get(SubjectDigests, { strict: false }).named(bot.id, who);
    const read = () => app.get(UnitOfWork).read((tx) => requireReading(tx, named, 'reminders'));
    await read();
    await bot.post('/data/restrict', { ...who, category: 'reminders' });
    expectFailure(await remind(who), 403, 'processing_refused', { reason: 'restriction' });
    await expect(read()).rejects.toMatchObject({ code: 'processing_refused' });
    expect(rowsOf(bot)).toBe(1);
    await bot.post('/data/unrestrict', who);
    expect((await remind(who)).status).toBe(201);
    await bot.post('/consents/revoke', who);
    await expect(read()).rejects.toMatchObject({ code: 'consent_required' });
  });

  it('stores and reads without a consent where the category needs none, but not during the erasure of the user', async () => {
    const open = {
      legal_basis: 'public_task',
      requires_consent: false,
      reason_de: 'Nötig.',
      reason_en: 'Needed.',
    };
    await bot.hasCategory('bans', undefined, open);
    const named = app.get(SubjectDigests, { strict: false }).named(bot.id, who);
    const unitOfWork = app.get(UnitOfWork);
    const store = (category: string) => unitOfWork.write((tx) => requireStorable(tx, named, category));
    const read = (category: string) => unitOfWork.read((tx) => requireReading(tx, named, category));
    await store('bans');
    await read('bans');
    await bot.hasConsent(who);
    for (const asked of [store, read]) {
      await expect(asked('undeclared')).rejects.toMatchObject({ code: 'not_found' });
      await unitOfWork.write((tx) => tx.run('UPDATE consents SET erasing = 1 WHERE bot_id = ?', bot.id));
      await expect(asked('bans')).rejects.toMatchObject({ details: { reason: 'deletion_in_progress' } });
      await unitOfWork.write((tx) => tx.run('UPDATE consents SET erasing = 0 WHERE bot_id = ?', bot.id));
    }
  });

  it('has its rows removed with the bot', async () => {
    await bot.hasConsent(who);
    await remind(who);
    expect(rowsOf(bot)).toBe(1);
    await bot.delete(`/bots/${bot.id}`);
    expect(rowsOf(bot)).toBe(0);
  });

  it('is called by the service as the holder of its table, and is part of the documentation', async () => {
    const tables = app
      .get(SubjectDataHolders)
      .all()
      .flatMap((holder) => holder.tables);
    expect(tables).toContain('reminders');
    expect(Object.keys((await openApiDocument(app)).paths)).toContain('/api/v1/reminders');
  });
});

describe('libs/README.md', () => {
  it('names every file of this module in its steps', () => {
    const readme = readFileSync(join(ROOT, 'libs/README.md'), 'utf8');
    const linked = [...readme.matchAll(/\.\.\/(test\/repository\/add-a-module\/[^)]+)\)/g)].map(
      ([, path = '']) => path,
    );
    expect(linked).toHaveLength(8);
    expect(linked.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});
