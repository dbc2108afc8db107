import { relative } from 'node:path';

const SHOWN = 10;

/** Prints the slowest suites at the end of a run, so that the next slow one is seen. */
export default class Slowest {
  onRunComplete(_, { testResults }) {
    if (testResults.length <= SHOWN) return;
    const suites = testResults
      .map(({ testFilePath, displayName, perfStats }) => ({
        name: `${displayName?.name ?? ''} ${relative(process.cwd(), testFilePath)}`,
        seconds: (perfStats.end - perfStats.start) / 1_000,
      }))
      .sort((a, b) => b.seconds - a.seconds);
    const lines = suites
      .slice(0, SHOWN)
      .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s ${name}`);
    process.stderr.write(`\nThe slowest suites:\n${lines.join('\n')}\n`);
  }
}
