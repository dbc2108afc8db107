import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMANDS } from '../../apps/admin/src/commands';
import { sqliteFile } from '../support/database';
import { adminHere, ServiceHere } from '../support/here';
import { Bot } from '../support/bot';

const LETHE_MASTER_KEY = Buffer.alloc(32, 'test').toString('base64');
let directory: string;
let service: ServiceHere;
let bot: Bot;
const environment = () => ({ DATABASE_URL: `sqlite:${join(directory, 'lethe.db')}`, LETHE_MASTER_KEY });

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  service = await new ServiceHere(sqliteFile(join(directory, 'lethe.db')), environment()).start();
  bot = await Bot.register(service.url);
});
afterAll(async () => {
  await service.end();
  rmSync(directory, { recursive: true, force: true });
});

const parsed = (text: string): unknown => JSON.parse(text);

describe('--json of lethe-server admin', () => {
  it.each(COMMANDS.map(({ name }) => name))('is a flag of %s', async (name) => {
    expect((await adminHere([name, '--help'], {})).stdout).toContain('--json');
  });

  it('writes the result as one object with the lines for readers as messages, and nothing to standard error', async () => {
    const keys = await adminHere(['keys:list', '--json'], environment());
    expect(keys).toMatchObject({ code: 0, stderr: '' });
    expect(parsed(keys.stdout)).toEqual({
      keys: [{ key_id: expect.any(String), role: 'present', texts: expect.any(Number) }],
      messages: [],
    });
    const to = join(directory, 'backup');
    const backup = await adminHere(['backup', '--to', to, '--json'], environment());
    expect(backup).toMatchObject({ code: 0, stderr: '' });
    expect(parsed(backup.stdout)).toMatchObject({
      directory: to,
      made_at: expect.any(String),
      files: { data: { sha256: expect.any(String) }, keys: { bytes: expect.any(Number) } },
      messages: expect.arrayContaining([expect.stringContaining('verified')]),
    });
  });

  it('writes rows as one object for each line', async () => {
    const list = await adminHere(['bots:list', '--json'], environment());
    expect(list).toMatchObject({ code: 0, stderr: '' });
    const lines = list.stdout.trimEnd().split('\n').map(parsed);
    expect(lines).toEqual([expect.objectContaining({ id: bot.id })]);
  });

  it('writes no line for no row', async () => {
    const preview = await adminHere(['retention:preview', '--json'], environment());
    const none = await adminHere(['audit:verify', '--json', '--bot', 'x'], environment());
    expect(preview.stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(none).toMatchObject({ code: 1, stdout: '' });
  });

  it('writes an error as an object to standard error, with the same exit code', async () => {
    const refused: readonly [readonly string[], number, string][] = [
      [['keys:eat', '--json'], 2, 'There is no command keys:eat.'],
      [['backup', '--json'], 2, '--to is missing.'],
      [['backup', '--to', directory, '--json'], 1, 'is not empty'],
    ];
    for (const [args, code, message] of refused) {
      const run = await adminHere(args, environment());
      expect([args, run]).toEqual([args, expect.objectContaining({ code, stdout: '' })]);
      expect(parsed(run.stderr)).toEqual({ error: { message: expect.stringContaining(message) } });
      expect(run.stderr.trimEnd()).not.toContain('\n');
    }
  });
});
