import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sections } from '../support/releases/changelog';

// `npm run release` in a copy of this repository that has one commit.

const ROOT = join(__dirname, '../..');
const RELEASE_MAX_MS = 600_000;
const DATE = '2027-01-31';
/** The minor version after the newest one, released or not. */
const [major, minor] = (sections()[0]?.version ?? '').split('.').map(Number) as [number, number];
const NEXT = `${major}.${minor + 1}.0`;
const FIXTURES = 'test/fixtures/releases';
const [FIXTURE = ''] = readdirSync(join(ROOT, FIXTURES));
const place = mkdtempSync(join(tmpdir(), 'lethe-releases-'));
const copy = join(place, 'lethe');
afterAll(() => rmSync(place, { recursive: true }));

const git = (...args: string[]): string => execFileSync('git', args, { cwd: copy, encoding: 'utf8' }).trim();
const read = (name: string): string => readFileSync(join(copy, name), 'utf8');

function release(...args: string[]) {
  const script = [join(copy, 'scripts/release.mjs'), ...args, '--date', DATE];
  // The clone has hundreds of megabytes, which the memory that other tests write to need not hold.
  const env = { ...process.env, TMPDIR: '/var/tmp' };
  const { status, stdout, stderr } = spawnSync(process.execPath, script, {
    cwd: copy,
    encoding: 'utf8',
    env,
  });
  return { code: status, stdout, stderr };
}

const state = (): string[] => [git('rev-parse', 'HEAD'), git('tag'), git('status', '--porcelain')];

beforeAll(() => {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    ...{ cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 },
  });
  for (const name of files.split('\0').filter((one) => one !== '' && existsSync(join(ROOT, one))))
    cpSync(join(ROOT, name), join(copy, name));
  const changelog = read('CHANGELOG.md').replace(
    /\n## /,
    `\n## ${NEXT} - unreleased\n\n### Added\n\n- A thing.\n\n## `,
  );
  writeFileSync(join(copy, 'CHANGELOG.md'), changelog);
  // What it is made of is verified elsewhere.
  cpSync(join(copy, FIXTURES, FIXTURE), join(copy, FIXTURES, NEXT), { recursive: true });
  git('init', '--quiet', '--initial-branch', 'main');
  for (const [key, value] of Object.entries({ 'user.name': 'Tests', 'user.email': 'tests@example.org' }))
    git('config', key, value);
  git('add', '--all');
  git('commit', '--quiet', '--message', 'feat: everything');
});

describe('npm run release', () => {
  it('refuses what is no version, a version without a section, and a checkout with changes, and changes nothing', () => {
    const before = state();
    expect(release()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Name one version') as string,
    });
    expect(release(`v${NEXT}`)).toMatchObject({ code: 1 });
    expect(release(NEXT, '9.9.9')).toMatchObject({ code: 1 });
    expect(release('9.9.9').stderr).toContain('CHANGELOG.md has no section "## 9.9.9 - unreleased"');
    expect(release('9.9.9').stderr).toContain(`${FIXTURES}/9.9.9 is not there for both engines`);
    rmSync(join(copy, FIXTURES, NEXT, 'postgres'), { recursive: true });
    expect(release(NEXT).stderr).toContain(`${FIXTURES}/${NEXT} is not there for both engines`);
    git('checkout', '--quiet', FIXTURES);
    expect(state()).toEqual(before);
    appendFileSync(join(copy, 'README.md'), 'x');
    expect(release(NEXT).stderr).toContain('changes that are not committed');
    git('checkout', '--quiet', 'README.md');
    git('switch', '--quiet', '--create', 'other');
    expect(release(NEXT).stderr).toContain('The branch is not main');
    git('switch', '--quiet', 'main');
    git('tag', `v${NEXT}`);
    expect(release(NEXT).stderr).toContain(`The tag v${NEXT} is there already`);
    git('tag', '--delete', `v${NEXT}`);
    expect(state()).toEqual(before);
  });

  it(
    'in a dry run builds everything that is published, and leaves no commit and no tag',
    () => {
      const before = state();
      const { code, stdout, stderr } = release(NEXT, '--dry-run');
      expect([code, stderr]).toEqual([0, expect.any(String)]);
      expect(stdout).toContain('there is no commit and no tag');
      expect(state()).toEqual(before);
      const made = join(copy, 'release');
      expect(
        readdirSync(made)
          .map((name) => name.replace('lethe_client', 'lethe-client'))
          .sort(),
      ).toEqual([
        'NOTES.md',
        'SHA256SUMS',
        `lethe-${NEXT}.cdx.json`,
        `lethe-${NEXT}.tar.gz`,
        `lethe-cli-${NEXT}.tgz`,
        `lethe-client-${NEXT}-py3-none-any.whl`,
        `lethe-client-${NEXT}.tar.gz`,
        `lethe-discord-${NEXT}.tgz`,
        `lethe-sdk-${NEXT}.tgz`,
        `lethe-server-${NEXT}.tgz`,
      ]);
      const inMade = { cwd: made, encoding: 'utf8' } as const;
      expect(execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], inMade)).not.toContain(
        'FAILED',
      );
      expect(readFileSync(join(made, 'NOTES.md'), 'utf8')).toBe('### Added\n\n- A thing.\n');
      for (const name of ['server', 'sdk', 'discord', 'cli']) {
        const packed = execFileSync(
          'tar',
          ['-xOf', `lethe-${name}-${NEXT}.tgz`, 'package/package.json'],
          inMade,
        );
        expect(JSON.parse(packed)).toMatchObject({ name: `@lethe/${name}`, version: NEXT });
      }
      const fromSource = (file: string): string =>
        execFileSync('tar', ['-xOf', `lethe-${NEXT}.tar.gz`, `lethe-${NEXT}/${file}`], inMade);
      expect(fromSource('CHANGELOG.md')).toContain(`\n## ${NEXT} - ${DATE}\n`);
    },
    RELEASE_MAX_MS,
  );

  it(
    'makes a commit that changes the version everywhere, keeps the stored formats, and is tagged',
    () => {
      const old = (JSON.parse(read('package.json')) as { version: string }).version;
      expect(release(NEXT)).toMatchObject({ code: 0 });
      expect(git('log', '-1', '--format=%s')).toBe(`build(release): ${NEXT}`);
      expect(git('rev-parse', `v${NEXT}^{commit}`)).toBe(git('rev-parse', 'HEAD'));
      expect(git('status', '--porcelain')).toBe('');
      const allowed = /^(CHANGELOG\.md|CONTRIBUTING\.md|docs\/decisions\/|test\/|package-lock\.json)/;
      const left = spawnSync('git', ['grep', '-lwF', old], { cwd: copy, encoding: 'utf8' }).stdout.trim();
      expect(left.split('\n').filter((name) => name !== '' && !allowed.test(name))).toEqual([]);
      const lock = JSON.parse(read('package-lock.json')) as { version: string; packages: { '': object } };
      expect([lock.version, lock.packages['']]).toEqual([NEXT, expect.objectContaining({ version: NEXT })]);
      const formats = JSON.parse(read('test/repository/stored-formats.json')) as Record<
        string,
        { release: string | null }[]
      >;
      for (const entries of Object.values(formats)) {
        const count = (wanted: string | null) => entries.filter(({ release: one }) => one === wanted).length;
        expect(count(NEXT)).toBeGreaterThan(0);
        expect(count(NEXT)).toBe(count(null));
      }
      expect(release(NEXT).stderr).toContain('is there already');
    },
    RELEASE_MAX_MS,
  );
});
