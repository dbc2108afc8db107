import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { transformSync } from 'esbuild';
import ts from 'typescript';
import { Lethe } from '@lethe/sdk';
import { CommandLine } from '../support/command-line';
import { canRun } from '../support/programs';
import { useService } from '../support/shared-service';
import { subject } from '../support/snowflakes';

// The code of docs/quickstart.md and docs/existing-bot.md, as it is there, against the service; that of docs/holders.md compiles.
// release.deep.spec.ts runs the quickstarts with the packages.

const ROOT = join(__dirname, '../..');
const service = useService();
const directory = mkdtempSync(join(tmpdir(), 'lethe-quickstart-'));
afterAll(() => rmSync(directory, { recursive: true }));

function blocks(page: string, language: string): string[] {
  const text = readFileSync(join(ROOT, 'docs', page), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code = '']) => code,
  );
}

const [CURL = ''] = blocks('quickstart.md', 'sh');
const [BOT = ''] = blocks('quickstart.md', 'ts');
const [HOLD = '', ASK = '', BRING_OVER = ''] = blocks('existing-bot.md', 'ts');
const HOLDERS = blocks('holders.md', 'ts');
const LOOK = HOLDERS.find((code) => code.includes('dryRun')) ?? '';

describe('the quickstarts', () => {
  it('fit on one screen each', () => {
    for (const code of [CURL, BOT]) {
      const lines = code.trimEnd().split('\n');
      expect(lines.length).toBeGreaterThan(10);
      expect(lines.length).toBeLessThanOrEqual(30);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(130);
    }
  });

  it('compile, like the code of docs/existing-bot.md and docs/holders.md', () => {
    expect(HOLDERS).toHaveLength(4);
    const files = [BOT, ASK, BRING_OVER, HOLD, ...HOLDERS].map((code, at) => {
      const file = join(directory, `page${at}.mts`);
      writeFileSync(file, code);
      return file;
    });
    const program = ts.createProgram(files, {
      ...{ strict: true, noEmit: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022 },
      ...{ module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
      ...{ types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
      esModuleInterop: true,
      paths: {
        '@lethe/sdk': [join(ROOT, 'packages/sdk/src/index.ts')],
        '@lethe/sdk/holders': [join(ROOT, 'packages/sdk/src/holders/index.ts')],
        // The drivers of the bot.
        ...Object.fromEntries(
          ['pg', 'better-sqlite3'].map((name) => [name, [join(ROOT, 'node_modules/@types', name)]]),
        ),
      },
    });
    const faults = files.flatMap((file) => program.getSemanticDiagnostics(program.getSourceFile(file)));
    expect(faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))).toEqual([]);
  });

  const hasCurl = canRun('bash') && canRun('curl');
  (hasCurl ? it : it.skip)('with curl does what is written above it', async () => {
    const cli = new CommandLine(join(directory, 'curl.cjs'), directory);
    writeFileSync(
      join(directory, 'curl.cjs'),
      `require('node:child_process').spawn('bash', ['-c', ${JSON.stringify(CURL)}], { stdio: 'inherit' });`,
    );
    const { stdout } = await cli.run([], { LETHE_URL: service.url });
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { data?: object; error?: object });
    expect(answers).toMatchObject([
      { data: { key: 'profile' } },
      { error: { code: 'consent_required' } },
      { data: { status: 'pending' } },
      { data: { status: 'accepted' } },
      { data: { stored: true } },
      { data: { data: { profile: { nickname: 'Robin' } } } },
      { data: { status: 'completed' } },
    ]);
  });
});

/** A block as a module. */
function loaded<T>(name: string, code: string): T {
  const file = join(directory, `${name}.cjs`);
  writeFileSync(file, transformSync(code, { loader: 'ts', format: 'cjs', target: 'es2022' }).code);
  return module.require(file) as T;
}

describe('docs/holders.md', () => {
  it('looks first, once the holder is declared, and says so before', async () => {
    const bot = await service.registerBot();
    const lethe = new Lethe({ url: service.url, key: bot.key });
    const file = join(directory, 'bot.db');
    const database = new Database(file);
    database.exec('CREATE TABLE xp (member_id TEXT, guild_id TEXT)');
    const who = subject();
    database.prepare('INSERT INTO xp VALUES (?, ?)').run(who.user_id, who.guild_id);
    const code = LOOK.replace("'better-sqlite3'", JSON.stringify(require.resolve('better-sqlite3')));
    const { lookAt } = loaded<{ lookAt: (lethe: Lethe, file: string) => Promise<void> }>('look', code);
    await expect(lookAt(lethe, file)).rejects.toThrow('lethe holders push');
    const labels = { label_de: 'Datenbank', label_en: 'Database' };
    await lethe.holders.register({ key: 'database', kind: 'pull', ...labels, covers: ['xp'] });
    await lethe.privacy.forget(who);
    const said = jest.spyOn(console, 'log').mockReturnValue();
    await lookAt(lethe, file);
    expect(said.mock.calls).toMatchObject([
      [{ act: 'erase', counts: { xp: 1 }, dryRun: true }],
      [{ answered: 1, found: { xp: 1 } }],
    ]);
    said.mockRestore();
    expect(database.prepare('SELECT count(*) AS rows FROM xp').get()).toEqual({ rows: 1 });
    database.close();
  });
});

describe('docs/existing-bot.md', () => {
  it('asks, takes yes and no for an answer, and brings over the data of those who agreed', async () => {
    const bot = await service.registerBot();
    const lethe = new Lethe({ url: service.url, key: bot.key });
    const labels = { label_de: 'Profil', label_en: 'Profile' };
    await lethe.categories.register({
      key: 'profile',
      ...labels,
      fields: [{ key: 'nickname', type: 'string', ...labels }],
    });
    type Who = ReturnType<typeof subject>;
    const { ask, answered } = loaded<{
      ask: (lethe: Lethe, who: Who, language: string) => Promise<unknown>;
      answered: (lethe: Lethe, who: Who, isYes: boolean) => Promise<unknown>;
    }>('ask', ASK);
    const [willing, unwilling, unasked] = [subject(), subject(), subject()];
    for (const who of [willing, unwilling])
      expect(await ask(lethe, who, 'en')).toMatchObject({ status: 'pending' });
    expect(await answered(lethe, willing, true)).toMatch(/^eyJ/);
    expect(await answered(lethe, unwilling, false)).toBeUndefined();
    expect(await ask(lethe, willing, 'en')).toBeUndefined();
    expect(await lethe.consents.status(unwilling)).toMatchObject({
      declined_at: expect.any(String) as string,
    });
    const { bringOver } = loaded<{
      bringOver: (
        lethe: Lethe,
        rows: AsyncIterable<object>,
        onStored: (row: object) => Promise<void>,
      ) => Promise<unknown>;
    }>('bring-over', BRING_OVER);
    const rows = async function* () {
      for (const who of [unwilling, willing, unasked]) yield { ...who, nickname: 'Robin' };
    };
    const stored: object[] = [];
    const counts = await bringOver(lethe, rows(), async (row) => void stored.push(row));
    expect(counts).toEqual({ stored: 1, consent_required: 2 });
    expect(stored).toMatchObject([{ ...willing, nickname: 'Robin' }]);
    expect((await lethe.data.export(willing)).data).toEqual({ profile: { nickname: 'Robin' } });
  });
});
