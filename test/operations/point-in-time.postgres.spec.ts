import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KeySet, verifyCertificate } from '@lethe/sdk/evidence';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import type { ScriptRun } from '../support/child-script';
import { ChildService } from '../support/child-service';
import { postgresAt, type TestDatabase } from '../support/database';
import { DebianPostgres, describeWithDebianPostgres } from '../support/debian-postgres';
import { expectFailure } from '../support/expected';
import { adminHere, ServiceHere } from '../support/here';
import { subject, type SubjectIds } from '../support/snowflakes';

// Three servers of PostgreSQL start one after the other.
jest.setTimeout(180_000);

const LETHE_MASTER_KEY = Buffer.alloc(32, 'point').toString('base64');
const build = useBuild();

describeWithDebianPostgres('a point-in-time recovery to before an erasure', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  const postgres = new DebianPostgres();
  const opened: TestDatabase[] = [];
  afterAll(async () => {
    for (const database of opened) await database.disconnect();
    await postgres.remove();
    rmSync(directory, { recursive: true, force: true });
  });

  const at = (url: string): TestDatabase => {
    const database = postgresAt(url);
    opened.push(database);
    return database;
  };
  const admin = (url: string, ...args: string[]): Promise<ScriptRun> =>
    adminHere(args, { DATABASE_URL: url, LETHE_MASTER_KEY });
  const keysIn = (database: TestDatabase): Promise<{ id: string }[]> =>
    database.rows('SELECT id FROM keys.subject_keys ORDER BY id');
  /** The entries of an exported ledger: the head says when it was exported, and the MAC follows from it. */
  const entriesOf = (file: string): string[] =>
    readFileSync(join(directory, file), 'utf8')
      .split('\n')
      .map((line) => line.replace(/,"(mac|exported_at)":"[^"]*"/g, ''));

  const certificateOf = async (bot: Bot, request: string): Promise<string> =>
    (await bot.get<{ certificate: string }>(`/gdpr/forget-status/${request}/certificate`)).data.certificate;

  async function person(bot: Bot): Promise<SubjectIds> {
    const who = subject();
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: `of ${who.user_id}` });
    return who;
  }

  it('brings back the keys and an older ledger; with the newest ledger what was erased stays erased from the first request on', async () => {
    const url = await postgres.create();
    const service = await new ServiceHere(at(url), { DATABASE_URL: url, LETHE_MASTER_KEY }).start();
    const bot = await Bot.register(service.url);
    await bot.hasCategory('profile');
    const [stays, gone] = [await person(bot), await person(bot)];
    await postgres.baseBackup(url, 'base');
    const late = await person(bot);
    const before = await keysIn(at(url));
    expect(before).toHaveLength(3);
    const [{ time }] = (await at(url).rows('SELECT clock_timestamp()::text AS time')) as [{ time: string }];
    const erased = [];
    for (const who of [gone, late]) {
      const answer = await bot.post<{ request_id: string; certificate_salt: string }>(
        '/gdpr/forget-user',
        who,
      );
      const certificate = await certificateOf(bot, answer.data.request_id);
      erased.push({ who, certificate, ...answer.data });
    }
    await admin(url, 'ledger:export', '--out', join(directory, 'ledger'));
    await postgres.archived(url);
    await service.end();
    await postgres.stop(url);

    // A ledger that was not exported in time is in the archive: a second copy, recovered to its end, has it.
    const newest = await postgres.recover('base', 'newest', 'end');
    await admin(newest, 'ledger:export', '--out', join(directory, 'ledger-of-the-archive'));
    expect(entriesOf('ledger-of-the-archive')).toStrictEqual(entriesOf('ledger'));
    expect(entriesOf('ledger').filter((line) => line.includes('request_id'))).toHaveLength(2);
    await postgres.stop(newest);

    const restored = await postgres.recover('base', 'restored', { time });
    expect(await keysIn(at(restored))).toStrictEqual(before);
    expect(await at(restored).rows('SELECT 1 FROM keys.erasure_ledger')).toStrictEqual([]);
    expect(await at(restored).rows('SELECT 1 FROM user_data')).toHaveLength(3);

    const imported = await admin(restored, 'ledger:import', '--in', join(directory, 'ledger-of-the-archive'));
    expect(imported).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('2 erasures were added') as string,
    });
    const settings = { DATABASE_URL: restored, LETHE_MASTER_KEY };
    const api = await new ChildService(build.directory, join(directory, 'none.db'), settings).start();
    const again = bot.at(api);
    for (const { who } of erased) expectFailure(await again.export(who), 404, 'not_found');
    expect(await keysIn(at(restored))).toHaveLength(1);
    expect(await at(restored).rows('SELECT 1 FROM user_data')).toHaveLength(1);
    expect((await again.export<{ data: object }>(stays)).data.data).toStrictEqual({
      profile: { value: `of ${stays.user_id}` },
    });
    const keySet = (await (await fetch(`${api.url}/.well-known/lethe-keys.json`)).json()) as KeySet;
    for (const { who, request_id, certificate_salt: salt, certificate } of erased) {
      // The erasure that is repeated has a certificate of its own. The first one holds as before.
      expect(verifyCertificate(await certificateOf(again, request_id), keySet)).toMatchObject({ request_id });
      const about = { salt, botId: bot.id, userId: who.user_id, guildId: who.guild_id };
      expect(verifyCertificate(certificate, keySet, about)).toMatchObject({ request_id });
      expect(await again.eventTypes(who)).toContain('deletion_completed');
    }
    expect(await api.end('SIGTERM')).toMatchObject({ code: 0 });
  });
});
