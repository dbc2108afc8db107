import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROCESS_ENVIRONMENT, startOf, useBuild } from '../support/build';
import { spawned } from '../support/spawned';
import { canRun } from '../support/programs';
import { CTRL_C, Terminal } from '../support/terminal';
import { until } from '../support/until';

// What a person reads who starts Lethe by hand, on a real terminal.

const build = useBuild();
let directory: string;
let terminal: Terminal | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  terminal = undefined;
});
afterEach(async () => {
  await terminal?.close();
  rmSync(directory, { recursive: true });
});

const COLUMNS = 80;

const ESCAPE = /\u001b\[\d+m/;
const LISTENS = /Lethe listens on (http:\S+)/;

const environment = (settings: Readonly<Record<string, string>>) => ({
  ...PROCESS_ENVIRONMENT,
  PORT: '0',
  DATABASE_URL: `sqlite:${join(directory, 'lethe.db')}`,
  TERM: 'xterm-256color',
  TZ: 'UTC',
  ...settings,
});

function started(settings: Readonly<Record<string, string>> = {}, columns = COLUMNS): Terminal {
  const program = [process.execPath, ...startOf(build.directory, 'api')];
  return (terminal = new Terminal(columns, program, { cwd: directory, env: environment(settings) }));
}

async function listening(of: Terminal): Promise<string> {
  const [, url = ''] = await of.shows(LISTENS);
  return url;
}

const register = (url: string) =>
  fetch(`${url}/api/v1/bots/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ platform_bot_id: '987654321098765432', name: 'x' }),
  });

(canRun('python3') ? describe : describe.skip)('on a terminal', () => {
  it('a start, requests, a fault and the end by Ctrl-C are lines for people that fit the screen', async () => {
    const own = started({ NO_COLOR: '1' });
    const url = await listening(own);
    await register(url);
    await own.shows(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}201 POST \/api\/v1\/bots\/register [\d.]+ ms$/m);
    const refused = await fetch(`${url}/api/v1/servers`);
    await own.shows(/^\S+ INFO {2}401 GET \/api\/v1\/servers [\d.]+ ms$/m);
    await own.shows(new RegExp(`^ {19}request ${refused.headers.get('x-request-id')}$`, 'm'));
    renameSync(join(directory, 'lethe.db'), join(directory, 'away.db'));
    await fetch(`${url}/health/ready`);
    await own.shows(/^\S+ ERROR Database: lethe\.db was removed [^{]*\n {4}at \S+ \(\S+\)$/m);
    renameSync(join(directory, 'away.db'), join(directory, 'lethe.db'));
    own.type(CTRL_C);
    expect(await own.ended).toBe(0);
    expect(own.screen).toMatch(/INFO {2}shutting down signal=SIGINT\n\S+ INFO {2}stopped\n$/);
    expect(own.screen).not.toMatch(ESCAPE);
    expect(own.screen).not.toContain('{"');
    const lines = own.screen.split('\n').filter((line) => /^(\d\d:| {19})/.test(line));
    // A path is a word that is not broken.
    expect(lines.filter((line) => line.length > COLUMNS && / .* /.test(line.trim()))).toEqual([]);
  });

  it('a level has its colour', async () => {
    const own = started();
    await listening(own);
    await own.shows(/\u001b\[33mWARN \u001b\[39m \u001b\[2mKeyring:\u001b\[22m/);
  });

  it('lines are JSON where LOG_FORMAT says so, since a container with a terminal has a reader that is a program', async () => {
    const own = started({ LOG_FORMAT: 'json' });
    await listening(own);
    const [line = ''] = await own.shows(/^\{"level":40,.*\}$/m);
    expect(JSON.parse(line)).toMatchObject({ level: 40, context: 'Keyring' });
  });

  it('a start that is refused says what to do, and is no line of the log', async () => {
    const own = started({ LOG_FORMAT: 'pretty' });
    expect(await own.ended).toBe(1);
    expect(own.screen).toMatch(/LOG_FORMAT must be/);
    expect(own.screen).not.toMatch(/\{"|^\d\d:|\n\s+at /);
  });
});

describe('in a pipe', () => {
  it.each([
    ['each line is JSON', {}, /^\{"level":40,.*"context":"Keyring".*\}$/],
    [
      'each line is for people where LOG_FORMAT says so, without colours',
      { LOG_FORMAT: 'text' },
      /^\S+ WARN {2}Keyring: /,
    ],
  ])('%s', async (_, settings, form) => {
    const { child, written, ended } = spawned(process.execPath, startOf(build.directory, 'api'), {
      cwd: directory,
      env: environment(settings),
    });
    let isOver = false;
    void ended.then(() => (isOver = true));
    await until(() => LISTENS.test(written.stderr) || isOver);
    child.kill('SIGTERM');
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    const lines = stdout.split('\n').slice(0, -1);
    expect(lines[0]).toMatch(form);
    expect(lines.filter((line) => line.startsWith('{') !== !('LOG_FORMAT' in settings))).toEqual([]);
    expect(stdout).not.toMatch(ESCAPE);
  });
});
