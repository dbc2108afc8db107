import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useService } from '../support/shared-service';
import { useServiceInProcess } from '../support/service';
import { until } from '../support/until';

const SCRIPT = join(__dirname, '../../scripts/loadtest.mjs');
jest.setTimeout(60_000);

const service = useService();
let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'lethe-test-'))));
afterEach(() => rmSync(directory, { recursive: true }));

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function started(...args: string[]) {
  const child = spawn(process.execPath, [SCRIPT, ...args], { cwd: directory });
  const taken = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk: Buffer) => (taken[name] += chunk.toString()));
  const run = new Promise<Run>((done) => child.on('close', (code) => done({ code, ...taken })));
  return { child, taken, run };
}

const loadtest = (...args: string[]): Promise<Run> => started(...args).run;

interface Summary {
  readonly requests: number;
  readonly rate_limited: number;
  readonly waited_for_429_seconds: number;
  readonly users: { readonly reached: number };
  readonly operations: Readonly<Record<string, { readonly calls: number; readonly rate_limited: number }>>;
  readonly notes: readonly string[];
}

describe('npm run loadtest', () => {
  it('reports rate, times and errors of each operation, and leaves no bot and no file', async () => {
    const run = await loadtest(
      ...['--url', service.url, '--bots', '2', '--users', '30', '--minutes', '0.05', '--json'],
    );
    expect(run.code).toBe(0);
    const report = JSON.parse(run.stdout) as Summary;
    const operation = {
      calls: expect.any(Number),
      per_second: expect.any(Number),
      milliseconds: {
        p50: expect.any(Number),
        p95: expect.any(Number),
        p99: expect.any(Number),
        max: expect.any(Number),
      },
      rate_limited: 0,
      errors: {},
    };
    expect(report).toMatchObject({
      url: service.url,
      bots: { asked: 2, registered: 2 },
      requests_per_second: expect.any(Number),
      errors: 0,
      bots_by_requests_per_minute: { 1000000: 2 },
      operations: { submit: operation, 'consent status': operation, 'consent accept': operation },
      notes: [],
    });
    const calls = Object.values(report.operations).reduce((sum, { calls: some }) => sum + some, 0);
    expect(calls).toBe(report.requests);
    expect(report.users.reached).toBeGreaterThan(1);
    expect(report.users.reached).toBeLessThanOrEqual(30);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('prints the same for people without --json', async () => {
    const run = await loadtest('--url', service.url, '--bots', '1', '--users', '3', '--minutes', '0.05');
    expect(run.stdout).toMatch(
      /^\d+ calls in \S+ s, \S+ a second, by 1 bots of 1 with \d users of 3\.\n0 errors\./,
    );
    expect(run.stdout).toMatch(
      /^operation +calls +per second +p50 ms +p95 ms +p99 ms +max ms +429 +errors$/m,
    );
    expect(run.stdout).toMatch(/^submit +\d+ /m);
  });

  it('says why no bot could be registered', async () => {
    const gone = await loadtest('--url', 'http://127.0.0.1:9', '--minutes', '0.05');
    expect(gone).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('ECONNREFUSED') });
    expect(readdirSync(directory)).toEqual([]);
  });

  const wrong: readonly string[][] = [
    ['--url', 'ftp://x'],
    ['--bots', '10001'],
    ['--users', '0'],
    ['--minutes', '601'],
    ['--remove', 'nothing'],
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

describe('with the limits of a tier', () => {
  const limited = useServiceInProcess({ RATE_LIMIT_TIERS: 'free=3', RATE_LIMIT_ANONYMOUS: '3' });

  it('waits as a 429 asks, counts it apart from errors, and says which limits to raise', async () => {
    const { child, taken, run } = started(
      ...['--url', limited.url, '--bots', '4', '--minutes', '0.1', '--json'],
    );
    // The deletion waits for the tier: the test is over before.
    await until(() => taken.stdout.includes('}\n'));
    child.kill('SIGKILL');
    await run;
    const report = JSON.parse(taken.stdout) as Summary;
    expect(report).toMatchObject({
      bots: { asked: 4, registered: 3 },
      errors: 0,
      bots_by_requests_per_minute: { 3: 3 },
    });
    // One for each bot: then it waits.
    expect(report.rate_limited).toBe(3);
    expect(report.requests).toBe(3 * 4);
    expect(report.waited_for_429_seconds).toBeGreaterThan(0);
    expect(report.notes).toEqual([
      expect.stringContaining('Only 3 of 4 bots could be registered'),
      expect.stringContaining('raise RATE_LIMIT_TIERS'),
    ]);
  });
});

describe('a load test that is ended', () => {
  it('by Ctrl-C prints its report and deletes its bots', async () => {
    const { child, taken, run } = started('--url', service.url, '--bots', '2', '--minutes', '10', '--json');
    await until(() => taken.stderr.includes('are registered'));
    child.kill('SIGINT');
    const { code, stdout, stderr } = await run;
    expect([code, stderr]).toEqual([0, expect.stringContaining('ends with its report')]);
    expect(JSON.parse(stdout)).toMatchObject({ bots: { registered: 2 }, errors: 0 });
    expect(readdirSync(directory)).toEqual([]);
  });

  it('by a kill leaves a file for its user alone, by which --remove deletes its bots', async () => {
    const { child, taken, run } = started('--url', service.url, '--bots', '2', '--minutes', '10');
    await until(() => taken.stderr.includes('are registered'));
    child.kill('SIGKILL');
    await run;
    const [file = ''] = readdirSync(directory);
    expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600);
    const [, ...lines] = readFileSync(join(directory, file), 'utf8').trim().split('\n');
    const bots = lines.map((line) => JSON.parse(line) as { key: string });
    expect(bots).toHaveLength(2);
    const removed = await loadtest('--remove', file);
    expect(removed).toMatchObject({ code: 0, stderr: '2 bots are deleted.\n' });
    for (const { key } of bots) {
      const answer = await fetch(`${service.url}/api/v1/bots/me`, {
        headers: { authorization: `Bearer ${key}` },
      });
      expect(answer.status).toBe(401);
    }
    expect(readdirSync(directory)).toEqual([]);
  });
});

describe('with an installation that fails', () => {
  let server: Server;
  afterEach(() => void server.close());

  it('counts each kind of error by its code, under its operation', async () => {
    let calls = 0;
    server = createServer((request, response) => {
      request.resume();
      if (request.url?.endsWith('/bots/register'))
        return response.writeHead(201).end('{"data":{"id":"x","api_key":"k"}}');
      if (request.method === 'DELETE') return response.writeHead(200).end('{}');
      calls += 1;
      if (calls === 1) return response.writeHead(503).end('{"error":{"code":"service_unavailable"}}');
      if (calls === 2) return response.writeHead(502).end('<html>');
      return request.socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const run = await loadtest('--url', url, '--bots', '1', '--minutes', '0.05', '--json');
    const { operations } = JSON.parse(run.stdout) as { operations: Record<string, { errors: object }> };
    expect(operations['declare category']?.errors).toEqual({
      '502': 1,
      '503 service_unavailable': 1,
      ECONNRESET: expect.any(Number),
    });
  });
});
