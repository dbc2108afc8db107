// Builds a published package: node scripts/package.mjs NAME [DIRECTORY]. `npm pack` calls it; tests build into a copy.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '..');
const [name, directory] = process.argv.slice(2);
const source = join(ROOT, 'packages', name);
const target = directory === undefined ? source : resolve(directory);
const dist = join(target, 'dist');

/** The entries of a package, each a file or a folder of `src`. */
const ENTRIES =
  {
    sdk: {
      index: 'index',
      evidence: 'evidence/index',
      'evidence-web': 'evidence/web',
      holders: 'holders/index',
      testing: 'testing/index',
    },
    discord: { index: 'index', 'discord-js': 'discord-js/index', http: 'http/index' },
  }[name] ?? {};
const PROGRAMS = { sdk: { 'lethe-verify': 'evidence/lethe-verify' }, cli: { lethe: 'lethe' } }[name];
/** What is installed beside the package. */
const { dependencies = {}, peerDependencies = {} } = JSON.parse(
  readFileSync(join(source, 'package.json'), 'utf8'),
);

const inSource = (entries) =>
  Object.fromEntries(Object.entries(entries).map(([out, path]) => [out, join(source, 'src', `${path}.ts`)]));
// Node.js 18, and the browsers of its time for the edge.
const shared = { outdir: dist, bundle: true, platform: 'neutral', target: 'es2022' };
const external = [
  'node:*',
  ...Object.keys({ ...dependencies, ...peerDependencies }).flatMap((each) => [each, `${each}/*`]),
];

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
if (target !== source)
  for (const file of ['package.json', 'README.md']) cpSync(join(source, file), join(target, file));
cpSync(join(ROOT, 'LICENSE'), join(target, 'LICENSE'));
cpSync(join(ROOT, 'docs/errors.md'), join(target, 'errors.md'));
await build({
  ...shared,
  external,
  entryPoints: inSource(ENTRIES),
  format: 'esm',
  outExtension: { '.js': '.mjs' },
});
await build({
  ...{ ...shared, external, entryPoints: inSource({ ...ENTRIES, ...PROGRAMS }), format: 'cjs' },
  // A program is installed often and imported nowhere: it keeps its names and loses its indentation.
  minifyWhitespace: name === 'cli',
});

// A program has no types.
if (Object.keys(ENTRIES).length === 0) process.exit(0);
const types = join(dist, 'types');
const emitted = join(dist, 'emitted');
const { status } = spawnSync(
  process.execPath,
  [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', source, '--outDir', emitted],
  { stdio: 'inherit' },
);
if (status !== 0) process.exit(1);
// A package that uses another one emits the types of both. Those of the other are imported by its name.
const own = join(emitted, name, 'src');
renameSync(existsSync(own) ? own : emitted, types);
rmSync(emitted, { recursive: true, force: true });
// The types of CommonJS are those of the ES modules too: each name has one declaration. discord.js has two of its own, so
// that an entry that names it is declared for both.
for (const [out, path] of Object.entries(ENTRIES)) {
  const named = (file) => `from './${relative(dist, file)}.js'`;
  const declared = readFileSync(join(types, `${path}.d.ts`), 'utf8');
  const own = declared.replace(/from '(\.[^']+)'/g, (_, to) => named(join(types, dirname(path), to)));
  const text = /from 'discord\.js'/.test(declared) ? own : `export * ${named(join(types, path))};\n`;
  writeFileSync(join(dist, `${out}.d.mts`), text);
}
