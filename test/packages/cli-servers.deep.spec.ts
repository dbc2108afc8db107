import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseEnv } from 'node:util';
import { Lethe } from '@lethe/sdk';
import { builtCommandLine, CommandLine } from '../support/command-line';
import { useService } from '../support/shared-service';
import { BOT_WIDE, snowflake } from '../support/snowflakes';

// lethe servers, as a developer of a bot runs it.

const service = useService();
const built = builtCommandLine();
let cli: CommandLine;
let lethe: Lethe;
beforeEach(async () => {
  cli = new CommandLine(built.program);
  const init = ['init', '--url', service.url, '--platform-bot-id', snowflake(), '--name', 'Greeter'];
  expect(await cli.run(init)).toMatchObject({ code: 0 });
  const env = parseEnv(readFileSync(join(cli.directory, '.env'), 'utf8')) as Record<string, string>;
  lethe = new Lethe({ url: service.url, key: env['LETHE_KEY'] ?? '' });
});
afterEach(() => cli.remove());

/** A user of a guild, who has agreed or was asked alone. */
async function user(guild_id: string, agrees = true): Promise<void> {
  const who = { user_id: snowflake(), guild_id };
  const { id } = await lethe.consents.request({ ...who, consent_version: '1' });
  if (agrees) await lethe.consents.accept({ consent_id: id });
}

const given = (...ids: string[]): void => writeFileSync(join(cli.directory, 'ids.txt'), ids.join('\n'));

describe('lethe servers foreign', () => {
  it('lists the servers that the bot is not in, with users, consents and deletion, and changes nothing', async () => {
    const [own, foreign, left, silent] = [snowflake(), snowflake(), snowflake(), snowflake()];
    for (const guild of [own, foreign, BOT_WIDE]) await user(guild);
    for (const agrees of [true, false]) await user(foreign, agrees);
    await user(left, false);
    for (const guild_id of [own, left, silent]) await lethe.servers.register({ guild_id });
    await lethe.servers.delete({ guild_id: left, grace_days: 7 });
    given(own, '', `  ${snowflake()}\r`);
    const before = await lethe.audit.events({}).toArray();
    const ran = await cli.run(['--json', 'servers', 'foreign', 'ids.txt']);
    expect(ran).toMatchObject({ code: 0 });
    const found = JSON.parse(ran.stdout) as { guild_id: string }[];
    expect(found.map(({ guild_id }) => guild_id)).toEqual([foreign, left, silent]);
    expect(found).toEqual([
      { guild_id: foreign, users: 3, consents: 2, registered: false, deletion_scheduled_for: null },
      {
        ...{ guild_id: left, users: 1, consents: 0, registered: true },
        deletion_scheduled_for: expect.any(String) as string,
      },
      { guild_id: silent, users: 0, consents: 0, registered: true, deletion_scheduled_for: null },
    ]);
    const { stdout, stderr } = await cli.run(['servers', 'foreign', 'ids.txt']);
    expect(stdout).toMatch(new RegExp(`^SERVER .*\n${foreign} +3 +2 +no +-\n`));
    expect(stderr).toContain('DELETE /servers/{guild_id}?grace_days=7');
    expect(await lethe.audit.events({}).toArray()).toEqual(before);
  });

  it('reads the ids from the standard input, and says that nothing is foreign', async () => {
    const own = snowflake();
    await user(own);
    const child = spawn(process.execPath, [built.program, 'servers', 'foreign', '-'], { cwd: cli.directory });
    child.stdin.end(`${own}\n`);
    expect(await text(child.stdout)).toBe('Nothing is filed under a server but the 1 server given.\n');
  });

  it('refuses what is no list of ids, since without one every server would be foreign', async () => {
    const run = () => cli.run(['servers', 'foreign', 'ids.txt']);
    expect(await run()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('does not exist') as string,
    });
    given('', '');
    expect(await run()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no id') as string,
    });
    given(snowflake(), '[1, 2]');
    expect(await run()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Line 2 is no id') as string,
    });
  });
});
