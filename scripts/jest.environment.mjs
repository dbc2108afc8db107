import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

const FRAMES = 100;

/**
 * Suites run in the realm of Node.js itself, one after the other, and not in a realm of their own: a library that is
 * loaded once for all of them (jest.runtime.mjs) has the same `Error` and `Map` as the suite. What a suite has mocked or
 * set in the environment ends with it.
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

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
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
