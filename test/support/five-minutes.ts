import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port';

// The five minutes of README.md and its bot, in a shell, with other ports.

const ROOT = join(__dirname, '../..');
export const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** A receiver that has ended lets nothing wait. */
const WAIT = 'kill -0 $! || exit 1; sleep 0.05';
/** Waits for the receiver where a reader would pause: until it listens, and until a call has arrived. */
const MOMENTS: readonly (readonly [RegExp, string])[] = [
  [
    /^node docs\/receiver\.mjs &$/m,
    `until (exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2> /dev/null; do ${WAIT}; done`,
  ],
  [/consents\/revoke/, `until grep -q consent_revoked received; do ${WAIT}; done`],
  [/gdpr\/forget-user/, `until grep -q user_forgotten received; do ${WAIT}; done`],
];

/** The blocks of a language in a page. */
export function blocksOf(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code = '']) => code,
  );
}

/** How often the blocks were played: two in one second would register the same bot. */
let plays = 0;

/** The script of all blocks but those of npm, each followed by its moment. */
function script(url: string, port: number, directory: string): string {
  const elsewhere = (text: string): string =>
    text.replaceAll('http://127.0.0.1:3000', url).replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`);
  const [bot = ''] = blocksOf(README, 'js');
  writeFileSync(join(directory, 'bot.mjs'), elsewhere(bot));
  const pasted = blocksOf(README, 'sh').filter((block) => !/^(npm|npx) /.test(block));
  const lines = pasted.flatMap((block) => [
    block,
    ...MOMENTS.filter(([pattern]) => pattern.test(block)).map(([, moment]) => moment),
  ]);
  return elsewhere([...lines, 'node bot.mjs', 'echo the end', 'wait'].join('\n'))
    .replace('node docs/receiver.mjs &', 'node docs/receiver.mjs > received &')
    .replace('$(date +%s)', String(1_000_000_000 + plays++));
}

export interface FiveMinutes {
  /** What the shell has written to its standard output, and what the receiver. */
  readonly output: string;
  readonly received: string;
}

/** Shells that run. A test that has reached its limit of time does not come to a `finally`. */
const shells = new Set<ChildProcess>();
afterAll(() => shells.forEach(endGroup));

/** Plays them in the directory, with the service at `url`; `change` is done to the commands before. */
export async function fiveMinutes(
  url: string,
  directory: string,
  environment: NodeJS.ProcessEnv = {},
  change = (commands: string): string => commands,
): Promise<FiveMinutes> {
  mkdirSync(join(directory, 'docs'), { recursive: true });
  copyFileSync(join(ROOT, 'docs/receiver.mjs'), join(directory, 'docs/receiver.mjs'));
  // Each answer is a line of its own. A terminal has the progress in between, whose order a pipe of its own does not keep.
  writeFileSync(join(directory, '.curlrc'), 'silent\nshow-error\nwrite-out = "\\n"\n');
  const port = await freePort();
  const shell = spawn('bash', ['-c', change(script(url, port, directory))], {
    cwd: directory,
    env: { ...process.env, NODE_OPTIONS: '', CURL_HOME: directory, PORT: String(port), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  shells.add(shell);
  try {
    const output = await outputOf(shell);
    return { output, received: readFileSync(join(directory, 'received'), 'utf8') };
  } finally {
    shells.delete(shell);
    endGroup(shell);
  }
}

/** Ends a process that leads a group, and all that runs on in it. */
export function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** What the shell has written to its standard output at the end of the script. */
function outputOf(shell: ChildProcess): Promise<string> {
  let [output, errors] = ['', ''];
  return new Promise((resolve, reject) => {
    shell.stdout?.on('data', (text: Buffer) => {
      output += text.toString();
      if (output.includes('the end\n')) resolve(output);
    });
    shell.stderr?.on('data', (text: Buffer) => (errors += text.toString()));
    shell.once('close', () => reject(new Error(output + errors)));
  });
}

/** What is written beside the commands. */
export function expectWhatIsWritten({ output, received }: FiveMinutes): void {
  const answers = [...output.matchAll(/^\{"success":.*$/gm)].map(
    ([line]) => JSON.parse(line) as { success: boolean; data?: object; error?: object },
  );
  expect(answers.map(({ success }) => success)).toEqual([true, true, false, ...Array<boolean>(7).fill(true)]);
  const [registered, , refused, , accepted, , , exported, revoked, erased] = answers;
  expect(registered?.data).toMatchObject({
    api_key: expect.any(String) as string,
    webhook_secret: expect.any(String) as string,
  });
  expect(refused?.error).toMatchObject({ code: 'consent_required', details: { current_status: 'none' } });
  expect(accepted?.data).toMatchObject({
    status: 'accepted',
    receipt: expect.stringMatching(/^eyJ/) as string,
  });
  expect(exported?.data).toMatchObject({
    data: { profile: { nickname: 'Robin', birthday: '2000-02-29' } },
  });
  expect(revoked?.data).toMatchObject({
    status: 'revoked',
    data_erased_at: expect.any(String) as string,
  });
  expect(erased?.data).toMatchObject({
    status: 'completed',
    certificate_salt: expect.any(String) as string,
  });
  expect(output).toContain('\nit holds\n');
  expect(output).toContain('stored: true');
  expect(received.match(/"event":"\w+"/g)).toEqual(['"event":"consent_revoked"', '"event":"user_forgotten"']);
}
