import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import { delimiter, join, relative } from 'node:path';
import { PROCESS_ENVIRONMENT, startOf, useBuild } from '../support/build';
import type { ScriptRun } from '../support/child-script';
import { directoryOnDisk } from '../support/disk';
import { expectFailure } from '../support/expected';
import { useInstallation } from '../support/installation';
import { canRun } from '../support/programs';
import { LETHE_MASTER_KEY } from '../support/service';
import { spawned } from '../support/spawned';
import { nextSecond, until } from '../support/until';

// docs/operations/offsite-backup.sh with age and with rclone, whose remote is a folder here. docs/operate.md says with which
// store it was drilled.

const SCRIPT = join(__dirname, '../../docs/operations/offsite-backup.sh');
const build = useBuild();
const lethe = useInstallation({ build, settings: { LETHE_MASTER_KEY }, makeDirectory: directoryOnDisk });

const at = (...names: readonly string[]): string => join(lethe.root, ...names);

function offsite(
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<ScriptRun> {
  const environment = {
    ...{ ...PROCESS_ENVIRONMENT, ...lethe.environment, RCLONE_CONFIG: at('rclone.conf') },
    ...{ OFFSITE_REMOTE: at('remote'), OFFSITE_LEDGER_REMOTE: at('elsewhere'), OFFSITE_WORK: at('work') },
    ...{ OFFSITE_RECIPIENTS: at('recipients'), OFFSITE_IDENTITY: at('identity-1') },
    OFFSITE_ADMIN: [process.execPath, ...startOf(build.directory, 'admin')].join(' '),
  };
  const options = { cwd: build.workingDirectory, env: { ...environment, ...settings } };
  return spawned('bash', [SCRIPT, ...args], options).ended;
}

async function done(
  args: readonly string[],
  settings?: Readonly<Record<string, string>>,
): Promise<ScriptRun> {
  const run = await offsite(args, settings);
  expect(run).toMatchObject({ code: 0 });
  return run;
}

async function refused(
  args: readonly string[],
  message: string,
  settings?: Readonly<Record<string, string>>,
) {
  expect(await offsite(args, settings)).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
}

/** A key of age: its secret part in a file, and its public one. */
function newIdentity(name: string): string {
  const { stderr } = spawnSync('age-keygen', ['-o', at(name)], { encoding: 'utf8' });
  return stderr.replace(/^Public key: /, '');
}

/** A program in the place of another one, which it can call as `$REAL`. */
function inPlaceOf(program: string, script: string): { readonly PATH: string } {
  const real = spawnSync('which', [program], { encoding: 'utf8' }).stdout.trim();
  mkdirSync(at('bin'), { recursive: true });
  writeFileSync(at('bin', program), `#!/usr/bin/env bash\nREAL=${real}\n${script}\n`);
  chmodSync(at('bin', program), 0o755);
  return { PATH: [at('bin'), PROCESS_ENVIRONMENT['PATH']].join(delimiter) };
}

/** Every file below a folder. */
function filesOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}
const marks = (remote = 'remote'): string[] => filesOf(at(remote, 'done'));

/** The finished backup of `remote` once more, as one that was made with a clock that was ahead: the path of its mark. */
function ahead(remote: string): string {
  const later = (text: string): string => text.replace(/\d{4}-\d\d-\d\dT/g, '2999-01-01T');
  for (const path of filesOf(at(remote))) {
    mkdirSync(join(later(path), '..'), { recursive: true });
    if (!marks(remote).includes(path)) writeFileSync(later(path), readFileSync(path));
  }
  const [mark = ''] = marks(remote);
  writeFileSync(later(mark), later(readFileSync(mark, 'utf8')));
  return later(mark);
}

const RECORDS = 'printf "%s\\n" "${0##*/} $* [${PGPASSWORD-none}]" >> "$CALLS"';
const WRITES = `while [ "$#" -gt 0 ]; do
  case "$1" in
    -f | --out) printf "%s" "$1" > "$2" ;;
    --to) mkdir "$2"; for name in "$4.db" manifest.json; do printf "%s" "$name" > "$2/$name"; done ;;
  esac
  shift
done`;
const FAILS = 'case "$*" in *"${FAILS:-nothing fails}"*) exit 1 ;; esac';

/** In the place of rclone, where a test is about other programs. */
const FOLDERS = `case "$1" in
  cat) exec cat "$2" ;;
  lsf) [ -d "$2" ] || exit 3; exec ls "$2" ;;
  copyto) mkdir -p "$(dirname "\${!#}")" && exec cp "\${@: -2}" ;;
esac`;

/**
 * A program in the place of Lethe, for tests of the script alone: it writes the files that Lethe would, with other contents,
 * and each call to `calls`.
 */
const scripted = (): Readonly<Record<string, string>> => ({
  ...inPlaceOf('lethe', [RECORDS, FAILS, WRITES].join('\n')),
  ...{ OFFSITE_ADMIN: at('bin', 'lethe'), CALLS: at('calls') },
});

beforeEach(() => {
  writeFileSync(at('recipients'), newIdentity('identity-1') + newIdentity('identity-2'));
});

const describeIt =
  canRun('rclone', ['version']) && canRun('age') && canRun('shellcheck') ? describe : describe.skip;

describeIt('docs/operations/offsite-backup.sh', () => {
  it('has nothing that shellcheck would change', () => {
    const { status, stdout } = spawnSync('shellcheck', [SCRIPT], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });

  it('restores on a machine that has lost everything, forgets who was erased since, and sends nothing in clear', async () => {
    const bot = await lethe.withBot();
    const [gone, stays] = [await bot.hasUser(), await bot.hasUser()];
    await lethe.sealed();
    await done(['backup']);
    expect(readdirSync(at('work')).sort()).toEqual(['lock', 'lock.send']);
    await bot.hasForgotten(gone);
    await nextSecond();
    await done(['ledger']);

    const sent = [...filesOf(at('remote')), ...filesOf(at('elsewhere'))];
    const kinds = sent.map((path) => relative(lethe.root, path).replace(/\d{4}-[\dTZ-]+/, 'TIME')).sort();
    expect([...new Set(kinds)]).toEqual([
      ...['elsewhere/done/TIME.sha256', 'elsewhere/ledger/TIME/ledger.ndjson.age'],
      ...['remote/data/TIME/data.db.age', 'remote/data/TIME/manifest.json.age', 'remote/done/TIME.sha256'],
      ...['remote/keys/TIME/keys.db.age', 'remote/keys/TIME/manifest.json.age'],
    ]);
    const master = Buffer.from(LETHE_MASTER_KEY, 'base64');
    const clear = [
      ...[
        master,
        LETHE_MASTER_KEY,
        master.toString('hex'),
        'SQLite format 3',
        'CREATE TABLE',
        'lethe-backup/1',
      ],
      ...['profile', bot.id, stays.user_id, gone.user_id, gone.guild_id, 'request_id', 'AGE-SECRET-KEY'],
    ];
    for (const path of sent) {
      const bytes = readFileSync(path);
      expect(clear.filter((text) => bytes.includes(text))).toEqual([]);
    }

    await lethe.service.end();
    rmSync(lethe.directory, { recursive: true });
    mkdirSync(lethe.directory);
    const { stderr } = await done(['fetch', at('back')]);
    const commands = [...stderr.matchAll(/ admin (restore .*|ledger:import .*)$/gm)].map(
      ([, text = '']) => text,
    );
    expect(commands).toHaveLength(3);
    for (const command of commands)
      expect(await lethe.admin(...command.split(' '))).toMatchObject({ code: 0 });
    await lethe.service.start();
    expectFailure(await bot.export(gone), 404, 'not_found');
    const { data } = await bot.export<{ data: object }>(stays);
    expect(data.data).toEqual({ profile: { value: stays.user_id } });
  });

  it('is drilled where the second key is, without the database; a damaged or forged copy fails', async () => {
    await (await lethe.withBot()).hasUser();
    await lethe.sealed();
    await done(['backup']);
    const elsewhere = {
      OFFSITE_IDENTITY: at('identity-2'),
      DATABASE_URL: `sqlite:${at('other', 'lethe.db')}`,
    };
    mkdirSync(at('other'));
    expect(await done(['drill', '--max-age-days', '1'], elsewhere)).toMatchObject({
      stderr: expect.stringContaining('everything in it can be used'),
    });
    newIdentity('foreign');
    await refused(['drill'], 'cannot be decrypted by the key', { OFFSITE_IDENTITY: at('foreign') });

    const [data = ''] = filesOf(at('remote', 'data')).filter((path) => path.endsWith('data.db.age'));
    const bytes = readFileSync(data);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(data, bytes);
    await refused(['fetch', at('back')], 'is damaged: take another backup');
    // As one who may write to the store and knows the public key.
    writeFileSync(at('forged'), 'SQLite format 3');
    rmSync(data);
    spawnSync('age', ['-R', at('recipients'), '-o', data, at('forged')]);
    const [mark = ''] = marks();
    const sum = spawnSync('sha256sum', [data], { encoding: 'utf8' }).stdout.slice(0, 64);
    writeFileSync(mark, readFileSync(mark, 'utf8').replace(/^\w+(?=.*data\.db\.age$)/m, sum));
    await refused(['drill'], 'is not what the backup has written');
    expect(readdirSync(at('work')).sort()).toEqual(['lock', 'lock.send']);
  });

  const failures: readonly [string, string, string][] = [
    ['age', '"$REAL" "$@" < /dev/null || exit; [ "$#" -lt 6 ] || { truncate -s 20 "$5"; exit 1; }', ''],
    [
      'rclone',
      '"$REAL" "$@"; [ "$1" != copyto ] || [ ! -f "$4" ] || truncate -s 20 "$4"',
      'is not what was sent',
    ],
    ['rclone', 'case "$*" in *keys.db.age) exit 1 ;; esac; exec "$REAL" "$@"', 'could not be sent'],
  ];
  it('counts as no backup after a full disk, half an upload or a refusal; the next run is whole', async () => {
    const settings = scripted();
    for (const [program, script, message] of failures) {
      await refused(['backup'], message, { ...settings, ...inPlaceOf(program, script) });
      expect([program, marks(), marks('elsewhere')]).toEqual([program, [], []]);
      expect(readdirSync(at('work'))).toEqual(['lock']);
      rmSync(at('bin', program));
      await nextSecond();
    }
    await refused(['fetch', at('back')], 'has no finished backup');
    await done(['backup'], settings);
    expect((await done(['list'])).stdout).toMatch(/^\S{20}\n$/);
  });

  it('says before it copies anything that a setting cannot be used', async () => {
    const cases: readonly [Readonly<Record<string, string>>, string][] = [
      [{ OFFSITE_REMOTE: '' }, 'set OFFSITE_REMOTE'],
      [{ OFFSITE_LEDGER_REMOTE: at('remote', 'ledger') }, 'OFFSITE_LEDGER_REMOTE must be another place'],
      [{ OFFSITE_RECIPIENTS: at('none') }, 'is no file of public keys'],
      // Secret keys do not belong on the machine that makes backups.
      [{ OFFSITE_RECIPIENTS: at('identity-1') }, 'is no file of public keys'],
    ];
    for (const [settings, message] of cases) await refused(['backup'], message, settings);
    expect(existsSync(at('work'))).toBe(false);
    writeFileSync(at('recipients'), newIdentity('single'));
    expect((await done(['ledger'], scripted())).stderr).toContain('One key alone opens these backups');
  });

  it('takes no name from the store for a path, and no ledger that is older than the data', async () => {
    await done(['backup'], scripted());
    const [mark = ''] = marks();
    const named = readFileSync(mark, 'utf8');
    writeFileSync(mark, named.replace(/keys\/(\S+)\//g, 'keys/$1/../../'));
    await refused(['fetch', at('back')], 'has no keys of');
    writeFileSync(mark, named);
    const [ledger = ''] = marks('elsewhere');
    const [sealed = ''] = filesOf(at('elsewhere', 'ledger'));
    const old = (path: string): string => path.replace(/\d{4}-\d\d-\d\dT/, '2020-01-01T');
    mkdirSync(join(old(sealed), '..'));
    writeFileSync(old(sealed), readFileSync(sealed));
    writeFileSync(old(ledger), old(readFileSync(ledger, 'utf8')));
    rmSync(ledger);
    await refused(['fetch', at('later')], 'is older than the data');
    // Nothing was decrypted before.
    expect(existsSync(at('later'))).toBe(false);
  });

  it('takes no mark of later than now for the newest', async () => {
    const settings = scripted();
    await done(['backup'], settings);
    for (const remote of ['elsewhere', 'remote']) {
      const later = ahead(remote);
      for (const args of [['fetch', at('back')], ['drill']])
        await refused(args, `${later}, is later than now: correct the clock`, settings);
      expect(existsSync(at('back'))).toBe(false);
      rmSync(later);
    }
    await done(['fetch', at('back')], settings);
  });

  it('sends a ledger while a backup is under way, and makes no second backup beside it', async () => {
    spawnSync('mkfifo', [at('gate')]);
    const waits = `case "$*" in copyto*/data/*) : > "$REACHED"; cat "$GATE"; exit 1 ;; esac`;
    const settings = {
      ...{ ...scripted(), ...inPlaceOf('rclone', [waits, FOLDERS].join('\n')) },
      ...{ REACHED: at('reached'), GATE: at('gate') },
    };
    const running = offsite(['backup'], settings);
    await until(() => existsSync(at('reached')));
    await done(['ledger'], settings);
    expect([marks(), marks('elsewhere').length]).toEqual([[], 1]);
    await refused(['backup'], 'another run works in', settings);
    writeFileSync(at('gate'), '');
    expect(await running).toMatchObject({ code: 1 });
    expect(readdirSync(at('work')).sort()).toEqual(['lock', 'lock.ledger', 'lock.send']);
  });

  it('works in no directory that a symbolic link leads to', async () => {
    mkdirSync(at('other'), { mode: 0o755 });
    symlinkSync(at('other'), at('work'));
    for (const path of [at('work'), `${at('work')}//`])
      await refused(['ledger'], 'is a symbolic link: set OFFSITE_WORK', { OFFSITE_WORK: path });
    expect([statSync(at('other')).mode & 0o777, readdirSync(at('other'))]).toEqual([0o755, []]);
  });

  describe('on PostgreSQL', () => {
    const PASSWORD = 'p@s\\/wö%r-\\n';
    const ENCODED = 'p%40s%5C%2Fw%C3%B6%25r%2d\\n';
    const DRILL = 'postgres:///drill?user=drill&password=se%20cret&sslmode=disable';
    const DROP = 'Drop the database of OFFSITE_DRILL_DATABASE_URL now';
    let settings: Readonly<Record<string, string>>;

    /** What each program in the place of a client was called with, and its password. */
    const calls = (): string[] =>
      existsSync(at('calls')) ? readFileSync(at('calls'), 'utf8').trimEnd().split('\n') : [];

    beforeEach(() => {
      inPlaceOf('pg_dump', `${RECORDS}\n${WRITES}`);
      inPlaceOf('pg_restore', `${RECORDS}\n${FAILS}`);
      inPlaceOf('psql', `${RECORDS}\nprintf "%s\\n" "\${TABLES:-0}"`);
      inPlaceOf('rclone', FOLDERS);
      settings = {
        ...{ ...scripted(), OFFSITE_DRILL_DATABASE_URL: DRILL },
        DATABASE_URL: `postgres://lethe:${ENCODED}@pooler:6432/lethe?sslmode=require`,
      };
    });

    it('dumps past the pooler, and has the password of no URL in an argument', async () => {
      const direct = `postgres://lethe:${ENCODED}@server:5432/lethe?sslmode=require`;
      await done(['backup'], { ...settings, DATABASE_DIRECT_URL: direct });
      const dump = 'pg_dump --dbname=postgres://lethe@server:5432/lethe?sslmode=require -Fc';
      expect(calls()).toEqual([
        `${dump} --exclude-schema=keys -f ${at('work', 'run', 'data', 'data.dump')} [${PASSWORD}]`,
        `${dump} --schema=keys -f ${at('work', 'run', 'keys', 'keys.dump')} [${PASSWORD}]`,
        `lethe ledger:export --out ${at('work', 'run', 'ledger', 'ledger.ndjson')} [none]`,
      ]);
      rmSync(at('calls'));

      expect((await done(['drill'], settings)).stderr).toMatch(
        new RegExp(`The backup restores\\.\n${DROP}.*\n$`),
      );
      const database = '--dbname=postgres:///drill?user=drill&sslmode=disable';
      const restore = `pg_restore ${database} --exit-on-error --no-owner ${at('work', 'run', 'fetched')}`;
      expect(calls()).toEqual([
        expect.stringMatching(
          /^psql --dbname=postgres:\/\/\/drill\?user=drill&sslmode=disable -XAtc .* \[se cret\]$/,
        ),
        `${restore}/keys/keys.dump [se cret]`,
        `${restore}/data/data.dump [se cret]`,
        'lethe audit:verify [none]',
      ]);
    });

    it('leaves a URL without a password, and the password of the environment, as they are', async () => {
      const url = 'postgresql://lethe@server/lethe?application_name=a:b@c';
      await done(['backup'], { ...settings, DATABASE_URL: url, PGPASSWORD: 'of the environment' });
      expect(calls()[0]).toMatch(/^pg_dump --dbname=(\S+) .* \[of the environment\]$/);
      expect(calls()[0]).toContain(` --dbname=${url} `);
    });

    it('drills no backup that is older than --max-age-days, and says which flags it does not know', async () => {
      const flags = [['--json'], ['--max-age-days'], ['--max-age-days', '1', '--json'], ['--json', '1']];
      for (const given of flags)
        await refused(['drill', ...given], 'takes --max-age-days N, and no other flag', settings);
      for (const given of [['--max-age-days', '0'], ['--max-age-days=1 week']])
        await refused(['drill', ...given], '--max-age-days must be a whole number', settings);
      await done(['backup'], settings);
      await done(['drill', '--max-age-days', '1'], settings);
      await done(['drill', '--max-age-days=1'], settings);

      const [mark = ''] = marks();
      writeFileSync(mark.replace(/\d{4}-\d\d-\d\dT/, '2020-01-01T'), readFileSync(mark));
      rmSync(mark);
      rmSync(at('calls'));
      await refused(['drill', '--max-age-days', '2'], 'is older than 2 days: take another one', settings);
      expect(calls()).toEqual([]);
    });

    it('drills none whose mark is later than now', async () => {
      await done(['backup'], settings);
      ahead('remote');
      rmSync(at('calls'));
      for (const flags of [[], ['--max-age-days', '1']])
        await refused(['drill', ...flags], 'is later than now: correct the clock', settings);
      expect(calls()).toEqual([]);
    });

    it('asks for the end of the database of the drill, also after a failure', async () => {
      await done(['backup'], settings);
      for (const FAILS of ['keys.dump', 'data.dump', 'audit:verify']) {
        const { code, stderr } = await offsite(['drill'], { ...settings, FAILS });
        expect([FAILS, code, stderr]).toEqual([FAILS, 1, expect.stringContaining(DROP)]);
        expect(stderr).not.toContain('The backup restores');
        expect(readdirSync(at('work')).sort()).toEqual(['lock', 'lock.send']);
      }
      // One that is not empty is not the drill's.
      const { code, stderr } = await offsite(['drill'], { ...settings, TABLES: '3' });
      expect([code, stderr]).toEqual([1, expect.stringContaining('is not empty')]);
      expect(stderr).not.toContain(DROP);
    });
  });
});
