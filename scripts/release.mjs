// `npm run release 0.2.0`: checks, and makes the commit, the tag and everything that is published, in ./release.
// `npm run release -- 0.2.0 --dry-run` makes the same in ./release, and neither a commit nor a tag here.
//
// All of it happens in a clone. This checkout gets the commit and the tag when everything is built, so a release that
// fails or is interrupted leaves nothing behind.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { release, sectionOf } from './release.files.mjs';

const ROOT = join(import.meta.dirname, '..');
const VERSION = /^\d+\.\d+\.\d+$/;
const BRANCH = 'main';
const FIXTURES = 'test/fixtures/releases';

const { values, positionals } = parseArgs({
  options: { 'dry-run': { type: 'boolean' }, date: { type: 'string' } },
  allowPositionals: true,
});
const [version = '', ...rest] = positionals;
const tag = `v${version}`;
const date = values.date ?? new Date().toISOString().slice(0, 10);
const isDry = values['dry-run'] === true;

const run = (cwd, program, ...args) =>
  execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 2] }).trim();
const git = (...args) => run(ROOT, 'git', ...args);
const tell = (line) => process.stdout.write(`${line}\n`);

const faults = faultsOf();
if (faults.length > 0) {
  process.stderr.write(`Nothing is released:\n${faults.map((fault) => `  - ${fault}\n`).join('')}`);
  process.exit(1);
}
const work = mkdtempSync(join(tmpdir(), 'lethe-release-'));
try {
  const clone = join(work, 'lethe');
  run(work, 'git', 'clone', '--quiet', '--no-hardlinks', ROOT, clone);
  release(clone, version, date);
  for (const key of ['user.name', 'user.email']) run(clone, 'git', 'config', key, git('config', key));
  run(clone, 'git', 'commit', '--quiet', '--all', '--message', `build(release): ${version}`);
  run(clone, 'git', 'tag', '--annotate', '--message', `Lethe ${version}`, tag);
  tell(`Building ${version} of a clean clone.`);
  run(clone, 'npm', 'ci', '--ignore-scripts', '--prefer-offline', '--silent');
  tell(run(clone, process.execPath, 'scripts/release.artefacts.mjs', join(work, 'release')));
  if (run(clone, 'git', 'status', '--porcelain') !== '')
    throw new Error('the build has changed files of git');
  if (!isDry) {
    git('fetch', '--quiet', '--no-tags', clone, `refs/tags/${tag}`);
    git('merge', '--quiet', '--ff-only', 'FETCH_HEAD^{commit}');
    git('fetch', '--quiet', clone, `refs/tags/${tag}:refs/tags/${tag}`);
  }
  rmSync(join(ROOT, 'release'), { recursive: true, force: true });
  cpSync(join(work, 'release'), join(ROOT, 'release'), { recursive: true });
} catch (error) {
  process.stderr.write(`Nothing is released: ${error.message.split('\n')[0]}\n`);
  process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
if (process.exitCode === 1) process.exit();
tell(
  isDry
    ? `A dry run: ./release is what would be published; there is no commit and no tag.`
    : `Released as ${tag}. Publish it: git push --atomic origin ${BRANCH} ${tag}`,
);

/** Everything that is not as a release needs it. */
function faultsOf() {
  const found = [];
  if (!VERSION.test(version) || rest.length > 0)
    return ['Name one version, for example `npm run release 0.2.0`.'];
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  if (git('status', '--porcelain') !== '') found.push('The checkout has changes that are not committed.');
  if (!isDry && git('rev-parse', '--abbrev-ref', 'HEAD') !== BRANCH)
    found.push(`The branch is not ${BRANCH}.`);
  if (git('tag', '--list', tag) !== '') found.push(`The tag ${tag} is there already.`);
  if (!changelog.includes(`\n## ${version} - unreleased\n`))
    found.push(`CHANGELOG.md has no section "## ${version} - unreleased".`);
  else if (!/^- /m.test(sectionOf(changelog, version)))
    found.push(`The section of ${version} in CHANGELOG.md is empty; \`npm run changelog\` drafts it.`);
  const fixtures = ['sqlite', 'postgres'].map((engine) => join(ROOT, FIXTURES, version, engine));
  if (!fixtures.every((path) => existsSync(join(path, 'manifest.json.gz'))))
    found.push(
      `${FIXTURES}/${version} is not there for both engines; \`TEST_FIXTURES=write npx jest test/engines/releases.engines\` writes it.`,
    );
  return found;
}
