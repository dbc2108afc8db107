import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

// The workflows of .github, as far as they can be checked without GitHub.

const ROOT = join(__dirname, '../..');
const FOLDER = join(ROOT, '.github/workflows');

interface Job {
  readonly 'timeout-minutes'?: number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly container?: { readonly image: string };
  readonly needs?: string | readonly string[];
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}
interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const read = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');
const workflow = (name: string): Workflow => parse(read(name)) as Workflow;

describe.each(readdirSync(FOLDER))('%s', (name) => {
  const { permissions, jobs } = workflow(name);
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  it('pins every action to a commit, and names its version', () => {
    const used = [...read(name).matchAll(/uses: (.+)$/gm)].map(([, text]) => text);
    expect(used.length).toBe(steps.filter(({ uses }) => uses !== undefined).length);
    for (const text of used) expect(text).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('may read alone, but for jobs that name more, and ends in time', () => {
    expect(permissions).toEqual({ contents: 'read' });
    for (const job of Object.values(jobs)) expect(job['timeout-minutes']).toBeLessThanOrEqual(60);
  });

  it('runs .ci/run on the Debian whose packages it names, with a git that trusts the checkout', () => {
    for (const { container, steps: all } of Object.values(jobs)) {
      const runs = all.map(({ run }) => run);
      const at = runs.indexOf('.ci/run');
      if (at < 0) continue;
      expect(container?.image).toMatch(/:bookworm$/);
      expect(runs.slice(0, at).join()).toContain('safe.directory');
    }
  });

  it('runs files that are there', () => {
    const files = steps.flatMap(({ run = '' }) => run.match(/(?:scripts|\.ci)\/[\w.]+/g) ?? []);
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});

describe('the workflow of a release', () => {
  const { jobs } = workflow('release.yml');

  it('publishes nothing before every check has passed, and gives each job one right', () => {
    expect(Object.fromEntries(Object.entries(jobs).map(([name, { needs }]) => [name, needs]))).toEqual({
      ...{ check: undefined, build: 'check', npm: 'build', pypi: 'build' },
      github: ['npm', 'pypi'],
    });
    expect(jobs['npm']?.permissions).toEqual({ 'id-token': 'write' });
    expect(jobs['pypi']?.permissions).toEqual({ 'id-token': 'write' });
    expect(jobs['github']?.permissions).toEqual({ contents: 'write' });
  });

  it('can be repeated when a part is published', () => {
    const text = read('release.yml');
    expect(text).toMatch(/npm view "@lethe\/\$name@\$version" version.* && continue\n\s+npm publish/);
    expect(text).toContain('skip-existing: true');
    expect(text).toContain('gh release view');
  });

  it('publishes the packages with provenance, and stores no token', () => {
    const text = read('release.yml');
    expect(text).toContain('npm publish --provenance');
    for (const name of readdirSync(join(ROOT, 'packages')))
      expect(text).toMatch(new RegExp(`for name in [^;]*\\b${name}\\b`));
    expect(text).not.toContain('secrets.');
  });
});
