// node scripts/release.pypi.mjs FOLDER TARGET [--index URL]: copies the files for PyPI of a release into TARGET, a new folder. What
// PyPI has already is left out, so that it is run again after an interruption; other bytes under the same name stop it.
import { copyFileSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fail, listedIn } from './release.sums.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { index: { type: 'string', default: 'https://pypi.org' } },
});
const [folder, target] = positionals.map((path) => resolve(path));
if (target === undefined) fail('node scripts/release.pypi.mjs FOLDER TARGET [--index URL]');

const files = [...listedIn(folder)].filter(([name]) => /^lethe_client-.*(\.whl|\.tar\.gz)$/.test(name));
const versions = new Set(
  files.map(([name]) => /^lethe_client-(.+?)(-py3-none-any\.whl|\.tar\.gz)$/.exec(name)?.[1]),
);
const [version] = versions;
if (files.length !== 2 || versions.size !== 1 || version === undefined)
  fail(`The folder has no wheel and source archive of one version. Nothing was published.`);
const there = await published(version);
for (const [name, sum] of files)
  if (there.has(name) && there.get(name) !== sum)
    fail(
      `PyPI has another ${name} (sha256 ${there.get(name)}). Nothing was published. Release a new version.`,
    );
mkdirSync(target);
for (const [name] of files)
  if (there.has(name)) process.stdout.write(`${name} is published already.\n`);
  else copyFileSync(join(folder, name), join(target, name));

/** The digest of each file that PyPI has of the version. */
async function published(one) {
  const url = `${options.index}/pypi/lethe-client/${one}/json`;
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(60_000) });
    if (answer.status === 404) return new Map();
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    return new Map((await answer.json()).urls.map(({ filename, digests }) => [filename, digests.sha256]));
  } catch (error) {
    // Without an answer other bytes might be there.
    return fail(
      `${url} does not say what PyPI has: ${error.cause?.message ?? error.message}. Run this again.`,
    );
  }
}
