import { rmSync } from 'node:fs';
import { KEY_TABLES, type SqlValue } from '@app/database';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { engine } from '../support/database';
import { useInstallation, Installation } from '../support/installation';
import type { SubjectIds } from '../support/snowflakes';

// The keys of one installation beside the data of another one that has the same master key.

const WORDS =
  /^The keys are those of another installation than the data\. Nothing was changed\. .*restore.*\n$/;

interface KeyRows {
  readonly table: string;
  readonly rows: readonly Readonly<Record<string, SqlValue>>[];
}

/** The rows of each key table. */
async function keysIn({ database }: Installation): Promise<readonly KeyRows[]> {
  const found: KeyRows[] = [];
  for (const table of Object.keys(KEY_TABLES).map((name) => `keys.${name}`))
    found.push({ table, rows: await database.rows(`SELECT * FROM ${table}`) });
  return found;
}

async function replaceKeys(keys: readonly KeyRows[]): Promise<void> {
  for (const { table, rows } of keys) {
    await own.database.run(`DELETE FROM ${table}`);
    for (const row of rows) {
      const columns = Object.keys(row);
      const marks = columns.map(() => '?').join(', ');
      const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks})`;
      await own.database.run(sql, ...Object.values(row));
    }
  }
}

const own = useInstallation({ build: useBuild() });
let bot: Bot;
let who: SubjectIds;
beforeEach(async () => {
  bot = await own.withBot();
  who = await bot.hasUser('x');
  await own.service.end();
});

describe('a start on the keys of another installation', () => {
  it('is refused in words until the own keys are back, and so is a command', async () => {
    const saved = await keysIn(own);
    const other = await new Installation().open();
    await (await other.service.start()).end();
    await replaceKeys(await keysIn(other));
    await other.remove();
    const { code, stderr } = await own.child().refused();
    expect([code, stderr]).toEqual([1, expect.stringMatching(WORDS)]);
    const command = await own.adminApart(['audit:verify']);
    expect([command.code, command.stderr]).toEqual([1, expect.stringMatching(WORDS)]);
    await replaceKeys(saved);
    await own.service.start();
    const answer = await bot.export<{ data: object }>(who);
    expect(answer.data.data).toEqual({ profile: { value: 'x' } });
    await own.service.end();
  });

  it('is refused too when they hold nothing, and leaves them empty', async () => {
    await replaceKeys((await keysIn(own)).map(({ table }) => ({ table, rows: [] })));
    const { code, stderr } = await own.child().refused();
    expect([code, stderr]).toEqual([1, expect.stringMatching(WORDS)]);
    expect(await own.database.rows('SELECT * FROM keys.service_keys')).toEqual([]);
  });
});

describe('a start on an empty database beside keys in use', () => {
  it('is refused in words', async () => {
    if (engine === 'sqlite') rmSync(own.path);
    else await own.database.run('DROP SCHEMA public CASCADE');
    if (engine === 'postgres') await own.database.run('CREATE SCHEMA public');
    const { code, stderr } = await own.child().refused();
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/holds no data, but .*keys.* Restore the data/),
    ]);
  });
});
