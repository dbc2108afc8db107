import { join } from 'node:path';
import { useService } from '../support/shared-service';
import { spawned } from '../support/spawned';

const SCRIPT = join(__dirname, '../../scripts/loadtest.mjs');

const service = useService();

const loadtest = (...args: string[]) => spawned(process.execPath, [SCRIPT, ...args]).ended;

describe('npm run loadtest', () => {
  it('reports the rate, the times and the errors of a small run', async () => {
    const run = await loadtest('--url', service.url, '--bots', '2', '--users', '3', '--minutes', '0.05');
    expect(run).toMatchObject({ code: 0, stderr: '' });
    const report = JSON.parse(run.stdout) as { requests: number; errors: object };
    expect(report).toMatchObject({
      bots: 2,
      requests_per_second: expect.any(Number),
      milliseconds: { p50: expect.any(Number), p95: expect.any(Number), p99: expect.any(Number) },
      rate_limited: expect.any(Number),
      errors: {},
    });
    // Each bot is registered, with a category, and makes at least one turn of three calls.
    expect(report.requests).toBeGreaterThanOrEqual(10);
  });

  const wrong: readonly string[][] = [
    [],
    ['--url', 'ftp://x'],
    ['--url', 'http://x', '--bots', '101'],
    ['--url', 'http://x', '--users', '0'],
    ['--url', 'http://x', '--minutes', '61'],
    ['--all'],
  ];
  it.each(wrong.map((args) => [args] as const))('refuses %j with the correct form', async (args) => {
    const run = await loadtest(...args);
    expect(run).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('npm run loadtest --'),
    });
  });
});
