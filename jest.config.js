const { readdirSync, readFileSync } = require('node:fs');
const { availableParallelism } = require('node:os');
const { join } = require('node:path');

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

/** Which part of the tests runs: test/support/depth.ts. */
const DEPTH = process.env.TEST_DEPTH;

/** The names of the functions of depth.ts by which a suite of every day leaves something out. */
const LEAVES_OUT = /\b(itInPart|itOfSize|itAtFullDepth)\b/;

/** Whether a suite uses such a function: one that has its name in a text alone leaves nothing out. */
const leavesOut = (text) => LEAVES_OUT.test(text) && text.includes("support/depth'");

/** The suites that `npm test` has run, and of which `npm run test:deep` has nothing left to do. */
function done() {
  const places = ['libs', 'packages', 'test'].map((top) => join(__dirname, top));
  const suites = places.flatMap((place) =>
    readdirSync(place, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('spec.ts') && !file.includes('.deep.'))
      .map((file) => join(place, file)),
  );
  return suites.filter((suite) => !leavesOut(readFileSync(suite, 'utf8')));
}

const asPattern = (path) => `^${path.replace(/[.+]/g, '\\$&')}$`;
/** The suites that `npm test` runs on PostgreSQL: of those on both engines the ones about races, schemas and statements. */
const EVERY_DAY = ['engines', 'faults', 'operations', 'properties'].map(
  (room) => `<rootDir>/test/${room}/**/*.engines.e2e-spec.ts`,
);
const isOfPostgres = (path) =>
  path.endsWith('.postgres.spec.ts') ||
  (path.endsWith('.engines.e2e-spec.ts') && !path.includes(join('test', 'contract')));

const [LEFT_OUT, DONE] = DEPTH === undefined ? [['\\.deep\\.'], []] : [[], DEPTH === 'deep' ? done() : []];

/**
 * The name of a suite says which engines it runs on (CONTRIBUTING.md).
 * @type {import('jest').Config}
 */
module.exports = {
  // Ends a test that hangs, and no other: the slowest hooks take a minute on a quiet machine, and a loaded one is ten times as
  // slow or stops for seconds. The jobs of .github/workflows have ninety minutes.
  testTimeout: 1_200_000,
  // Suites often wait for a process, a lease or PostgreSQL, so that there are more workers than cores. Even more workers
  // would open more connections than the PostgreSQL of a run accepts.
  maxWorkers: Math.min(12, 2 * availableParallelism()),
  // Suites leave objects in memory: without a limit the workers need several gigabytes.
  workerIdleMemoryLimit: '700MB',
  reporters: ['default', '<rootDir>/scripts/jest.slowest.mjs'],
  globalSetup: '<rootDir>/scripts/jest.setup.mjs',
  globalTeardown: '<rootDir>/scripts/jest.teardown.mjs',
  projects: [
    {
      ...shared,
      displayName: 'sqlite',
      globals: { testEngine: 'sqlite' },
      testMatch: ['libs', 'packages', 'test'].map((top) => `<rootDir>/${top}/**/*{.,-}spec.ts`),
      testPathIgnorePatterns: [
        '/node_modules/',
        '\\.postgres\\.spec\\.ts$',
        ...LEFT_OUT,
        ...DONE.map(asPattern),
      ],
    },
    {
      ...shared,
      displayName: 'postgres',
      testMatch: [
        '<rootDir>/test/**/*.postgres.spec.ts',
        ...(DEPTH === undefined ? EVERY_DAY : ['<rootDir>/test/**/*.e2e-spec.ts']),
      ],
      testPathIgnorePatterns: ['/node_modules/', ...LEFT_OUT, ...DONE.filter(isOfPostgres).map(asPattern)],
      globals: { testEngine: 'postgres' },
      globalSetup: '<rootDir>/scripts/postgres.setup.mjs',
      globalTeardown: '<rootDir>/scripts/postgres.teardown.mjs',
    },
  ],
};
