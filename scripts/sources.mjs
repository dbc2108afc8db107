import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const FILES = ['ormconfig.ts', 'modules.ts', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json'];
/** What a build writes, of each of its steps. */
const BUILT = ['api', 'worker', 'admin', 'server'].map((app) => `dist/apps/${app}/src/main.js`);

/** A source newer than the time, in milliseconds; an image has none. */
export function sourceNewerThan(builtMs) {
  const under = (top) =>
    existsSync(join(ROOT, top))
      ? readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' }).map((name) => join(top, name))
      : [];
  const built = /^packages\/[^/]+\/(dist|node_modules)\//;
  return [...FILES, ...['apps', 'libs', 'packages'].flatMap(under)].find(
    (path) =>
      /(?<!\.spec)\.(tsx?|css|html|json|svg)$/.test(path) &&
      !built.test(path) &&
      (statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0) > builtMs,
  );
}

/** Why `dist` has to be built: a sentence, or nothing where it is whole and newer than every source. */
export function reasonToBuild() {
  const times = [...BUILT, 'dist/console/index.html'].map(
    (path) => statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs,
  );
  if (times.includes(undefined)) return existsSync(join(ROOT, 'dist')) ? 'is not complete' : 'is missing';
  const newer = sourceNewerThan(Math.min(...times));
  return newer === undefined ? undefined : `is older than ${newer}`;
}
