// Makes the package @lethe/server of a build, by default the one in dist, and of its console:
// node scripts/package.server.mjs DIRECTORY [BUILD [CONSOLE]], then `npm pack DIRECTORY`.
// The service is one file. Only the drivers of the databases are installed with it, in the versions of the lock file here.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { bundle, bundleThreads, DRIVERS } from './bundle.mjs';

const ROOT = join(import.meta.dirname, '..');
const [, , directory = fail('Name the directory of the package.'), build = join(ROOT, 'dist')] = process.argv;
const [, , , , pages = join(build, 'console')] = process.argv;
const target = resolve(directory);
const LAUNCHER = 'dist/lethe-server.cjs';
const FLAGS = '--max-semi-space-size=8 --initial-old-space-size=32';

for (const made of [join(build, 'apps/server/src/main.js'), join(pages, 'index.html')])
  if (!existsSync(made)) fail(`There is no ${made}. Run \`npm run build\` first.`);
const read = (path) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
const write = (path, content) =>
  writeFileSync(join(target, path), `${JSON.stringify(content, undefined, 2)}\n`);

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
await bundle(build, `require('./apps/server/src/main.js')`, join(target, LAUNCHER), {
  banner: {
    js: `#!/usr/bin/env -S node ${FLAGS}\nconst bundleUrl = require('node:url').pathToFileURL(__filename).href;`,
  },
  define: { 'import.meta.url': 'bundleUrl' },
});
chmodSync(join(target, LAUNCHER), 0o755);
await bundleThreads(build, join(target, 'dist'));
cpSync(pages, join(target, 'dist/console'), { recursive: true });

const { version, description, license, engines, dependencies, optionalDependencies } = read('package.json');
const manifest = {
  ...{ name: '@lethe/server', version, description, license, engines },
  bin: { 'lethe-server': LAUNCHER },
  // npm 11 packs the pinned versions only where they are listed.
  files: ['dist', 'docs', '.env.example', 'CHANGELOG.md', 'npm-shrinkwrap.json'],
  dependencies: Object.fromEntries(
    DRIVERS.flatMap((name) => (name in dependencies ? [[name, dependencies[name]]] : [])),
  ),
  optionalDependencies,
};
write('package.json', manifest);
const { packages, ...lock } = read('package-lock.json');
write('npm-shrinkwrap.json', {
  ...lock,
  name: manifest.name,
  version,
  packages: { '': manifest, ...installed(packages) },
});
for (const file of ['LICENSE', 'CHANGELOG.md', '.env.example']) cpSync(join(ROOT, file), join(target, file));
cpSync(join(ROOT, 'apps/server/README.md'), join(target, 'README.md'));
mkdirSync(join(target, 'docs'));
for (const guide of readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md')))
  cpSync(join(ROOT, 'docs', guide), join(target, 'docs', guide));
cpSync(join(ROOT, 'docs/de'), join(target, 'docs/de'), { recursive: true });
// Not the settings of an installation that runs from this folder.
cpSync(join(ROOT, 'docs/operations'), join(target, 'docs/operations'), {
  recursive: true,
  filter: (path) => basename(path) !== '.env',
});

/** The locked packages that the drivers need. */
function installed(packages) {
  const found = {};
  const add = (name, from = '') => {
    const places = from
      .split('/node_modules/')
      .map((_, at, all) => all.slice(0, all.length - at).join('/node_modules/'));
    const path = [
      ...places.filter((place) => place !== '').map((place) => `${place}/node_modules/${name}`),
      `node_modules/${name}`,
    ].find((one) => one in packages);
    if (path === undefined || path in found) return;
    found[path] = packages[path];
    const { dependencies: needed, optionalDependencies: optional } = packages[path];
    for (const further of Object.keys({ ...needed, ...optional })) add(further, path);
  };
  for (const driver of DRIVERS) add(driver);
  return found;
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
