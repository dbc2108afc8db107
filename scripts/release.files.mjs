import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FORMATS = 'test/repository/stored-formats.json';

/** The files that name the version, and the text around it. All packages have the same version. */
const PLACES = [
  [['package.json', 'packages/*/package.json'], (version) => `"version": "${version}"`],
  [['packages/cli/package.json', 'packages/discord/package.json'], (version) => `"@lethe/sdk": "${version}"`],
  [['examples/*/package.json'], (version) => `"@lethe/sdk": "${version}"`],
  [['examples/*/package.json'], (version) => `"@lethe/discord": "${version}"`],
  [['examples/*/requirements.txt'], (version) => `lethe-client[discord]==${version}`],
  [['clients/python/pyproject.toml'], (version) => `\nversion = "${version}"\n`],
  [['packages/discord/src/rest.ts'], (version) => `(@lethe/discord, ${version})`],
  [['packages/*/README.md', 'examples/*/README.md', 'docs/operate.md'], (version) => `-${version}.tgz`],
  [['docs/operations/Dockerfile'], (version) => `ARG VERSION=${version}\n`],
  [['docs/operations/*.yaml', 'docs/operations/kubernetes/*.yaml'], (version) => `image: lethe:${version}\n`],
];

/** The section of a version in the changelog, without its heading; undefined where there is none. */
export function sectionOf(changelog, version) {
  const [, text] = changelog.split(`\n## ${version} - `);
  return text
    ?.split('\n## ')[0]
    .replace(/^[^\n]*\n/, '')
    .trim();
}

/**
 * Changes the files of a checkout for the release of a version: the version itself, the date in the changelog, and the
 * stored formats, of which the release keeps a copy.
 */
export function release(directory, version, date) {
  const path = (name) => join(directory, name);
  const change = (name, changed) => writeFileSync(path(name), changed(readFileSync(path(name), 'utf8')));
  const changeJson = (name, changed) =>
    change(name, (text) => `${JSON.stringify(changed(JSON.parse(text)), undefined, 2)}\n`);
  const { version: present } = JSON.parse(readFileSync(path('package.json'), 'utf8'));
  for (const [patterns, around] of PLACES) {
    const listed = execFileSync('git', ['ls-files', '--', ...patterns], { cwd: directory, encoding: 'utf8' });
    for (const name of listed.trim().split('\n'))
      change(name, (text) => text.replaceAll(around(present), around(version)));
  }
  changeJson('package-lock.json', (lock) => {
    for (const one of [lock, lock.packages['']]) one.version = version;
    return lock;
  });
  change('CHANGELOG.md', (text) =>
    text.replace(`\n## ${version} - unreleased\n`, `\n## ${version} - ${date}\n`),
  );
  changeJson(FORMATS, (formats) =>
    Object.fromEntries(
      Object.entries(formats).map(([kind, entries]) => [kind, entries.flatMap((one) => kept(one, version))]),
    ),
  );
}

/** An entry of the present code stays, beside a copy that is the release's. */
function kept(entry, version) {
  return entry.release === null ? [{ ...entry, release: version }, entry] : [entry];
}
