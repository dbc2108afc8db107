const { availableParallelism } = require('node:os');

const shared = {
  rootDir: '.',
  testEnvironment: '<rootDir>/scripts/jest.environment.mjs',
  runtime: '<rootDir>/scripts/jest.runtime.mjs',
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  moduleNameMapper: { '^@app/([^/]+)$': '<rootDir>/libs/$1/src' },
  // By .swcrc, as the programs that suites start are.
  transform: { '\\.ts$': '@swc/jest' },
};

/** Everything, at full depth: `npm run test:all`. */
const FULL = process.env.TEST_DEPTH !== undefined;

/**
 * The name of a suite says which engines it runs on (CONTRIBUTING.md).
 * @type {import('jest').Config}
 */
module.exports = {
  // What hangs is found; a machine that is three times as slow as usual hangs not.
  testTimeout: 90_000,
  // Jest leaves a core free by default. Suites that wait, for a process, a lease or PostgreSQL, leave one free too. More
  // would open more connections than the one PostgreSQL of a run takes.
  maxWorkers: Math.min(12, Math.ceil(1.5 * availableParallelism())),
  // Suites leave much behind: without a limit the workers of one run need several gigabytes.
  workerIdleMemoryLimit: '700MB',
  globalSetup: '<rootDir>/scripts/jest.setup.mjs',
  globalTeardown: '<rootDir>/scripts/jest.teardown.mjs',
  projects: [
    {
      ...shared,
      displayName: 'sqlite',
      globals: { testEngine: 'sqlite' },
      testMatch: ['libs', 'test'].map((top) => `<rootDir>/${top}/**/*{.,-}spec.ts`),
      testPathIgnorePatterns: ['/node_modules/', '\\.postgres\\.spec\\.ts$'],
    },
    {
      ...shared,
      displayName: 'postgres',
      testMatch: [
        '<rootDir>/test/**/*.postgres.spec.ts',
        `<rootDir>/test/**/*${FULL ? '' : '.engines'}.e2e-spec.ts`,
      ],
      globals: { testEngine: 'postgres' },
      globalSetup: '<rootDir>/scripts/postgres.setup.mjs',
      globalTeardown: '<rootDir>/scripts/postgres.teardown.mjs',
    },
  ],
};
