/**
 * The newer instance brings a migration, which all modules of the process would have from then on.
 *
 * @own-modules
 */
import {
  addColumn,
  allMigrations,
  createBotTable,
  DatabaseModule,
  id,
  nullable,
  primary,
  text,
} from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Bot, field } from '../support/bot';
import { useBuild } from '../support/build';
import type { ChildService } from '../support/child-service';
import type { Answer } from '../support/client';
import { atDepth } from '../support/depth';
import type { ServiceHere } from '../support/here';
import { useOneInstallation } from '../support/installation';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

/** Expands the schema, as a later release may: columns of the tables that each submit uses, in the order in which it uses them. */
class Expanding4000000000003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumn(runner, 'consents', 'note', nullable(text));
    await addColumn(runner, 'user_data', 'note', nullable(text));
    await runner.query('CREATE INDEX ix_user_data_note ON user_data (bot_id, note)');
    const columns = { bot_id: primary(id), id: primary(id), text };
    await createBotTable(runner, { name: 'next_things', columns });
  }

  async down(): Promise<void> {
    throw new Error('it is never taken back here');
  }
}

const TABLES = `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname IN ('public', 'keys') AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> 'migrations'`;

/** Every table gets a column that its rows can lack, and one with a default. */
async function expandAll(): Promise<void> {
  for (const { name } of await lethe.database.rows<{ name: string }>(TABLES)) {
    await lethe.database.run(`ALTER TABLE ${name} ADD COLUMN of_the_next text`);
    await lethe.database.run(`ALTER TABLE ${name} ADD COLUMN counted integer NOT NULL DEFAULT 0`);
  }
}

const CALLERS = 6;
/** Lives between two steps of the upgrade. */
const LIVES = atDepth(6, 60);

const lethe = useOneInstallation({ build: useBuild() });

/** Callers who live one life after another, each act at the next of the instances that take calls. */
class Load {
  readonly refused: string[] = [];
  lives = 0;
  private turn = 0;
  private isOver = false;
  private readonly calling: Promise<unknown>;

  constructor(
    private readonly bot: Bot,
    public through: readonly { readonly url: string }[],
  ) {
    this.calling = Promise.all(Array.from({ length: CALLERS }, () => this.call()));
  }

  /** Resolves when the callers have lived so many more lives, or one act was refused. */
  async further(lives: number): Promise<void> {
    const aim = this.lives + lives;
    await until(() => this.lives >= aim || this.refused.length > 0);
  }

  async end(): Promise<void> {
    this.isOver = true;
    await this.calling;
  }

  private get at(): Bot {
    return this.bot.at(this.through[this.turn++ % this.through.length] as { url: string });
  }

  private async call(): Promise<void> {
    while (!this.isOver) {
      await this.live().catch((error: unknown) => this.refused.push(String(error)));
      this.lives += 1;
    }
  }

  private async live(): Promise<void> {
    const who = subject();
    const version = { ...who, consent_version: '1.0' };
    const about = `user_id=${who.user_id}&guild_id=${who.guild_id}`;
    await this.expect('registered', this.at.post('/servers/register', { guild_id: who.guild_id }));
    await this.expect('asked', this.at.post('/consents/request', version));
    await this.expect('accepted', this.at.post('/consents/accept', version));
    for (const data of [{ value: 'a' }, { more: 'b' }])
      await this.expect(
        'submitted',
        this.at.post('/data/submit', { ...who, category: 'profile', data, mode: 'merge' }),
      );
    const found = await this.at.export<{ data: unknown }>(who, '&format=full');
    await this.expect('exported', found);
    expect(found.data.data).toMatchObject({ profile: { value: 'a', more: 'b' } });
    for (const path of [
      `/consents/history?${about}`,
      `/audit/events?${about}`,
      '/webhooks/deliveries',
      '/bots/me',
    ])
      await this.expect(path, this.at.get(path));
    await this.expect('revoked', this.at.post('/consents/revoke', who));
    await this.expect('erased', this.at.post('/gdpr/forget-user', who));
  }

  private async expect(what: string, answering: Answer | Promise<Answer>): Promise<void> {
    const { status, text: body } = await answering;
    if (status >= 300) this.refused.push(`${what}: ${status} ${body}`);
  }
}

describe('a rolling upgrade under load, of an instance that knows no later migration', () => {
  let older: ChildService;
  let newer: ServiceHere;
  let load: Load;
  let ending: Awaited<ReturnType<ChildService['end']>>;

  beforeAll(async () => {
    older = await lethe.child().start();
    const bot = await Bot.register(older.url, { webhook_url: 'http://127.0.0.1:8088/closed' });
    await bot.hasCategory('profile', [field('value'), field('more')]);
    load = new Load(bot, [older]);
    // Each statement is kept prepared from then on.
    await load.further(1);
    await expandAll();
    await load.further(LIVES);
    DatabaseModule.forFeature([], [Expanding4000000000003]);
    newer = lethe.here();
    await newer.start();
    await load.further(LIVES);
    load.through = [older, newer];
    await load.further(LIVES);
    load.through = [newer];
    ending = await older.end('SIGTERM');
    await load.further(LIVES);
    await load.end();
  });
  afterAll(async () => {
    await load?.end();
    await newer?.end();
  });

  it('refuses nothing: before, beside and after the migration, and while the older instance ends', () => {
    expect(load.refused).toStrictEqual([]);
    expect(load.lives).toBeGreaterThanOrEqual(4 * LIVES);
    expect(ending).toMatchObject({ code: 0, signal: null });
  });

  it('has the migration, with the rows of both instances', async () => {
    const rows = await lethe.database.rows<{ name: string }>('SELECT name FROM migrations ORDER BY id');
    expect(rows.map(({ name }) => name)).toStrictEqual(allMigrations().map(({ name }) => name));
    const [erased] = await lethe.database.rows<{ n: number }>(
      `SELECT COUNT(*) AS n FROM deletion_requests WHERE status = 'completed' AND counted = 0`,
    );
    expect(Number(erased?.n)).toBe(load.lives);
  });

  it('does not take the older instance back: it refuses to start, and names the migration', async () => {
    const { code, stderr } = await older.refused();
    expect(code).toBe(1);
    expect(stderr).toContain(
      'was written by a newer Lethe, or by one with another module (Expanding4000000000003)',
    );
  });
});
