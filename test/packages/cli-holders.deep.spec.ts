import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { readFileSync } from 'node:fs';
import { Lethe } from '@lethe/sdk';
import { parse } from 'yaml';
import { builtCommandLine } from '../support/command-line';
import { CommandLineHere } from '../support/command-line-here';
import { useService } from '../support/shared-service';
import { snowflake, subject } from '../support/snowflakes';

// lethe holders, as a developer of a bot runs it.

const service = useService();
const built = builtCommandLine();
let cli: CommandLineHere;
beforeEach(() => (cli = new CommandLineHere(built.program)));
afterEach(() => cli.remove());

const inFolder = (file: string): string => join(cli.directory, file);
const HOLDERS = `holders:
  - key: database
    label_de: Datenbank
    label_en: Database
    covers: [messages]
`;
const AS_JSON = { holders: [{ key: 'database', covers: ['a'] }] };

describe('lethe holders', () => {
  it('declares the holders of the file, lists them and their tasks, and pull keeps the section', async () => {
    const init = ['init', '--url', service.url, '--platform-bot-id', snowflake(), '--name', 'Greeter'];
    await cli.done(...init);
    writeFileSync(inFolder('lethe.yaml'), HOLDERS);
    expect((await cli.done('holders', 'push')).stdout).toContain('Registered 1 holder, changed 0.');
    writeFileSync(inFolder('lethe.yaml'), HOLDERS.replace('[messages]', '[messages, xp]'));
    expect((await cli.done('holders', 'push')).stdout).toContain('Registered 0 holders, changed 1.');
    expect((await cli.done('holders', 'list')).stdout).toMatch(/database +messages, xp +no +0/);
    const env = parseEnv(readFileSync(inFolder('.env'), 'utf8')) as Record<string, string>;
    const lethe = new Lethe({ url: service.url, key: env['LETHE_KEY'] ?? '' });
    const who = subject();
    await lethe.privacy.forget(who);
    expect((await cli.done('holders', 'tasks', 'database')).stdout).toContain(who.user_id);
    expect(await cli.run(['holders', 'tasks', 'unknown'])).toMatchObject({ code: 1 });
    await cli.done('categories', 'pull', '--yes');
    expect(readFileSync(inFolder('lethe.yaml'), 'utf8')).toContain('covers: [messages, xp]');
    await cli.done('categories', 'push', '--yes');
  });

  it.each([
    ['a list in brackets', `holders: [\n  { key: database, label_de: D, label_en: D, covers: [a] },\n]\n`],
    ['a name in quotes', HOLDERS.replace('holders', '"holders"')],
    ['JSON', JSON.stringify(AS_JSON, null, 2)],
    ['compact JSON', JSON.stringify(AS_JSON)],
    ['JSON that tabs indent', JSON.stringify(AS_JSON, null, '\t')],
    ['a text that keeps its empty lines', `${HOLDERS}    public_key: |+\n      key\n\n\n`],
    ['an alias of another section', 'categories: &none []\nholders: *none\n'],
    ['a name behind a question mark', '? holders\n: [a]\n'],
  ])('pull keeps the section as %s', async (_, section) => {
    const init = ['init', '--url', service.url, '--platform-bot-id', snowflake(), '--name', 'Greeter'];
    await cli.done(...init);
    writeFileSync(inFolder('lethe.yaml'), section);
    await cli.done('categories', 'pull', '--yes');
    const kept = readFileSync(inFolder('lethe.yaml'), 'utf8');
    expect(parse(kept)).toEqual({ categories: [], texts: [], ...(parse(section) as object) });
    await cli.done('categories', 'pull');
    expect(readFileSync(inFolder('lethe.yaml'), 'utf8')).toBe(kept);
  });

  it('pull changes no file of which it could not keep the section', async () => {
    const init = ['init', '--url', service.url, '--platform-bot-id', snowflake(), '--name', 'Greeter'];
    await cli.done(...init);
    for (const text of ['holders: [\n', `${HOLDERS}${HOLDERS}`]) {
      writeFileSync(inFolder('lethe.yaml'), text);
      expect(await cli.run(['categories', 'pull', '--yes'])).toMatchObject({ code: 1 });
      expect(readFileSync(inFolder('lethe.yaml'), 'utf8')).toBe(text);
    }
  });

  it('check ends with 1 for a table about users that no holder covers', async () => {
    writeFileSync(inFolder('lethe.yaml'), HOLDERS);
    writeFileSync(
      inFolder('schema.sql'),
      'CREATE TABLE messages (author_id TEXT); CREATE TABLE bans (user_id TEXT); CREATE TABLE guilds (id TEXT);',
    );
    const check = ['holders', 'check', '--schema', 'schema.sql'];
    expect(await cli.run(check)).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('bans.user_id: no holder covers bans.') as string },
    });
    expect((await cli.done(...check, '--except', 'bans')).stdout).toBe(
      '1 table about users, each covered by a holder.\n',
    );
    expect(await cli.run(['holders', 'check'])).toMatchObject({ code: 2 });
    writeFileSync(inFolder('lethe.yaml'), 'holders:\n  - key: database\n    cover: [bans]\n');
    expect(await cli.run(check)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cover') as string,
    });
  });
});
