const { availableParallelism } = require('node:os');

const shared = {
  rootDir: '.',
  testEnvironment: '<rootDir>/scripts/jest.environment.mjs',
  runtime: '<rootDir>/scripts/jest.runtime.mjs',
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/packages/[^/]+/dist'],
  moduleNameMapper: {
    '^@app/([^/]+)$': '<rootDir>/libs/$1/src',
    '^@lethe/([^/]+)(.*)$': '<rootDir>/packages/$1/src$2',
  },
  // With .swcrc, like the programs that suites start.
  transform: { '\\.ts$': '@swc/jest' },
};

/** Everything, at full depth: `npm run test:all`. */
const FULL = process.env.TEST_DEPTH !== undefined;

/** Suites of many processes and long measurements, whose statements other suites test every day with fewer cases. */
const LONG = FULL
  ? []
  : [
      'browser/console',
      'browser/console-states',
      'browser/operator',
      'browser/privacy-page',
      'browser/privacy-page-attacks',
      'browser/verify',
      'engines/checkpoints',
      'engines/key-rewrite',
      'engines/key-rewrite-rivals',
      'engines/many-instances',
      'engines/many-processes',
      'engines/releases-killed',
      'engines/rolling-upgrade',
      'engines/standby-reads',
      'faults/byte-search',
      'faults/connections-lost',
      'faults/crash-load',
      'faults/database-files',
      'faults/disk-full',
      'faults/failover',
      'faults/greedy-batches',
      'faults/greedy-bot',
      'faults/greedy-preview',
      'faults/idempotency-kill',
      'faults/io-faults',
      'faults/log-unwritable',
      'faults/migrations-faults',
      'faults/nth-statement',
      'faults/pgbouncer',
      'faults/power-cuts',
      'faults/redis-away',
      'faults/redis-failover',
      'faults/redis-misbehaves',
      'faults/slow-readers',
      'faults/stats-kill',
      'faults/traces',
      'faults/webhooks-claims',
      'faults/webhooks-crash',
      'operations/admin-keys',
      'operations/alerts',
      'operations/backup-drill',
      'operations/benchmarks',
      'operations/dashboard',
      'operations/loadtest',
      'operations/log-format',
      'operations/move-engine',
      'operations/point-in-time',
      'operations/proxies',
      'operations/redis-process',
      'operations/restored-backup',
      'packages/cli-commands',
      'packages/cli-doctor',
      'packages/cli-subjects',
      'packages/discord-adapters',
      'packages/discord-packed',
      'packages/discord-py',
      'packages/python-client',
      'packages/quickstart-discord',
      'packages/sdk-packed',
      'packages/release',
      'packages/server-packed',
      'properties/consents-at-once',
      'properties/export-memory',
      'properties/webhooks-fairness',
      'properties/webhooks-sim',
    ].map((name) => `<rootDir>/test/${name}\\.`);

/**
 * The name of a suite says which engines it runs on (CONTRIBUTING.md).
 * @type {import('jest').Config}
 */
module.exports = {
  // Finds a test that hangs; long enough for a machine that is three times as slow as usual.
  testTimeout: 90_000,
  // Suites often wait for a process, a lease or PostgreSQL, so that there are more workers than cores. Even more workers
  // would open more connections than the PostgreSQL of a run accepts.
  maxWorkers: Math.min(12, Math.ceil(1.5 * availableParallelism())),
  // Suites leave objects in memory: without a limit the workers need several gigabytes.
  workerIdleMemoryLimit: '700MB',
  globalSetup: '<rootDir>/scripts/jest.setup.mjs',
  globalTeardown: '<rootDir>/scripts/jest.teardown.mjs',
  projects: [
    {
      ...shared,
      displayName: 'sqlite',
      globals: { testEngine: 'sqlite' },
      testMatch: ['libs', 'packages', 'test'].map((top) => `<rootDir>/${top}/**/*{.,-}spec.ts`),
      testPathIgnorePatterns: ['/node_modules/', '\\.postgres\\.spec\\.ts$', ...LONG],
    },
    {
      ...shared,
      displayName: 'postgres',
      testMatch: [
        '<rootDir>/test/**/*.postgres.spec.ts',
        `<rootDir>/test/**/*${FULL ? '' : '.engines'}.e2e-spec.ts`,
      ],
      testPathIgnorePatterns: ['/node_modules/', ...LONG],
      globals: { testEngine: 'postgres' },
      globalSetup: '<rootDir>/scripts/postgres.setup.mjs',
      globalTeardown: '<rootDir>/scripts/postgres.teardown.mjs',
    },
  ],
};
