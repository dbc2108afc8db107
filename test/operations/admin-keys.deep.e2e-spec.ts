import { Keyring } from '@app/crypto';
import { SystemClock, SystemRandom } from '@app/kernel';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { Client } from '../support/client';
import { killedAt, type Moment, runScript, type ScriptRun } from '../support/child-script';
import { bareDatabase, engine } from '../support/database';
import { someOf } from '../support/depth';
import { damaged } from '../support/damaged';
import { adminHere } from '../support/here';
import { filledOnce, Installation, useInstallation } from '../support/installation';
import type { SubjectIds } from '../support/snowflakes';

const build = useBuild();
const random = new SystemRandom(new SystemClock());
const newKey = (): string => randomBytes(32).toString('base64');
const keyringOf = (keys: string): Keyring =>
  new Keyring(
    keys
      .trim()
      .split(/[,\s]+/)
      .map((key) => Buffer.from(key, 'base64')),
    random,
  );

/** More than two batches of a rotation. */
const SUBJECT_KEYS = 1_100;
const OLD = newKey();
const OPERATOR_TOKEN = 'o'.repeat(40);

const lethe = new Installation({ build, settings: { DATABASE_BALLAST_MIB: '0' } });
let bot: Bot;
let who: SubjectIds;

const setting = (LETHE_MASTER_KEY: string) => ({ ...lethe.environment, LETHE_MASTER_KEY });
const admin = (environment: Record<string, string>, command: string, kill?: Moment): Promise<ScriptRun> =>
  kill === undefined
    ? adminHere([command], environment)
    : runScript(build, 'admin', [command], environment, kill);

/** Each test begins with a bot with a user with stored values, and many more keys. */
const arranged = (environment: () => Record<string, string>, under: () => string): void =>
  filledOnce(lethe, () => arrange(environment(), under));

async function arrange(environment: Record<string, string>, under: () => string): Promise<void> {
  const service = await lethe.here(environment).start();
  bot = await Bot.register(service.url);
  await bot.hasCategory('profile');
  who = await bot.hasUser('kept');
  await bot.post(`/bots/${bot.id}/webhook-secret/rotate`, { overlap_seconds: 3600 });
  await service.end();
  const keyring = keyringOf(under());
  const rows = Array.from({ length: SUBJECT_KEYS }, (_, index) => {
    const sealed = keyring.encrypt(randomBytes(72), `subject_keys/k${index}`);
    return `('k${index}', '${sealed}')`;
  });
  await lethe.database.run(`INSERT INTO keys.subject_keys (id, sealed) VALUES ${rows.join(', ')}`);
}

interface Stored {
  readonly sealed: string;
  readonly context: string;
}

/** Every text encrypted with a master key. */
async function sealedTexts(): Promise<Stored[]> {
  const subjects = `SELECT sealed, 'subject_keys/' || id AS context FROM keys.subject_keys`;
  const own = `SELECT sealed, 'service_keys/' || name || '/' || id AS context FROM keys.service_keys`;
  const secret = (column: string): string =>
    `SELECT ${column} AS sealed, 'bots/' || id || '/webhook_secret' AS context FROM bots WHERE ${column} IS NOT NULL`;
  return [
    ...(await lethe.database.rows<Stored>(subjects)),
    ...(await lethe.database.rows<Stored>(own)),
    ...(await lethe.database.rows<Stored>(secret('webhook_secret'))),
    ...(await lethe.database.rows<Stored>(secret('webhook_secret_next'))),
  ];
}

/** Decrypts with these keys alone, into bytes as base64. @throws UnreadableSecretError for a text of another key */
async function openedBy(given: string): Promise<string[]> {
  const keyring = keyringOf(given);
  return (await sealedTexts())
    .map(({ sealed, context }) => keyring.open(sealed, context).toString('base64'))
    .sort();
}

const keyIds = async (): Promise<string[]> => [
  ...new Set((await sealedTexts()).map(({ sealed }) => sealed.split('.')[1] ?? '')),
];

async function requireServes(environment: Record<string, string>): Promise<void> {
  const service = await lethe.here(environment).start();
  const { data } = await bot.at(service).export<{ data: object }>(who);
  expect(data.data).toEqual({ profile: { value: 'kept' } });
  await service.end();
}

describe('with the keys of LETHE_MASTER_KEY', () => {
  arranged(
    () => setting(OLD),
    () => OLD,
  );

  describe('npm run admin -- keys:rotate', () => {
    it('brings every text under the first key of LETHE_MASTER_KEY, so that the older one can go', async () => {
      const before = await openedBy(OLD);
      const present = newKey();
      const run = await admin(setting(`${present},${OLD}`), 'keys:rotate');
      expect(run).toMatchObject({ code: 0, stdout: '' });
      expect(run.stderr).toContain(`${before.length} texts were rewrapped`);
      expect(run.stderr).toContain('Older keys may be removed from LETHE_MASTER_KEY');
      expect(await openedBy(present)).toEqual(before);
      await requireServes(setting(present));
      expect((await admin(setting(present), 'keys:rotate')).stderr).toContain('0 texts were rewrapped');
    });

    it('does not take a new key behind the old one for a rotation that has ended', async () => {
      const [old, next] = [OLD, newKey()];
      const before = await openedBy(old);
      const run = await admin(setting(`${old},${next}`), 'keys:rotate');
      const [oldId, nextId] = [old, next].map((key) => keyringOf(key).presentId);
      expect([run.code, run.stderr]).toEqual([
        1,
        expect.stringMatching(
          `\nNothing was rewrapped: .* the key ${oldId} already, .* under ${nextId}\\. If that is the new key, put it first, .* remove it, and keep it elsewhere [^\n]+\n$`,
        ),
      ]);
      expect(run.stderr).not.toContain('Older keys may be removed');
      expect(await openedBy(old)).toEqual(before);
    });

    it('changes nothing where a key is missing, and names it', async () => {
      const foreign = newKey();
      const sealed = keyringOf(foreign).encrypt('whsec_x', `bots/${bot.id}/webhook_secret`);
      await lethe.database.run('UPDATE bots SET webhook_secret_next = ? WHERE id = ?', sealed, bot.id);
      const before = await sealedTexts();
      const run = await admin(setting(`${newKey()},${OLD}`), 'keys:rotate');
      expect(run).toMatchObject({ code: 1, stdout: '' });
      expect(run.stderr).toBe(
        `Nothing was changed: the master keys ${keyringOf(foreign).presentId} (1 text) are missing. ` +
          'Add them to LETHE_MASTER_KEY behind the present one.\n',
      );
      expect(await sealedTexts()).toEqual(before);
    });

    it('leaves a damaged text as it is, reports it, and says that the older key must be kept', async () => {
      const [row] = await lethe.database.rows<{ webhook_secret_next: string }>(
        'SELECT webhook_secret_next FROM bots',
      );
      const text = damaged(row?.webhook_secret_next ?? '');
      await lethe.database.run('UPDATE bots SET webhook_secret_next = ?', text);
      const run = await admin(setting(`${newKey()},${OLD}`), 'keys:rotate');
      expect(run.code).toBe(1);
      expect(run.stderr).toMatch(/Except 1 text that its own key does not decrypt.*Keep the older keys/);
      expect(await lethe.database.rows('SELECT webhook_secret_next FROM bots')).toEqual([
        { webhook_secret_next: text },
      ]);
    });

    const moments: readonly [string, Moment][] = [
      ['in the midst of the keys of subjects', { at: '^UPDATE (keys.)?subject_keys', count: 777 }],
      ['before the keys of the installation', { at: '^UPDATE (keys.)?service_keys' }],
    ];
    it.each(someOf(moments, 2))(
      'killed %s it has lost no key, and run again it finishes',
      async (_, moment) => {
        const before = await openedBy(OLD);
        const present = newKey();
        expect((await admin(setting(`${present},${OLD}`), 'keys:rotate', moment)).code).toBeNull();
        expect(await openedBy(`${present},${OLD}`)).toEqual(before);
        expect((await admin(setting(`${present},${OLD}`), 'keys:rotate')).code).toBe(0);
        expect(await openedBy(present)).toEqual(before);
        expect(await keyIds()).toEqual([keyringOf(present).presentId]);
      },
    );

    it('lets no service start with the new key alone before everything is under it', async () => {
      const present = newKey();
      const moment = { at: '^UPDATE (keys.)?service_keys' };
      await admin(setting(`${present},${OLD}`), 'keys:rotate', moment);
      const ids = new Set(
        (await sealedTexts())
          .filter(({ context }) => !context.startsWith('service_keys'))
          .map(({ sealed }) => sealed.split('.')[1]),
      );
      expect([...ids]).toEqual([keyringOf(present).presentId]);
      const { code, stderr } = await lethe.child(setting(present)).refused();
      expect({ code, stderr }).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`master key ${keyringOf(OLD).presentId}`),
      });
    });
  });

  describe('npm run admin -- keys:list', () => {
    it('prints how many texts each key has encrypted, also a missing one, and shows no key', async () => {
      const total = (await sealedTexts()).length;
      const present = newKey();
      const run = await admin(setting(`${present},${OLD}`), 'keys:list');
      expect(run.code).toBe(0);
      expect(run.stdout.split('\n')).toEqual([
        'key       role     texts',
        `${keyringOf(present).presentId}  present  0`,
        `${keyringOf(OLD).presentId}  older    ${total}`,
        '',
      ]);
      expect(run.output).not.toContain(OLD);
    });
  });

  describe('npm run admin -- keys:sign-rotate', () => {
    it('puts a new signing key in force and still publishes the one before', async () => {
      const signing = (): Promise<{ id: string; retired_at: string | null }[]> =>
        lethe.database.rows(
          `SELECT id, retired_at FROM keys.service_keys WHERE name = 'signing' ORDER BY created_at`,
        );
      const [first] = await signing();
      const run = await admin(setting(OLD), 'keys:sign-rotate');
      expect(run.code).toBe(0);
      expect(await signing()).toEqual([
        { id: first?.id, retired_at: expect.any(String) },
        { id: run.stdout.trim(), retired_at: null },
      ]);
    });
  });
});

if (engine === 'sqlite')
  describe('npm run admin -- keys:rotate with a key file', () => {
    const file = (): string => `${lethe.path}.key`;
    const content = (): string => readFileSync(file(), 'utf8');
    const own = () => lethe.environment;
    arranged(own, content);

    it('makes a new key, and leaves it alone in the file, readable by its owner', async () => {
      const old = content();
      const before = await openedBy(old);
      const run = await admin(own(), 'keys:rotate');
      expect(run.code).toBe(0);
      expect(run.stderr).toContain('The key file holds only the new key');
      expect(content()).not.toContain(old.trim());
      expect(content().trim().split('\n')).toHaveLength(1);
      // Older backups need it.
      expect(readFileSync(`${file()}.retired`, 'utf8')).toBe(old);
      expect(statSync(`${file()}.retired`).mode & 0o777).toBe(0o600);
      expect(statSync(file()).mode & 0o777).toBe(0o600);
      expect(await openedBy(content())).toEqual(before);
      expect(run.output).not.toContain(content().trim());
      await requireServes(own());
    });

    const killed: readonly [string, Moment][] = [
      ['before the new key is in the file', { at: '^rename to' }],
      ['in the midst of the keys of subjects', { at: '^UPDATE (keys.)?subject_keys', count: 777 }],
      ['before a commit', { at: '^COMMIT', count: 6 }],
      ['before the old key leaves the file', { at: '^rename to', count: 2 }],
    ];
    it.each(someOf(killed, 3))(
      'killed %s every text opens with the file, and run again it finishes',
      async (_, moment) => {
        const before = await openedBy(content());
        expect((await admin(own(), 'keys:rotate', moment)).code).toBeNull();
        expect(await openedBy(content())).toEqual(before);
        await requireServes(own());
        expect((await admin(own(), 'keys:rotate')).code).toBe(0);
        expect(content().trim().split('\n')).toHaveLength(1);
        expect(await openedBy(content())).toEqual(before);
      },
    );

    it('keeps the older key in the file as long as a text is under it', async () => {
      const old = content().trim();
      await lethe.database.run(
        `UPDATE bots SET webhook_secret_next = substr(webhook_secret_next, 1, 40) || 'AAAA'`,
      );
      expect((await admin(own(), 'keys:rotate')).code).toBe(1);
      expect(content()).toContain(old);
      // The damaged text makes no later rotation the rest of this one.
      const first = content();
      expect((await admin(own(), 'keys:rotate')).code).toBe(1);
      const [present, ...older] = content().trim().split('\n');
      expect(older).toEqual(first.trim().split('\n'));
      expect(new Set(await keyIds())).toEqual(
        new Set([present, old].map((key) => keyringOf(key!).presentId)),
      );
    });

    const ended: readonly [string, Moment][] = [
      ['before the new key is in the file', { at: '^rename to .*[.]key$' }],
      ['in the midst of the keys of subjects', { at: '^UPDATE (keys.)?subject_keys', count: 777 }],
      ['before the old key leaves the file', { at: '^rename to .*[.]key$', count: 2 }],
    ];
    it.each(someOf(ended, 2))(
      'is done by the running service; ended %s its next start opens every text, and rotates',
      async (_, moment) => {
        const before = await openedBy(content());
        const killed = { ...own(), ...killedAt(moment, build.workingDirectory) };
        const first = await lethe.child(killed).start();
        expect(await admin(own(), 'keys:rotate')).toMatchObject({ code: 1, stdout: '' });
        expect(await first.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
        expect(await openedBy(content())).toEqual(before);

        const service = await lethe.child({ ...own(), OPERATOR_TOKEN }).start();
        const old = content().trim().split('\n');
        const run = await admin(own(), 'keys:rotate');
        expect(run).toMatchObject({ code: 0 });
        expect(run.stderr).toContain('The key file holds only the new key');
        expect(content().trim().split('\n')).toHaveLength(1);
        expect(old.at(-1)).not.toBe(content().trim());
        // What the process encrypts now is under the new key too.
        await Bot.register(service.url);
        // The key that the process still knows is given no more.
        const { data } = await new Client(service.url, OPERATOR_TOKEN).get('/operator/findings');
        expect(JSON.stringify(data)).not.toContain('master_key_unused');
        expect(await keyIds()).toEqual([keyringOf(content()).presentId]);
        expect((await openedBy(content())).length).toBeGreaterThan(before.length);
        await service.end('SIGTERM');
        await requireServes(own());
      },
    );

    it('changes nothing while the file of the running service is missing or another', async () => {
      const service = await lethe.child(own()).start();
      for (const other of [undefined, `${newKey()}\n`]) {
        if (other === undefined) rmSync(file());
        else writeFileSync(file(), other);
        const run = await admin(own(), 'keys:rotate');
        expect([run.code, run.stderr]).toEqual([1, expect.stringContaining('Put its copy back')]);
        expect(existsSync(file()) ? content() : undefined).toBe(other);
      }
      expect((await admin(setting(OLD), 'keys:rotate')).stderr).toContain(
        'has its key from the key file, and this command from LETHE_MASTER_KEY',
      );
      await service.end('SIGTERM');
    });

    it('reports a file that cannot be replaced, and leaves everything as it was', async () => {
      const before = content();
      // A directory at the path of the next file.
      mkdirSync(join(`${file()}.next`, 'in'), { recursive: true });
      const run = await admin(own(), 'keys:rotate');
      expect(run.code).toBe(1);
      expect(run.stderr).toMatch(/The key file .* cannot be replaced/);
      expect(content()).toBe(before);
    });
  });
else {
  describe('npm run admin -- keys:rotate in a database without tables', () => {
    const bare = useInstallation({ makeDatabase: bareDatabase });

    it('makes none there: a restore would find them in its way', async () => {
      expect(await bare.admin('keys:rotate')).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^There is no database of Lethe at PostgreSQL, .*\n$/),
      });
      const made = `SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace::regnamespace::text IN ('keys', 'public')`;
      expect(await bare.database.rows(made)).toEqual([]);
    });
  });

  describe('npm run admin -- keys:rotate with a key file', () => {
    const empty = useInstallation({ settings: {} });

    it('is refused on PostgreSQL, where processes may know only the old key', async () => {
      const run = await runScript(build, 'admin', ['keys:rotate'], empty.environment);
      expect(run.code).toBe(1);
      expect(run.stderr).toContain('Set LETHE_MASTER_KEY to a new key');
    });
  });
}
