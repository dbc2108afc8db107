// Builds everything that a release publishes, from the checkout as it is: node scripts/release.artefacts.mjs DIRECTORY.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { sectionOf } from './release.files.mjs';

const ROOT = join(import.meta.dirname, '..');
const target = resolve(process.argv[2] ?? 'release');
const work = mkdtempSync(join(tmpdir(), 'lethe-release-'));
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const SUMS = 'SHA256SUMS';
const NAMES = ['server', 'sdk', 'discord', 'cli'];

/** The hooks by which every builder of Python packages calls setuptools, without an environment of its own. */
const PYTHON = `import os, sys
from setuptools import build_meta
# setuptools replaces the arguments.
_, target, time = sys.argv
os.environ.setdefault("SOURCE_DATE_EPOCH", time)
build_meta.build_sdist(target)
build_meta.build_wheel(target)`;

/** Debian's Python has both packages where that of a version manager often has none. */
const python = [process.env.PYTHON, '/usr/bin/python3', 'python3'].find(
  (program) => program && spawnSync(program, ['-c', 'import setuptools, wheel']).status === 0,
);
if (python === undefined) {
  process.stderr.write('There is no Python with setuptools and wheel. PYTHON names another one.\n');
  process.exit(1);
}

const run = (program, args, cwd = ROOT) =>
  execFileSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 2] });
const git = (...args) => run('git', args).trim();

/** Names the repository in a manifest: npm compares it with the one that a provenance statement is about. */
function named(path) {
  const repository = process.env.GITHUB_REPOSITORY;
  if (repository === undefined) return;
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  manifest.repository = { type: 'git', url: `git+https://github.com/${repository}.git` };
  writeFileSync(path, `${JSON.stringify(manifest, undefined, 2)}\n`);
}

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
try {
  run('npm', ['run', '--silent', 'build']);
  run(process.execPath, ['scripts/package.server.mjs', join(work, 'server')]);
  for (const name of NAMES) {
    const source = join(work, name);
    if (name !== 'server') run(process.execPath, ['scripts/package.mjs', name, source]);
    named(join(source, 'package.json'));
    run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', target], source);
  }
  // A copy, since setuptools writes beside its sources.
  run('git', ['checkout-index', '--all', `--prefix=${work}/source/`]);
  run(python, ['-c', PYTHON, target, git('log', '-1', '--format=%ct')], join(work, 'source/clients/python'));
  const prefix = `lethe-${version}`;
  git('archive', `--prefix=${prefix}/`, `--output=${join(target, `${prefix}.tar.gz`)}`, 'HEAD');
  writeFileSync(join(target, `${prefix}.cdx.json`), run(process.execPath, ['scripts/sbom.mjs']));
  const notes = sectionOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version);
  writeFileSync(join(target, 'NOTES.md'), `${notes}\n`);
  const sums = readdirSync(target).map((name) => {
    const digest = createHash('sha256').update(readFileSync(join(target, name)));
    return `${digest.digest('hex')}  ${name}\n`;
  });
  writeFileSync(join(target, SUMS), sums.join(''));
} finally {
  rmSync(work, { recursive: true, force: true });
}
process.stdout.write(readFileSync(join(target, SUMS), 'utf8'));
