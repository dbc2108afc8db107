import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, stop } from 'esbuild';

const MODULES = join(import.meta.dirname, '../node_modules');

/** What stays outside of a bundle: native modules, and what is loaded by path. */
export const DRIVERS = ['pg', 'better-sqlite3', 'better-sqlite3-napi'];

/** Optional packages of NestJS that are not installed. */
const NOT_INSTALLED = ['@nestjs/microservices', '@nestjs/websockets', '@fastify/static'].flatMap((name) => [
  name,
  `${name}/*`,
]);

const BUNDLED = {
  // The paths of a bundle are those within the project.
  absWorkingDir: join(MODULES, '..'),
  ...{ bundle: true, platform: 'node', target: 'node20', format: 'cjs' },
  nodePaths: [MODULES],
};

/** A file of NestJS requires TypeORM past the bundle, which would load it a second time. */
const ONE_TYPEORM = {
  name: 'one-typeorm',
  setup: ({ onLoad }) =>
    onLoad({ filter: /@nestjs.typeorm.dist.common.typeorm-compat\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(/^const require = .*$/m, ''),
    })),
};

/**
 * Bundles `code`, which requires compiled files of `directory`, in the file `outfile`: most of the time of a start is the
 * loading of more than a thousand modules.
 */
export async function bundle(directory, code, outfile, options = {}) {
  await build({
    stdin: { contents: code, resolveDir: directory },
    outfile,
    ...BUNDLED,
    keepNames: true,
    // The rest is ASCII, which Node.js reads several times faster.
    legalComments: 'none',
    external: [...DRIVERS, ...NOT_INSTALLED],
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(join(MODULES, '@nestjs/bundle.js')).href) },
    logLevel: 'silent',
    plugins: [ONE_TYPEORM],
    ...options,
  });
}

/** Bundles the files of threads of the compiled `directory` into `outdir`, where the bundle looks for them. */
export async function bundleThreads(directory, outdir, options = {}) {
  const libs = join(directory, 'libs');
  const threads = readdirSync(libs, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.thread.js'),
  );
  await build({
    entryPoints: threads.map((file) => join(libs, file)),
    entryNames: '[name]',
    outdir,
    ...BUNDLED,
    external: DRIVERS,
    ...options,
  });
  await stop();
}
