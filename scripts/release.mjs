// npm run release -- [--dry-run] [--tag TAG] [--repository URL]: makes release/ of a checkout, which is all that a release
// publishes. Nothing leaves this machine; `node scripts/release.publish.mjs` publishes it. CONTRIBUTING.md#a-release describes both.
//
// --dry-run: the section of CHANGELOG.md may have no date yet, and `npm publish --dry-run` looks at each package.
// --build BUILD --console CONSOLE: take these builds in place of a new one.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { changes, faults, git, PACKAGES, PYTHON } from './release.checks.mjs';

const ROOT = join(import.meta.dirname, '..');
const { values: options } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    ...Object.fromEntries(
      ['tag', 'repository', 'build', 'console'].map((name) => [name, { type: 'string' }]),
    ),
  },
});
const { 'dry-run': isDry, tag, repository = repositoryOfWorkflow() } = options;
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

const found = faults(ROOT, { version, tag, repository, isDry });
if (found.length > 0)
  fail(`No release is made of this checkout:\n${found.map((fault) => `- ${fault}`).join('\n')}`);

// The rights of files are in the packages.
process.umask(0o022);
const epoch = git(ROOT, 'show', '--no-patch', '--format=%ct', 'HEAD');
const target = join(ROOT, 'release');
const made = mkdtempSync(join(tmpdir(), 'lethe-release-'));
const next = `${target}.next`;
rmSync(next, { recursive: true, force: true });
mkdirSync(next);
process.once('exit', () => {
  for (const place of [made, next]) rmSync(place, { recursive: true, force: true });
});

if (options.build === undefined) run('npm', ['run', '--silent', 'build']);
for (const name of PACKAGES) npmPackage(name);
pythonPackage();
billOfMaterials();
writeFileSync(join(next, 'NOTES.md'), notes());
const names = readdirSync(next).sort();
writeFileSync(
  join(next, 'SHA256SUMS'),
  names.map((name) => `${sha256(join(next, name))}  ${name}\n`).join(''),
);
// As a whole: what an interruption has left is no release.
rmSync(target, { recursive: true, force: true });
renameSync(next, target);
if (isDry) run(process.execPath, [join(ROOT, 'scripts/release.publish.mjs'), '--dry-run', target]);
process.stdout.write(readFileSync(join(target, 'SHA256SUMS'), 'utf8'));

function npmPackage(name) {
  const place = join(made, name);
  const builds =
    options.build === undefined ? [] : [options.build, options.console ?? join(options.build, 'console')];
  mkdirSync(place);
  if (name === 'server') run(process.execPath, [join(ROOT, 'scripts/package.server.mjs'), place, ...builds]);
  else run(process.execPath, [join(ROOT, 'scripts/package.mjs'), name, place]);
  if (repository !== undefined) {
    const file = join(place, 'package.json');
    const folder = name === 'server' ? 'apps/server' : `packages/${name}`;
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    manifest.repository = { type: 'git', url: `git+${repository}.git`, directory: folder };
    writeFileSync(file, `${JSON.stringify(manifest, undefined, 2)}\n`);
  }
  run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', next], place);
}

/** The wheel and the source archive, of the committed files alone. */
function pythonPackage() {
  const archive = spawnSync('git', ['archive', '--format=tar', 'HEAD', 'clients/python'], {
    ...{ cwd: ROOT, maxBuffer: 2 ** 28 },
  });
  if (archive.status !== 0) fail(`git archive: ${archive.stderr.toString()}`);
  run('tar', ['--extract', '--no-same-owner'], made, { input: archive.stdout });
  const place = join(made, 'clients/python');
  cpSync(join(ROOT, 'LICENSE'), join(place, 'LICENSE'));
  if (repository !== undefined)
    writeFileSync(join(place, 'pyproject.toml'), `\n[project.urls]\nRepository = "${repository}"\n`, {
      flag: 'a',
    });
  run(PYTHON, [join(place, 'scripts/dist.py'), next], place);
}

/** The bill of materials, with the time of the commit, and a number that follows from its content. */
function billOfMaterials() {
  const bom = JSON.parse(run(process.execPath, [join(ROOT, 'scripts/sbom.mjs')]));
  delete bom.serialNumber;
  bom.metadata.timestamp = new Date(Number(epoch) * 1000).toISOString();
  const digest = createHash('sha256').update(JSON.stringify(bom)).digest('hex');
  const [, ...parts] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(digest);
  const [a, b, c, d, e] = parts;
  const { bomFormat, specVersion, ...rest } = bom;
  const numbered = { bomFormat, specVersion, serialNumber: `urn:uuid:${a}-${b}-8${c}-8${d}-${e}`, ...rest };
  writeFileSync(join(next, `lethe-${version}.cdx.json`), `${JSON.stringify(numbered, undefined, 2)}\n`);
}

/** The section of CHANGELOG.md; its links lead to the files of the tag. */
function notes() {
  const { text } = changes(ROOT, version);
  if (repository === undefined) return text;
  return text.replaceAll(/\]\((?![a-z]+:|#)/g, `](${repository}/blob/v${version}/`);
}

/** GitHub says it to each job. */
function repositoryOfWorkflow() {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env;
  return server !== undefined && name !== undefined ? `${server}/${name}` : undefined;
}

function sha256(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** The output of a program; what it says beside that is shown. */
function run(program, args, cwd = ROOT, given = {}) {
  const env = { ...process.env, SOURCE_DATE_EPOCH: epoch };
  const stdio = ['pipe', 'pipe', 'inherit'];
  const { status, error, stdout } = spawnSync(program, args, {
    cwd,
    env,
    stdio,
    maxBuffer: 2 ** 26,
    ...given,
  });
  if (status !== 0)
    fail(`${program} ${args.join(' ')} has failed${error === undefined ? '' : `: ${error.message}`}.`);
  return stdout.toString();
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
