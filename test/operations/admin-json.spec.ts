import { join } from 'node:path';
import { COMMANDS } from '../../apps/admin/src/admin';
import { adminHere } from '../support/here';
import { Bot } from '../support/bot';
import { useOneInstallation } from '../support/installation';

const lethe = useOneInstallation();
let bot: Bot;
beforeAll(async () => {
  bot = await lethe.withBot();
});

const parsed = (text: string): unknown => JSON.parse(text);

describe('--json of npm run admin', () => {
  it.each(COMMANDS.map(({ name }) => name))('is a flag of %s', async (name) => {
    expect((await adminHere([name, '--help'], {})).stdout).toContain('--json');
  });

  it('writes the result as one object with the lines for readers as messages, and nothing to standard error', async () => {
    const keys = await lethe.admin('keys:list', '--json');
    expect(keys).toMatchObject({ code: 0, stderr: '' });
    expect(parsed(keys.stdout)).toEqual({
      keys: [{ key_id: expect.any(String), role: 'present', texts: expect.any(Number) }],
      messages: [],
    });
    const to = join(lethe.directory, 'backup');
    const backup = await lethe.admin('backup', '--to', to, '--json');
    expect(backup).toMatchObject({ code: 0, stderr: '' });
    expect(parsed(backup.stdout)).toMatchObject({
      directory: to,
      made_at: expect.any(String),
      files: { data: { sha256: expect.any(String) }, keys: { bytes: expect.any(Number) } },
      messages: expect.arrayContaining([expect.stringContaining('verified')]),
    });
  });

  it('writes rows as one object for each line', async () => {
    const list = await lethe.admin('bots:list', '--json');
    expect(list).toMatchObject({ code: 0, stderr: '' });
    const lines = list.stdout.trimEnd().split('\n').map(parsed);
    expect(lines).toEqual([expect.objectContaining({ id: bot.id })]);
  });

  it('writes no line for no row', async () => {
    const preview = await lethe.admin('retention:preview', '--json');
    const none = await lethe.admin('audit:verify', '--json', '--bot', 'x');
    expect(preview.stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(none).toMatchObject({ code: 1, stdout: '' });
  });

  it('writes an error as an object to standard error, with the same exit code', async () => {
    const refused: readonly [readonly string[], number, string][] = [
      [['keys:eat', '--json'], 2, 'There is no command keys:eat.'],
      [['backup', '--json'], 2, '--to is missing.'],
      [['backup', '--to', lethe.directory, '--json'], 1, 'is not empty'],
    ];
    for (const [args, code, message] of refused) {
      const run = await lethe.admin(...args);
      expect([args, run]).toEqual([args, expect.objectContaining({ code, stdout: '' })]);
      expect(parsed(run.stderr)).toEqual({ error: { message: expect.stringContaining(message) } });
      expect(run.stderr.trimEnd()).not.toContain('\n');
    }
  });
});
