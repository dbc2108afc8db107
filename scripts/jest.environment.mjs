import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

const FRAMES = 100;
/** The instance of the service, which is CommonJS. */
const sodium = createRequire(import.meta.url)('libsodium');

/**
 * The storages in use. jest-circus makes one for each suite and does not disable it; before Node.js 24 each one slows down
 * every promise of all later suites.
 */
const storages = new Set();
const { run } = AsyncLocalStorage.prototype;
AsyncLocalStorage.prototype.run = function (...args) {
  storages.add(this);
  return run.apply(this, args);
};

/**
 * Suites run one after the other in the realm of Node.js itself. A library that is loaded once for all suites
 * (jest.runtime.mjs) has the same `Error` and `Map` as the suite. Mocks and environment variables of a suite are reset at
 * its end.
 */
export default class Environment {
  global = globalThis;
  fakeTimers = null;
  #variables = { ...process.env };

  constructor({ projectConfig }, { docblockPragmas }) {
    Object.assign(globalThis, projectConfig.globals);
    Error.stackTraceLimit = FRAMES;
    this.ownModules = 'own-modules' in docblockPragmas;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  /** The service waits for it at its start, a test of one function does not. */
  async setup() {
    await sodium.ready;
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    for (const storage of storages) storage.disable();
    storages.clear();
    for (const name of Object.keys(process.env)) if (!(name in this.#variables)) delete process.env[name];
    Object.assign(process.env, this.#variables);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return globalThis;
  }
}
