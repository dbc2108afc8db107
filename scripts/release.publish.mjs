// node scripts/release.publish.mjs [--dry-run] [--provenance] [FOLDER]: publishes the npm packages of release/, each after those
// that it depends on. What the registry has already is left out, so that it is run again after an interruption.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { PACKAGES } from './release.checks.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: Object.fromEntries(
    ['dry-run', 'provenance'].map((name) => [name, { type: 'boolean', default: false }]),
  ),
});
const folder = resolve(positionals[0] ?? join(import.meta.dirname, '../release'));

const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
const listed = sums.map((line) => line.split('  '));
for (const [sum, name] of listed)
  if (digest('sha256', 'hex', name) !== sum)
    fail(`${name} is not the file of SHA256SUMS. Nothing was published.`);
const others = readdirSync(folder).filter(
  (name) => name !== 'SHA256SUMS' && !listed.some(([, one]) => one === name),
);
if (others.length > 0) fail(`SHA256SUMS does not list ${others.join(', ')}. Nothing was published.`);

const files = PACKAGES.map((name) => {
  const [file, another] = listed
    .map(([, one]) => one)
    .filter((one) => new RegExp(`^lethe-${name}-\\d.*\\.tgz$`).test(one));
  if (file === undefined || another !== undefined)
    fail(
      `The folder has ${another === undefined ? 'no' : 'more than one'} package ${name}. Nothing was published.`,
    );
  return file;
});
for (const file of files) {
  const { name, version } = JSON.parse(output('tar', ['-xzOf', join(folder, file), 'package/package.json']));
  const there = published(`${name}@${version}`);
  const integrity = `sha512-${digest('sha512', 'base64', file)}`;
  if (there === integrity) {
    process.stdout.write(`${name}@${version} is published already.\n`);
    continue;
  }
  if (there !== undefined)
    fail(`The registry has another ${name}@${version} (${there}). Release a new version.`);
  const flags = ['dry-run', 'provenance'].filter((flag) => options[flag]).map((flag) => `--${flag}`);
  process.stdout.write(`npm publish ${file} --access public ${flags.join(' ')}`.trimEnd() + '\n');
  output('npm', ['publish', join(folder, file), '--access', 'public', ...flags]);
}

/** The integrity of a version in the registry; undefined where it has none. */
function published(id) {
  const { status, stdout } = spawnSync('npm', ['view', id, 'dist.integrity', '--json', '--prefer-online'], {
    encoding: 'utf8',
  });
  const answer = stdout.trim() === '' ? undefined : JSON.parse(stdout);
  if (status === 0) return answer;
  if (answer?.error?.code === 'E404') return undefined;
  // Without an answer of the registry a version might be published over itself.
  return fail(
    `The registry does not say whether it has ${id}: ${answer?.error?.summary ?? 'no answer'}. Run this again.`,
  );
}

function digest(algorithm, encoding, name) {
  return createHash(algorithm)
    .update(readFileSync(join(folder, name)))
    .digest(encoding);
}

/** The output of a program; what it says beside that is shown. */
function output(program, args) {
  const { status, stdout } = spawnSync(program, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0)
    fail(`${program} ${args.join(' ')} has failed. Run this again: what is published is left out then.`);
  return stdout;
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
