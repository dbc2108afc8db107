import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Service } from '../support/service';

// The gate depends on no clock, and runs each test once (docs/decisions/0142-a-gate-that-counts.md).

const ROOT = join(__dirname, '../..');
const SUITES = ['libs', 'packages', 'test'].flatMap((top) =>
  readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })
    .filter((file) => (top === 'test' ? file.endsWith('.ts') : file.endsWith('.spec.ts')))
    .map((file) => join(top, file)),
);
const text = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** What measures time or memory, or waits for time to pass. */
const CLOCKS: readonly RegExp[] = [
  /\bperformance\.now\b/,
  /\bhrtime\b/,
  /\bDate\.now\(\)\s*-/,
  /\bmemoryUsage\b/,
  /\bRssAnon\b/,
  /\bmonitorEventLoopDelay\b/,
  /\bsetTimeout\b.*\btimers\/promises\b/,
  /\bsetTimeout\(\s*(resolve|done)/,
  /\.toBeLess\w*\(\s*[\w.]*Ms\b/,
  /\bexpect\([^)\n]*Ms\)\.toBe(Less|Greater)/,
];

/** The files that use one, and why no verdict depends on it. */
const ALLOWED: Readonly<Record<string, string>> = {
  'libs/http/src/stream-slots.spec.ts': 'its timers and its clock are fake',
  'packages/sdk/src/transport.spec.ts': 'its timers are fake',
  'test/browser/console-faults.deep.spec.ts': 'moves the clock of its page, and reads none',
  'test/faults/clock-steps.e2e-spec.ts': 'moves the clocks that it reads',
  'test/properties/webhooks-sim.deep.spec.ts': 'its time is simulated',
  'test/support/time.ts': 'sets the clocks of the service',
  'test/support/until.ts': 'asks for a condition again and again, as long as the limit of the test',
};

/** What decides by chance without a seed that a failure names. */
const DICE = /\bMath\.random\b/;

/** Looks for a program or module that Node.js does not bring, past test/support/programs.ts. */
const PROBE = /\bspawnSync\(.*\)\.(status|error)\b/;

/** A limit that a good call does not meet while a process stops for seconds: test/support/patient.ts gives longer ones. */
const SHORT = /(LOCK|STATEMENT|CONNECT|WEBHOOK)_TIMEOUT_MS: '\d{1,4}'/;

/** The limit of one test or hook, as the last argument of its call: a number, a product or a constant of the suite. */
const OWN_LIMIT = /^ *\},\s+([\d_]+(?: \* [\d_]+)?|[A-Z_]+_MS)(?: \+ .*)?,?\s*\);$/gm;
/** NaN for what is not in the suite. */
const numberIn = (literal = '?'): number =>
  literal.split(' * ').reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1);
/** The limits that a suite sets itself. What has up to a second is the interval of a timer. */
function limitsOf(suite: string): number[] {
  const limits = [...suite.matchAll(OWN_LIMIT)].map(([, limit = '']) =>
    numberIn(/^\d/.test(limit) ? limit : new RegExp(`const ${limit} = ([\\d_ *]+);`).exec(suite)?.[1]),
  );
  return limits.filter((limit) => !(limit <= 1_000));
}

describe('the gate', () => {
  it('has no suite that looks at a clock or at memory, but for a short list with a reason each', () => {
    const found = SUITES.filter((file) => CLOCKS.some((clock) => clock.test(text(file))));
    expect(found.sort()).toEqual(Object.keys(ALLOWED).sort());
    expect(found.length).toBeLessThan(10);
  });

  it('has no suite with a real limit of less than ten seconds', () => {
    expect(SUITES.filter((file) => SHORT.test(text(file)))).toEqual([]);
  });

  it('ends a test that hangs by one long limit, which no suite makes shorter', () => {
    const longest = numberIn(/testTimeout: ([\d_]+)/.exec(text('jest.config.js'))?.[1]);
    expect(longest).toBe(1_200_000);
    const shorter = SUITES.filter(
      (file) =>
        /\bjest\.setTimeout\(/.test(text(file)) || limitsOf(text(file)).some((limit) => !(limit >= longest)),
    );
    expect(shorter).toEqual([]);
    // The longest wait in a test, which names what was missing.
    expect(numberIn(/WAIT_MAX_MS = ([\d_]+)/.exec(text('test/support/browser.ts'))?.[1])).toBeLessThan(
      longest,
    );
  });

  it('has no suite that acts by chance without a seed that repeats it', () => {
    expect(SUITES.filter((file) => DICE.test(text(file)))).toEqual([]);
  });

  it('runs a test again, in `npm run test:deep`, only if `npm test` has left out part of its cases', () => {
    const partly = SUITES.filter(
      (file) =>
        /spec\.ts$/.test(file) &&
        !file.includes('.deep.') &&
        /\b(atDepth|someOf|isFull)\b/.test(text(file)) &&
        !/\b(itInPart|itOfSize|itAtFullDepth)\b/.test(text(file)),
    );
    expect(partly.filter((file) => file !== 'test/repository/gate.spec.ts')).toEqual([]);
  });

  it('leaves out the tests of a missing program only outside of CI, with a notice', () => {
    const found = SUITES.filter((file) => PROBE.test(text(file)));
    expect(found.sort()).toEqual(['test/support/programs.ts', 'test/support/small-disk.ts']);
  });

  it('has no job that begins by itself beside a test, unless its suite asks for that', async () => {
    const periods = async (service: Service): Promise<number> => {
      await service.start();
      const { length } = service.app.get(SchedulerRegistry, { strict: false }).getIntervals();
      await service.stop();
      return length;
    };
    const asked = new Service();
    asked.hasPeriods = true;
    expect(await periods(new Service())).toBe(0);
    expect(await periods(asked)).toBeGreaterThan(0);
  });

  it('is `.ci/run`, which runs both parts of the tests, each once', () => {
    const steps = text('.ci/run').match(/^tests .*$/gm);
    expect(steps).toEqual(['tests test', 'tests test:deep for_node_26']);
  });
});
