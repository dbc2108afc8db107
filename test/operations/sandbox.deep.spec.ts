import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PROCESS_ENVIRONMENT, startOf, useBuild } from '../support/build';
import { Client } from '../support/client';
import { spawned } from '../support/spawned';

interface Sandbox {
  readonly url: string;
  readonly pid: number;
  readonly bot_id: string;
  readonly api_key: string;
  readonly webhook_secret: string;
  readonly user_id: string;
  readonly guild_id: string;
}

const SCRIPT = join(__dirname, '../../scripts/sandbox.mjs');
const build = useBuild();
const program = () => JSON.stringify(startOf(build.directory, 'api'));
let child: ChildProcess;
let sandbox: Sandbox;

beforeAll(async () => {
  child = spawn(process.execPath, [SCRIPT, '--json', '--port', '0'], {
    env: { ...PROCESS_ENVIRONMENT, SANDBOX_PROGRAM: program() },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string];
  sandbox = JSON.parse(line) as Sandbox;
});
afterAll(() => child.kill('SIGKILL'));

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('npm run sandbox', () => {
  it('prints a test key that exports the data of its user, and a webhook secret', async () => {
    expect(sandbox).toMatchObject({
      api_key: expect.stringMatching(/^sk_test_[0-9A-Za-z]{49}$/) as unknown,
      webhook_secret: expect.stringMatching(/^whsec_/) as unknown,
    });
    const { user_id: user, guild_id: guild } = sandbox;
    const answer = await new Client(sandbox.url, sandbox.api_key).get(
      `/data/export/${user}?guild_id=${guild}`,
    );
    expect(answer.status).toBe(200);
    expect(answer.data).toMatchObject({ data: { profile: { nickname: 'Robin', birthday: '2000-02-29' } } });
  });

  it('says in words that its port is taken, by PORT too, and how to take another one', async () => {
    const { port } = new URL(sandbox.url);
    const env = { ...PROCESS_ENVIRONMENT, SANDBOX_PROGRAM: program(), PORT: port };
    const { code, stderr: said } = await spawned(process.execPath, [SCRIPT], { env }).ended;
    expect(code).toBe(1);
    expect(said).toContain('--port or PORT takes another port');
    expect(said).toContain(`Port ${port} of 127.0.0.1 is in use`);
    expect(said).not.toContain('    at ');
  });

  it('answers more requests than any tier allows', async () => {
    const client = new Client(sandbox.url, sandbox.api_key);
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => client.get(`/bots/${sandbox.bot_id}`)),
    );
    expect(new Set(answers.map(({ status }) => status))).toStrictEqual(new Set([200]));
  });

  it('ends its server with SIGTERM', async () => {
    expect(isAlive(sandbox.pid)).toBe(true);
    child.kill('SIGTERM');
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code).toBe(0);
    expect(isAlive(sandbox.pid)).toBe(false);
  });
});
