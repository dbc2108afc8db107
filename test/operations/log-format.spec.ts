import { spawn, spawnSync } from 'node:child_process';
import { PROCESS_ENVIRONMENT, startOf, useBuild } from '../support/build';

// The form of the log of a process on a terminal and in a pipe. `script` of util-linux makes the terminal.

const build = useBuild();
const hasTerminal = spawnSync('script', ['--version']).error === undefined;
if (!hasTerminal && process.env['CI'] !== undefined) throw new Error('script (bsdutils) is missing.');
const onTerminal = hasTerminal ? it : it.skip;

const LETHE_MASTER_KEY = Buffer.alloc(32, 'test').toString('base64');
const PRETTY = /^(?:\S*\d\d:\d\d:\d\d\.\d{3}\S*) \S*INFO/m;

/** Starts the service in a shell, calls it once, ends it; answers its standard output. */
async function logOf(
  settings: Readonly<Record<string, string>>,
  where: 'terminal' | 'pipe',
): Promise<string> {
  const start = [process.execPath, ...startOf(build.directory, 'api')].map((part) => `'${part}'`).join(' ');
  // On a terminal both outputs are one.
  const line = `echo "the process is $$" >&2; exec ${start}`;
  const [program, ...args] =
    where === 'terminal' ? ['script', '-qec', line, '/dev/null'] : ['/bin/sh', '-c', line];
  const child = spawn(program, args, {
    cwd: build.workingDirectory,
    env: { ...PROCESS_ENVIRONMENT, SHELL: '/bin/sh', PORT: '0', LETHE_MASTER_KEY, ...settings },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let [out, all] = ['', ''];
  let called = false;
  const take = (chunk: Buffer): void => {
    all += chunk.toString();
    const url = /listens on (http:\S+)/.exec(all)?.[1];
    const pid = Number(/the process is (\d+)/.exec(all)?.[1]);
    if (url === undefined || called) return;
    called = true;
    void fetch(`${url}/api/v1/bots/me`).then(() => process.kill(pid, 'SIGTERM'));
  };
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString())).on('data', take);
  child.stderr.on('data', take);
  await new Promise((resolve) => child.once('close', resolve));
  return out.replaceAll('\r', '');
}

const jsonLines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { msg: string });

describe('the log', () => {
  it('is JSON in a pipe, one object a line and nothing else', async () => {
    const log = await logOf({}, 'pipe');
    const lines = log.split('\n').filter((line) => line !== '');
    expect(jsonLines(log)).toHaveLength(lines.length);
    expect(jsonLines(log).map(({ msg }) => msg)).toEqual(
      expect.arrayContaining(['listening', 'request', 'stopped']),
    );
  });

  onTerminal('is for people on a terminal, with colours unless NO_COLOR is set', async () => {
    const log = await logOf({}, 'terminal');
    expect(jsonLines(log)).toEqual([]);
    expect(log).toMatch(PRETTY);
    expect(log).toMatch(/GET \/api\/v1\/bots\/me .*401/);
    expect(log).toContain('\u001b[32mINFO');
    expect(await logOf({ NO_COLOR: '1' }, 'terminal')).not.toContain('\u001b[');
  });

  onTerminal('is JSON on a terminal in production, and what LOG_FORMAT says anywhere', async () => {
    const ofProduction = await logOf({ NODE_ENV: 'production' }, 'terminal');
    expect(jsonLines(ofProduction).length).toBeGreaterThan(1);
    expect(jsonLines(await logOf({ LOG_FORMAT: 'json' }, 'terminal')).length).toBeGreaterThan(1);
    const pretty = await logOf({ LOG_FORMAT: 'pretty' }, 'pipe');
    expect(pretty).toMatch(PRETTY);
    expect(pretty).not.toContain('\u001b[');
  });
});
