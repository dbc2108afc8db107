// What has to hold before a release is made of a checkout: one version everywhere, no change that is not committed, a
// section of CHANGELOG.md, and no tag of another commit.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The packages in the order of their publication: each after those that it depends on. */
export const PACKAGES = ['sdk', 'discord', 'cli', 'server'];

/** Debian's, or another Python with setuptools and wheel. */
export const PYTHON = process.env.PYTHON ?? '/usr/bin/python3';

/** Where the version is written, beside package.json: a file, and what is before each place in it. */
const PLACES = [
  ['package-lock.json', /^ {2}"version": "/m],
  ...['sdk', 'discord', 'cli'].map((name) => [`packages/${name}/package.json`, /^ {2}"version": "/m]),
  ...['discord', 'cli'].map((name) => [`packages/${name}/package.json`, /^ {4}"@lethe\/sdk": "/m]),
  ['packages/discord/src/rest.ts', /'DiscordBot \(@lethe\/discord, /],
  ['clients/python/pyproject.toml', /^version = "/m],
  ['docs/operations/Dockerfile', /^ARG VERSION=/m],
  ['docs/operations/compose.yaml', /\bimage: lethe:/],
  ...['postgres', 'sqlite'].map((name) => [`docs/operations/kubernetes/${name}.yaml`, /\bimage: lethe:/]),
  ...['http', 'js'].flatMap((name) =>
    ['sdk', 'discord'].map((one) => [`examples/discord-${name}/package.json`, `"@lethe/${one}": "`]),
  ),
  ['examples/discord-py/requirements.txt', /^lethe-client\[discord\]==/m],
];

/** The section of `version` in CHANGELOG.md: its date, which is `unreleased` before the release, and its text. */
export function changes(root, version) {
  const text = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const heading = `## ${version} - `;
  const at = text.startsWith(heading) ? 0 : text.indexOf(`\n${heading}`) + 1;
  if (at === 0 && !text.startsWith(heading)) return undefined;
  const [first = '', ...lines] = text.slice(at).split('\n');
  const end = lines.findIndex((line) => line.startsWith('## '));
  return {
    date: first.slice(heading.length).trim(),
    text: `${lines
      .slice(0, end === -1 ? lines.length : end)
      .join('\n')
      .trim()}\n`,
  };
}

/** The output of git in the checkout, or undefined where it fails. */
export function git(root, ...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** What holds up a release, each with how to mend it. A dry run takes a section without a date and an unknown repository. */
export function faults(root, { version, tag, repository, isDry }) {
  const found = [];
  const status = git(root, 'status', '--porcelain');
  if (status === undefined)
    return ['git reads no checkout here. Clone the repository, and begin there as the owner of its files.'];
  if (status !== '') found.push(`These changes are not committed; commit or stash them:\n${status}`);

  for (const [file, before] of PLACES) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const said of versionsIn(text, before))
      if (said !== version)
        found.push(
          `${file} says ${said ?? 'no version'}, and package.json ${version}. Write ${version} there.`,
        );
  }

  const section = changes(root, version);
  if (section === undefined || section.text.trim() === '')
    found.push(`CHANGELOG.md has no section "## ${version} - DATE" with a text. Write it.`);
  else if (!isDry && !/^\d{4}-\d\d-\d\d$/.test(section.date))
    found.push(`CHANGELOG.md says "${section.date}" for ${version}. Write the day, as 2026-12-31.`);

  if (tag !== undefined && tag !== `v${version}`)
    found.push(`The tag ${tag} is not that of ${version}: it is v${version}.`);
  const tagged = git(root, 'rev-parse', '--quiet', '--verify', `refs/tags/v${version}^{commit}`);
  if (tagged !== undefined && tagged !== git(root, 'rev-parse', 'HEAD'))
    found.push(
      `The tag v${version} exists, of the commit ${tagged}. Take a new version: a released one is final.`,
    );

  if (!isDry && !/^https:\/\/[\w.-]+\/[\w./-]+[\w-]$/.test(repository ?? ''))
    found.push('npm attests only what names its repository: --repository https://github.com/OWNER/NAME');

  if (spawnSync(PYTHON, ['-c', 'import setuptools, wheel']).status !== 0)
    found.push(
      `${PYTHON} has no setuptools and wheel: apt-get install python3-setuptools python3-wheel, or name another one in PYTHON.`,
    );
  return found;
}

/** Each version in the text behind `before`; undefined where there is none. */
function versionsIn(text, before) {
  const pattern = typeof before === 'string' ? new RegExp(before.replaceAll(/[/"@]/g, '\\$&'), 'g') : before;
  const all = new RegExp(pattern.source, `${pattern.flags.replace('g', '')}g`);
  const said = [...text.matchAll(all)].map(
    ({ 0: { length }, index }) => /^\d[\w.+-]*/.exec(text.slice(index + length))?.[0],
  );
  return said.length === 0 ? [undefined] : said;
}
