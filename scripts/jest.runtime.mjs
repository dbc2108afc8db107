import Module, { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileFunction, constants } from 'node:vm';
import Runtime from 'jest-runtime';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const SUITES = join(ROOT, 'test') + sep;
/** Files of the root have modules of the service in them, and are loaded anew with these. */
const OWN = [
  ...['libs', 'apps', 'packages'].map((top) => join(ROOT, top) + sep),
  ...['modules.ts', 'ormconfig.ts'].map((file) => join(ROOT, file)),
];

/** The options of Jest's transformer for files that Node.js loads. */
const AS_COMMONJS = {
  isInternalModule: false,
  supportsDynamicImport: false,
  supportsExportNamespaceFrom: false,
  supportsStaticESM: false,
  supportsTopLevelAwait: false,
};

/** TypeORM and class-validator keep the entities and forms of all loaded modules here, and make new lists where there are none. */
const GLOBALS = ['typeormMetadataArgsStorage', 'classValidatorMetadataStorage'];

const isOfSuites = (path) => path.startsWith(SUITES) || path.endsWith('.spec.ts');

/** Transforms a file like the runtime of the current suite. */
let transform;
/** The source maps of the modules loaded for all suites, by file. */
const sourceMaps = new Map();

Module._extensions['.ts'] = (module, filename) => module._compile(transform(filename), filename);

/** As `paths` in tsconfig.json. */
const aliased = (name) =>
  name
    .replace(/^@app\/([^/]+)$/, join(ROOT, 'libs/$1/src'))
    .replace(/^@lethe\/([^/]+)/, join(ROOT, 'packages/$1/src'));

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = (name, ...rest) => resolveFilename.call(Module, aliased(name), ...rest);

/**
 * Loads the service and its libraries once for each worker with Node.js, and the test files anew for each suite: 1,600
 * modules a suite would be half of its time. A suite that changes modules has `@own-modules` in its first comment and
 * loads its own.
 */
export default class SharedRuntime extends Runtime {
  #transformer;
  #transformOptions;
  #putAside;
  #globals;

  constructor(config, environment, resolver, transformer, cacheFS, coverageOptions, ...rest) {
    super(config, environment, resolver, transformer, cacheFS, coverageOptions, ...rest);
    this.#transformer = transformer;
    this.#transformOptions = { ...AS_COMMONJS, ...coverageOptions };
    transform = (filename) => this.#transformed(filename);
    for (const [file, map] of sourceMaps) this.getSourceMaps().set(file, map);
    const { executor } = this;
    executor.compile = (source, filename) =>
      compileFunction(source, executor.injectedModuleParameters, {
        filename,
        importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      });
    if (!environment.ownModules) return;
    this.#putAside = takenOut();
    this.#globals = GLOBALS.map((name) => [name, globalThis[name]]);
    for (const name of GLOBALS) delete globalThis[name];
  }

  requireModuleOrMock(from, name) {
    if (name === '@jest/globals') return super.requireModuleOrMock(from, name);
    const require = createRequire(from);
    const path = require.resolve(name);
    return isOfSuites(path) ? super.requireModuleOrMock(from, path) : require(path);
  }

  #transformed(filename) {
    const { code, sourceMapPath } = this.#transformer.transform(filename, this.#transformOptions);
    if (sourceMapPath !== null) {
      sourceMaps.set(filename, sourceMapPath);
      this.getSourceMaps().set(filename, sourceMapPath);
    }
    return code;
  }

  teardown() {
    super.teardown();
    if (this.#putAside === undefined) return;
    takenOut();
    for (const [path, module] of this.#putAside) Module._cache[path] = module;
    Object.assign(globalThis, Object.fromEntries(this.#globals));
  }
}

/** Removes the loaded modules of the service from the cache, and answers them. */
function takenOut() {
  const loaded = Object.entries(Module._cache).filter(([path]) => OWN.some((top) => path.startsWith(top)));
  for (const [path] of loaded) delete Module._cache[path];
  return new Map(loaded);
}
