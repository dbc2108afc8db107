import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderAside } from '@app/operations';
import { Bot } from '../support/bot';
import type { ScriptRun } from '../support/child-script';
import { engine } from '../support/database';
import { useInstallation } from '../support/installation';

const lethe = useInstallation();
let bot: Bot;
beforeEach(async () => {
  bot = await lethe.withBot();
});

const file = (): string => join(lethe.directory, 'ledger.ndjson');
const LEDGER = 'keys.erasure_ledger';

/** The lines of an exported ledger. The service is ended. */
async function exported(): Promise<string[]> {
  await lethe.service.end();
  return (await lethe.admin('ledger:export')).stdout.trimEnd().split('\n');
}

function imported(lines: readonly string[]): Promise<ScriptRun> {
  writeFileSync(file(), `${lines.join('\n')}\n`);
  return lethe.admin('ledger:import', '--in', file());
}

/** The line with other values. */
function withValues(line: string | undefined, values: object): string {
  return JSON.stringify({ ...(JSON.parse(line ?? '') as object), ...values });
}

describe('npm run admin -- ledger:export', () => {
  it('exports the ledger while the service runs, replaces no file, and leaves nothing beside the database', async () => {
    const who = await bot.hasUser('kept');
    const requestId = await bot.hasForgotten(who);
    const before = readdirSync(lethe.directory);
    const { code, stdout } = await lethe.admin('ledger:export');
    expect(code).toBe(0);
    const [, entry = '', last = ''] = stdout.split('\n');
    expect(JSON.parse(entry)).toMatchObject({ bot_id: bot.id, request_id: requestId });
    expect(JSON.parse(last)).toMatchObject({ entries: 1 });
    // The service makes its ballast after its start.
    const isNew = (name: string): boolean => name !== 'lethe.db.backups.json' && !name.endsWith('.ballast');
    expect(readdirSync(lethe.directory).filter(isNew)).toEqual(before.filter(isNew));
    writeFileSync(file(), 'kept');
    expect((await lethe.admin('ledger:export', '--out', file())).stderr).toContain('exists already');
    expect(readFileSync(file(), 'utf8')).toBe('kept');
  });

  it('leaves the copy of another export that runs, and removes that of a killed one', async () => {
    if (engine !== 'sqlite') return;
    const running = folderAside(lethe.path, 'ledger');
    const left = `${lethe.path}.ledger-killed`;
    mkdirSync(left);
    writeFileSync(join(left, 'lock'), '');
    expect((await lethe.admin('ledger:export')).code).toBe(0);
    expect([existsSync(running.folder), existsSync(left)]).toEqual([true, false]);
    running.remove();
  });
});

describe('npm run admin -- ledger:import', () => {
  it('is refused beside a running service, whose next start alone would erase again', async () => {
    await bot.hasForgotten(await bot.hasUser('kept'));
    const lines = await exported();
    await lethe.service.start();
    const { code, stderr } = await imported(lines);
    const refusal = engine === 'postgres' ? /^A process of Lethe is using / : /^Another process is using /;
    expect([code, stderr]).toEqual([1, expect.stringMatching(refusal)]);
    await lethe.service.end();
    expect((await imported(lines)).stderr).toContain('0 erasures were added, 1 was known');
  });

  it('refuses a file that was cut, changed or made elsewhere, and changes nothing then', async () => {
    for (let count = 0; count < 3; count++) await bot.hasForgotten(await bot.hasUser('kept'));
    const lines = await exported();
    const [head = '', first = '', second = '', third = '', last = ''] = lines;
    await lethe.database.run(`DELETE FROM ${LEDGER}`);
    const refused = async (given: readonly string[], message: string): Promise<void> => {
      const { code, stderr } = await imported(given);
      expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
      expect(stderr).toContain('Nothing was changed.');
      expect(await lethe.database.rows(`SELECT * FROM ${LEDGER}`)).toEqual([]);
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
    await bot.hasForgotten(await bot.hasUser('kept'));
    const older = await exported();
    await lethe.service.start();
    await bot.hasForgotten(await bot.hasUser('kept'));
    const newer = await exported();
    const { code, stderr } = await imported([...newer.slice(0, 2), ...older.slice(2)]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Line 3 is not as it was exported')]);
  });

  it('destroys no key of a subject that the line does not name', async () => {
    const [gone, stays] = [await bot.hasUser('kept'), await bot.hasUser('kept')];
    const requestId = await bot.hasForgotten(gone);
    await lethe.service.end();
    const [held] = await lethe.database.rows<{ key_id: string }>('SELECT key_id FROM subjects');
    await lethe.database.run(
      `UPDATE ${LEDGER} SET key_id = ? WHERE request_id = ?`,
      held?.key_id ?? '',
      requestId,
    );
    expect((await imported(await exported())).stderr).toContain('0 restored keys were destroyed');
    await lethe.service.start();
    expect((await bot.export<{ data: object }>(stays)).data.data).toEqual({ profile: { value: 'kept' } });
  });
});
