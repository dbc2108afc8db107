import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Bot } from '../support/bot';
import type { ScriptRun } from '../support/child-script';
import { adminHere } from '../support/here';
import { filledOnce, Installation } from '../support/installation';
import type { SubjectIds } from '../support/snowflakes';

// The master key from a file, and from a command that prints it: services and commands of the operator. The settings are read
// before any database is opened: on PostgreSQL it is the same.

type Settings = Record<string, string>;

const newKey = (): string => randomBytes(32).toString('base64');
const OLD = newKey();

const lethe = new Installation({ settings: { DATABASE_BALLAST_MIB: '0' } });
/** Holds the keys: what a secret store would. */
const store = (): string => join(lethe.root, 'master-key');
/** A line for each time the command was run. */
const runs = (): string => join(lethe.root, 'runs');

const PRINTS = `const { appendFileSync, readFileSync } = require('node:fs');
  appendFileSync(process.argv[2], 'run\\n');
  process.stdout.write(readFileSync(process.argv[1], 'utf8'));`;

const SOURCES: readonly [name: string, place: string, words: string, settings: () => Settings][] = [
  [
    'LETHE_MASTER_KEY_FILE',
    'secret_file',
    'the file of LETHE_MASTER_KEY_FILE',
    () => ({ LETHE_MASTER_KEY_FILE: store() }),
  ],
  [
    'LETHE_MASTER_KEY_COMMAND',
    'command',
    'the output of LETHE_MASTER_KEY_COMMAND',
    () => ({
      LETHE_MASTER_KEY_COMMAND: JSON.stringify([process.execPath, '-e', PRINTS, store(), runs()]),
    }),
  ],
];

describe.each(SOURCES)('%s', (_, place, words, settings) => {
  let bot: Bot;
  let who: SubjectIds;

  const admin = (...args: string[]): Promise<ScriptRun> =>
    adminHere(args, { ...lethe.environment, ...settings() });
  const start = () => lethe.here(settings()).start();

  /** A value that was stored by a service on the key of the store. */
  filledOnce(lethe, async () => {
    writeFileSync(store(), `${OLD}\n`, { mode: 0o600 });
    const service = await start();
    bot = await Bot.register(service.url);
    await bot.hasCategory('profile');
    who = await bot.hasUser('kept');
    await service.end();
  });
  beforeEach(() => writeFileSync(store(), `${OLD}\n`, { mode: 0o600 }));

  async function requireServes(owner = bot, user = who): Promise<void> {
    const service = await start();
    const { data } = await owner.at(service).export<{ data: object }>(user);
    expect(data.data).toEqual({ profile: { value: 'kept' } });
    await service.end();
  }

  it('gives the service and the commands beside it the same key, and no key file is made', async () => {
    const service = await start();
    const listed = await admin('keys:list', '--json');
    expect((JSON.parse(listed.stdout) as { keys: unknown[] }).keys).toEqual([
      { key_id: expect.any(String), role: 'present', texts: expect.any(Number) },
    ]);
    const status = await admin('status', '--json');
    expect(JSON.parse(status.stdout)).toMatchObject({ master_key: { from: place } });
    expect((await admin('status')).stdout).toMatch(new RegExp(`^Master key +${words}$`, 'm'));
    const doctor = await admin('doctor', '--json');
    expect(doctor.stdout).not.toContain('key_file');
    expect(listed.output + status.output + doctor.output).not.toContain(OLD);
    chmodSync(store(), 0o644);
    expect(
      (await admin('doctor')).stdout.includes(`The file of LETHE_MASTER_KEY_FILE, ${store()}, can be read`),
    ).toBe(place === 'secret_file');
    await service.end();
    expect(existsSync(`${lethe.path}.key`)).toBe(false);
    await requireServes();
  });

  it('is asked once by a start, and never again while the process runs', async () => {
    const service = await start();
    if (place === 'command') expect(readFileSync(runs(), 'utf8')).toBe('run\n');
    rmSync(store());
    await bot.at(service).hasUser('more');
    expect((await bot.at(service).export<{ data: object }>(who)).data.data).toEqual({
      profile: { value: 'kept' },
    });
    await service.end();
    await expect(start()).rejects.toThrow(place === 'command' ? 'ended with the exit code 1' : 'ENOENT');
    expect(existsSync(`${lethe.path}.key`)).toBe(false);
  });

  it('refuses another key in words, and takes the right one again', async () => {
    writeFileSync(store(), newKey());
    const run = await admin('keys:list');
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(
      /another master key \(master key \S+ is missing\)\. Restore LETHE_MASTER_KEY, its file, its command, or the key file/,
    );
    writeFileSync(store(), OLD);
    await requireServes();
  });

  it('takes part in a rotation: NEW and OLD, keys:rotate, NEW', async () => {
    const service = await start();
    const next = newKey();
    writeFileSync(store(), `${next}\n${OLD}\n`);
    const early = await admin('keys:rotate');
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('Restart it, so that')]);
    await service.end();

    const both = await start();
    const run = await admin('keys:rotate');
    expect(run).toMatchObject({ code: 0, stdout: '' });
    expect(run.stderr).toContain(`Older keys may be removed from ${words}, in every process.`);
    expect(run.output).not.toContain(next);
    await both.end();
    writeFileSync(store(), next);
    await requireServes();
  });

  it('lets keys:rotate name the place to which a missing key belongs', async () => {
    await lethe.database.run(
      `UPDATE bots SET webhook_secret_next = 'v2.AAAAAAAA.' || substr(webhook_secret, 13)`,
    );
    const run = await admin('doctor');
    expect(run.stdout + run.stderr).toContain(`Add them to ${words} behind the present key.`);
    writeFileSync(store(), `${newKey()}\n${OLD}`);
    expect((await admin('keys:rotate')).stderr).toContain(`Add them to ${words} behind the present one.`);
  });

  it('takes over the content of a key file beside the database', async () => {
    rmSync(lethe.directory, { recursive: true });
    mkdirSync(lethe.directory);
    const before = await lethe.here().start();
    const owner = await Bot.register(before.url);
    await owner.hasCategory('profile');
    const user = await owner.hasUser('kept');
    expect((await admin('keys:rotate')).code).toBe(1);
    await before.end();
    writeFileSync(store(), readFileSync(`${lethe.path}.key`));
    rmSync(`${lethe.path}.key`);
    await requireServes(owner, user);
  });
});
