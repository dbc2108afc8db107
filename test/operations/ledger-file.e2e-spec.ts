import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bot } from '../support/bot';
import { type ScriptRun } from '../support/child-script';
import { newDatabase, type TestDatabase } from '../support/database';
import { adminHere, ServiceHere } from '../support/here';
import { keysOf, keyTable } from '../support/saved-database';
import { subject, type SubjectIds } from '../support/snowflakes';

const LETHE_MASTER_KEY = Buffer.alloc(32, 'test').toString('base64');

let directory: string;
let database: TestDatabase;
let service: ServiceHere;
let bot: Bot;

const environment = (): Record<string, string> => ({ DATABASE_URL: database.url, LETHE_MASTER_KEY });
const admin = (...args: string[]): Promise<ScriptRun> => adminHere(args, environment());
const file = (): string => join(directory, 'ledger.ndjson');
const keys = (): TestDatabase => keysOf(database, directory);
const LEDGER = keyTable('erasure_ledger');
const entries = (): Promise<object[]> => keys().rows(`SELECT * FROM ${LEDGER}`);

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  database = await newDatabase(directory);
  service = await new ServiceHere(database, environment()).start();
  bot = await Bot.register(service.url, {});
  await bot.hasCategory('profile');
});
afterEach(async () => {
  await service.end();
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

async function person(): Promise<SubjectIds> {
  const who = subject();
  await bot.hasConsent(who);
  await bot.hasData(who, 'profile', { value: 'kept' });
  return who;
}

/** The lines of an exported ledger. The service is ended. */
async function exported(): Promise<string[]> {
  await service.end();
  return (await admin('ledger:export')).stdout.trimEnd().split('\n');
}

function imported(lines: readonly string[]): Promise<ScriptRun> {
  writeFileSync(file(), `${lines.join('\n')}\n`);
  return admin('ledger:import', '--in', file());
}

/** The line with other values. */
function withValues(line: string | undefined, values: object): string {
  return JSON.stringify({ ...(JSON.parse(line ?? '') as object), ...values });
}

describe('npm run admin -- ledger:export', () => {
  it('exports the ledger while the service runs, replaces no file, and leaves nothing beside the database', async () => {
    const who = await person();
    const requestId = await bot.hasForgotten(who);
    const before = readdirSync(directory);
    const { code, stdout } = await admin('ledger:export');
    expect(code).toBe(0);
    const [, entry = '', last = ''] = stdout.split('\n');
    expect(JSON.parse(entry)).toMatchObject({ bot_id: bot.id, request_id: requestId });
    expect(JSON.parse(last)).toMatchObject({ entries: 1 });
    const isNew = (name: string): boolean => name !== 'lethe.db.backups.json';
    expect(readdirSync(directory).filter(isNew)).toEqual(before.filter(isNew));
    writeFileSync(file(), 'kept');
    expect((await admin('ledger:export', '--out', file())).stderr).toContain('exists already');
    expect(readFileSync(file(), 'utf8')).toBe('kept');
  });
});

describe('npm run admin -- ledger:import', () => {
  it('refuses a file that was cut, changed or made elsewhere, and changes nothing then', async () => {
    for (let count = 0; count < 3; count++) await bot.hasForgotten(await person());
    const lines = await exported();
    const [head = '', first = '', second = '', third = '', last = ''] = lines;
    await keys().run(`DELETE FROM ${LEDGER}`);
    const refused = async (given: readonly string[], message: string): Promise<void> => {
      const { code, stderr } = await imported(given);
      expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
      expect(stderr).toContain('Nothing was changed.');
      expect(await entries()).toEqual([]);
    };
    const unlike = (line: number): string => `Line ${line} is not as it was exported`;
    for (const cut of [1, 2, 3, 4]) await refused(lines.slice(0, cut), 'The file was cut');
    await refused(lines.toSpliced(1, 1), unlike(2));
    await refused([head, second, first, third, last], unlike(2));
    await refused([head, first, first, second, third, last], unlike(3));
    await refused([...lines, third], unlike(6));
    await refused([head, first, '{"bot_id":', third, last], unlike(3));
    for (const changed of [{ key_id: 'AAAAAAAAAAAA' }, { user_id: 'A'.repeat(20) }, { more: 1 }])
      await refused(lines.with(2, withValues(second, changed)), unlike(3));
    await refused(lines.with(4, withValues(last, { entries: 2 })), unlike(5));
    for (const changed of [{ exported_at: '2030-01-01T00:00:00.000Z' }, { format: 'lethe-erasure-ledger/1' }])
      await refused(lines.with(0, withValues(head, changed)), 'Line 1 is not the head');
    await refused([''], 'Line 1 is not the head');
    expect((await imported(lines)).stderr).toContain('3 erasures were added');
  });

  it('refuses lines of another export of the same ledger', async () => {
    await bot.hasForgotten(await person());
    const older = await exported();
    await service.start();
    await bot.hasForgotten(await person());
    const newer = await exported();
    const { code, stderr } = await imported([...newer.slice(0, 2), ...older.slice(2)]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Line 3 is not as it was exported')]);
  });

  it('destroys no key of a subject that the line does not name', async () => {
    const [gone, stays] = [await person(), await person()];
    const requestId = await bot.hasForgotten(gone);
    await service.end();
    const [held] = await database.rows<{ key_id: string }>('SELECT key_id FROM subjects');
    await keys().run(`UPDATE ${LEDGER} SET key_id = ? WHERE request_id = ?`, held?.key_id ?? '', requestId);
    expect((await imported(await exported())).stderr).toContain('0 restored keys were destroyed');
    await service.start();
    expect((await bot.export<{ data: object }>(stays)).data.data).toEqual({ profile: { value: 'kept' } });
  });
});
