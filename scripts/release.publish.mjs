// node scripts/release.publish.mjs [--dry-run] [--provenance] [FOLDER]: publishes the npm packages of release/, each after those
// that it depends on. What the registry has already is left out, so that it is run again after an interruption.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { PACKAGES } from './release.checks.mjs';
import { fail, listedIn } from './release.sums.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: Object.fromEntries(
    ['dry-run', 'provenance'].map((name) => [name, { type: 'boolean', default: false }]),
  ),
});
const folder = resolve(positionals[0] ?? join(import.meta.dirname, '../release'));

const listed = [...listedIn(folder).keys()];
const files = PACKAGES.map((name) => {
  const [file, another] = listed.filter((one) => new RegExp(`^lethe-${name}-\\d.*\\.tgz$`).test(one));
  if (file === undefined || another !== undefined)
    fail(
      `The folder has ${another === undefined ? 'no' : 'more than one'} package ${name}. Nothing was published.`,
    );
  return file;
});
for (const file of files) {
  const { name, version } = JSON.parse(output('tar', ['-xzOf', join(folder, file), 'package/package.json']));
  const there = published(`${name}@${version}`);
  const integrity = `sha512-${digest(file)}`;
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

function digest(name) {
  return createHash('sha512')
    .update(readFileSync(join(folder, name)))
    .digest('base64');
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
