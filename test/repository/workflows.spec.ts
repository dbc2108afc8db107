import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

// The workflows of .github: what they may do, and that the one of a release publishes all of it.

const ROOT = join(__dirname, '../..');
const FOLDER = join(ROOT, '.github/workflows');

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, string | number | boolean>>;
}
interface Job {
  readonly needs?: string | readonly string[];
  readonly environment?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const text = (file: string): string => readFileSync(join(FOLDER, file), 'utf8');
const FILES = readdirSync(FOLDER);
const workflow = (file: string): Workflow => parse(text(file)) as Workflow;
const jobs = (file: string): [string, Job][] => Object.entries(workflow(file).jobs);

describe.each(FILES)('the workflow %s', (file) => {
  it('takes each action by its commit, and says its version', () => {
    const lines = text(file).match(/^.*\buses:.*$/gm) ?? [];
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('reads the repository and no more, but for what a job names', () => {
    expect(workflow(file).permissions).toEqual({ contents: 'read' });
  });

  it('has no stored secret, and no text of an event in a command', () => {
    expect(text(file)).not.toMatch(/\bsecrets\b/);
    for (const [, { steps }] of jobs(file))
      for (const { run = '' } of steps) expect(run).not.toContain('${{');
  });

  it('has a limit of time for each job', () => {
    for (const [name, job] of jobs(file))
      expect([name, job['timeout-minutes']]).toEqual([name, expect.any(Number)]);
  });

  it('runs programs and scripts that are there', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Readonly<Record<string, string>>;
    };
    const commands = jobs(file).flatMap(([, { steps }]) => steps.map(({ run = '' }) => run));
    for (const command of commands) {
      for (const [, name = ''] of command.matchAll(/\bnpm run ([\w:-]+)/g))
        expect(scripts).toHaveProperty([name]);
      for (const [path = ''] of command.matchAll(/(?<!\S)(?:scripts|\.ci)\/[\w./-]+/g))
        expect([path, existsSync(join(ROOT, path))]).toEqual([path, true]);
    }
  });
});

describe('the workflow release.yml', () => {
  const all = workflow('release.yml').jobs;
  const before = (name: string): string[] => {
    const needed = [all[name]?.needs ?? []].flat();
    return [...needed, ...needed.flatMap(before)];
  };

  it('begins with the gate, and makes the files once', () => {
    expect(all['check']?.steps.map(({ run }) => run)).toContain('.ci/run');
    for (const name of Object.keys(all).filter((one) => one !== 'check'))
      expect(before(name)).toContain('check');
    const makers = Object.entries(all).filter(([, { steps }]) =>
      steps.some(({ run = '' }) => /npm (ci|run)/.test(run)),
    );
    expect(makers.map(([name]) => name)).toEqual(['files']);
    for (const name of ['npm', 'pypi', 'github']) expect(before(name)).toContain('files');
  });

  it('gives an identity to the two jobs that publish packages alone, each in its environment', () => {
    const rights = Object.entries(all).map(([name, { permissions = {}, environment }]) => [
      name,
      permissions,
      environment,
    ]);
    expect(rights).toEqual([
      ['check', {}, undefined],
      ['files', {}, undefined],
      ['npm', { contents: 'read', 'id-token': 'write' }, 'npm'],
      ['pypi', { contents: 'read', 'id-token': 'write' }, 'pypi'],
      ['github', { contents: 'write' }, undefined],
    ]);
  });

  it('publishes with an attestation, by a version of npm that knows trusted publishers', () => {
    const commands = all['npm']?.steps.flatMap(({ run = '' }) => run) ?? [];
    expect(commands).toContain('node scripts/release.publish.mjs --provenance');
    const [, major, minor] = /npm install --global npm@(\d+)\.(\d+)\.\d+/.exec(commands.join('\n')) ?? [];
    expect(Number(major) * 100 + Number(minor)).toBeGreaterThanOrEqual(1105);
    expect(all['pypi']?.steps.at(-1)?.uses).toMatch(/^pypa\/gh-action-pypi-publish@/);
  });

  it('publishes and puts out no file that SHA256SUMS does not list, and none on PyPI over other bytes', () => {
    const commands = (job: string): string[] => all[job]?.steps.flatMap(({ run = [] }) => run) ?? [];
    expect(commands('pypi')).toEqual(['node scripts/release.pypi.mjs release dist']);
    expect(all['pypi']?.steps.at(-1)?.with).toBeUndefined();
    expect(commands('github')[0]).toBe('node scripts/release.sums.mjs release');
  });

  it('publishes every package that the documents name', () => {
    const checks = readFileSync(join(ROOT, 'scripts/release.checks.mjs'), 'utf8');
    const [, list = ''] = /PACKAGES = \[([^\]]+)\]/.exec(checks) ?? [];
    const published = [...list.matchAll(/'(\w+)'/g)].map(([, name = '']) => `@lethe/${name}`);
    expect(published.sort()).toEqual(['@lethe/cli', '@lethe/discord', '@lethe/sdk', '@lethe/server']);
    const pages = ['README.md', ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`)];
    const named = pages
      .filter((name) => name.endsWith('.md'))
      .flatMap((name) => readFileSync(join(ROOT, name), 'utf8').match(/@lethe\/[a-z]+/g) ?? []);
    expect([...new Set(named)].sort()).toEqual(published.sort());
  });
});
