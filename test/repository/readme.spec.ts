import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { freePort } from '../support/free-port';
import { canRun } from '../support/programs';
import { useServiceInProcess } from '../support/service';

// Runs the five minutes of README.md and its bot in a shell, with other ports.

const ROOT = join(__dirname, '../..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const VERIFIER = join(ROOT, 'packages/sdk/src/evidence/lethe-verify.ts');

/** Waits for the receiver where a reader would pause: until it listens, and until a call has arrived. */
const MOMENTS: readonly (readonly [RegExp, string])[] = [
  [/^node docs\/receiver\.mjs &$/m, 'until (exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2> /dev/null; do :; done'],
  [/consents\/revoke/, 'until grep -q consent_revoked received; do :; done'],
  [/gdpr\/forget-user/, 'until grep -q user_forgotten received; do :; done'],
];

function blocks(language: string): string[] {
  return [...README.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code = '']) => code,
  );
}

(canRun('bash') && canRun('curl') ? describe : describe.skip)('the commands of README.md', () => {
  const service = useServiceInProcess({ RATE_LIMIT_TIERS: 'free=30' });
  const directory = mkdtempSync(join(tmpdir(), 'lethe-readme-'));
  let shell: ChildProcess | undefined;
  afterAll(() => {
    // The receiver runs on in the background of the shell.
    if (shell?.pid !== undefined) process.kill(-shell.pid);
    rmSync(directory, { recursive: true });
  });

  /** The script of all blocks but those of npm, each followed by its moment. */
  function script(port: number): string {
    const elsewhere = (text: string): string =>
      text.replaceAll('http://127.0.0.1:3000', service.url).replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`);
    const [bot = ''] = blocks('js');
    writeFileSync(join(directory, 'bot.mjs'), elsewhere(bot));
    const pasted = blocks('sh').filter((block) => !block.startsWith('npm '));
    const lines = pasted.flatMap((block) => [
      block,
      ...MOMENTS.filter(([pattern]) => pattern.test(block)).map(([, moment]) => moment),
    ]);
    return elsewhere([...lines, 'node bot.mjs', 'echo the end', 'wait'].join('\n'))
      .replace('node docs/receiver.mjs &', 'node docs/receiver.mjs > received &')
      .replace('npx --package @lethe/sdk lethe-verify', 'node verify.cjs');
  }

  /** The output of the shell at the end of the script. */
  async function outputOf(commands: string, port: number): Promise<string> {
    shell = spawn('bash', ['-c', commands], {
      cwd: directory,
      env: { ...process.env, NODE_OPTIONS: '', PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    return new Promise((resolve, reject) => {
      const read = (text: Buffer): void => {
        output += text.toString();
        if (output.includes('the end\n')) resolve(output);
      };
      shell?.stdout?.on('data', read);
      shell?.stderr?.on('data', read);
      shell?.once('exit', () => reject(new Error(output)));
    });
  }

  it('do what is written beside them, within the limits of a new bot', async () => {
    mkdirSync(join(directory, 'docs'));
    copyFileSync(join(ROOT, 'docs/receiver.mjs'), join(directory, 'docs/receiver.mjs'));
    buildSync({
      entryPoints: [VERIFIER],
      outfile: join(directory, 'verify.cjs'),
      bundle: true,
      platform: 'node',
    });
    const port = await freePort();
    const output = await outputOf(script(port), port);
    const answers = [...output.matchAll(/^\{"success":.*$/gm)].map(
      ([line]) => JSON.parse(line) as { success: boolean; data?: object; error?: object },
    );
    expect(answers.map(({ success }) => success)).toEqual([
      true,
      true,
      false,
      ...Array<boolean>(7).fill(true),
    ]);
    const [registered, , refused, , accepted, , , exported, revoked, erased] = answers;
    expect(registered?.data).toMatchObject({
      api_key: expect.any(String),
      webhook_secret: expect.any(String),
    });
    expect(refused?.error).toMatchObject({ code: 'consent_required', details: { current_status: 'none' } });
    expect(accepted?.data).toMatchObject({ status: 'accepted', receipt: expect.stringMatching(/^eyJ/) });
    expect(exported?.data).toMatchObject({
      data: { profile: { nickname: 'Robin', birthday: '2000-02-29' } },
    });
    expect(revoked?.data).toMatchObject({ status: 'revoked', data_erased_at: expect.any(String) });
    expect(erased?.data).toMatchObject({ status: 'completed', certificate_salt: expect.any(String) });
    expect(output).toContain('\nit holds\n');
    expect(output).toContain('stored: true');
    const received = readFileSync(join(directory, 'received'), 'utf8');
    expect(received.match(/"event":"\w+"/g)).toEqual([
      '"event":"consent_revoked"',
      '"event":"user_forgotten"',
    ]);
  });
});
