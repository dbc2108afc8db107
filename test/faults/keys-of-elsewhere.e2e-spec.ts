import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KEY_TABLES, type SqlValue } from '@app/database';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { runScript } from '../support/child-script';
import { ChildService } from '../support/child-service';
import { engine, newDatabase, type TestDatabase } from '../support/database';
import { ServiceHere } from '../support/here';
import { subject } from '../support/snowflakes';

// The keys of one installation beside the data of another one that has the same master key.

const build = useBuild();
const LETHE_MASTER_KEY = Buffer.alloc(32, 'test').toString('base64');
const WORDS =
  /^The keys are those of another installation than the data\. Nothing was changed\. .*restore.*\n$/;

interface KeyRows {
  readonly table: string;
  readonly rows: readonly Readonly<Record<string, SqlValue>>[];
}

/** An installation in a directory of its own. */
class Installation {
  readonly directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  database: TestDatabase;
  service: ChildService;
  readonly who = subject();
  bot: Bot;

  /** Stopped, with a value of one user. */
  async make(): Promise<this> {
    this.database = await newDatabase(this.directory);
    const path = join(this.directory, 'lethe.db');
    this.service = new ChildService(build.directory, path, this.settings);
    const here = await new ServiceHere(this.database, this.settings).start();
    this.bot = await Bot.register(here.url);
    await this.bot.hasCategory('profile');
    await this.bot.hasConsent(this.who);
    await this.bot.hasData(this.who, 'profile', { value: 'x' });
    await here.end();
    return this;
  }

  get settings(): Record<string, string> {
    return { DATABASE_URL: this.database.url, LETHE_MASTER_KEY };
  }

  /** The rows of each key table. */
  async keys(): Promise<readonly KeyRows[]> {
    const found: KeyRows[] = [];
    for (const table of Object.keys(KEY_TABLES).map((name) => `keys.${name}`))
      found.push({ table, rows: await this.database.rows(`SELECT * FROM ${table}`) });
    return found;
  }

  async replaceKeys(keys: readonly KeyRows[]): Promise<void> {
    for (const { table, rows } of keys) {
      await this.database.run(`DELETE FROM ${table}`);
      for (const row of rows) {
        const columns = Object.keys(row);
        const marks = columns.map(() => '?').join(', ');
        const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks})`;
        await this.database.run(sql, ...Object.values(row));
      }
    }
  }

  async remove(): Promise<void> {
    await this.database.drop();
    rmSync(this.directory, { recursive: true });
  }
}

let own: Installation;
beforeEach(async () => {
  own = await new Installation().make();
});
afterEach(() => own.remove());

describe('a start on the keys of another installation', () => {
  it('is refused in words until the own keys are back, and so is a command', async () => {
    const saved = await own.keys();
    const other = await new Installation().make();
    await own.replaceKeys(await other.keys());
    await other.remove();
    const { code, stderr } = await own.service.refused();
    expect([code, stderr]).toEqual([1, expect.stringMatching(WORDS)]);
    const command = await runScript(build, 'admin', ['audit:verify'], own.settings);
    expect([command.code, command.stderr]).toEqual([1, expect.stringMatching(WORDS)]);
    await own.replaceKeys(saved);
    const service = await new ServiceHere(own.database, own.settings).start();
    const answer = await own.bot.at(service).export<{ data: object }>(own.who);
    expect(answer.data.data).toEqual({ profile: { value: 'x' } });
    await service.end();
  });

  it('is refused too when they hold nothing, and leaves them empty', async () => {
    await own.replaceKeys((await own.keys()).map(({ table }) => ({ table, rows: [] })));
    const { code, stderr } = await own.service.refused();
    expect([code, stderr]).toEqual([1, expect.stringMatching(WORDS)]);
    expect(await own.database.rows('SELECT * FROM keys.service_keys')).toEqual([]);
  });
});

describe('a start on an empty database beside keys in use', () => {
  it('is refused in words', async () => {
    if (engine === 'sqlite') rmSync(join(own.directory, 'lethe.db'));
    else await own.database.run('DROP SCHEMA public CASCADE');
    if (engine === 'postgres') await own.database.run('CREATE SCHEMA public');
    const { code, stderr } = await own.service.refused();
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/holds no data, but .*keys.* Restore the data/),
    ]);
  });
});
