import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from './free-port';
import { until } from './until';

const BINARY = 'prometheus';

/** Whether Debian's package `prometheus` is installed. @throws Error where it must be */
export function hasPrometheus(): boolean {
  const isThere = spawnSync(BINARY, ['--version']).error === undefined;
  if (!isThere && process.env['CI'] !== undefined)
    throw new Error('prometheus is missing: install the package prometheus.');
  if (!isThere) process.stderr.write('There is no prometheus on the PATH: its tests are skipped.\n');
  return isThere;
}

/** A series that a query answers, with its values over the time. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [seconds: number, value: string])[];
}

interface Answer<T> {
  readonly status: string;
  readonly error?: string;
  readonly data: T;
}

/** A Prometheus on loopback that reads processes every second. */
export class Prometheus {
  private readonly directory = mkdtempSync(join(tmpdir(), 'lethe-prometheus-'));
  private child: ChildProcess;
  private url: string;

  /** @throws Error with what the process says when it does not start */
  async start(targets: readonly string[], token: string, rules: string): Promise<this> {
    const [config, credentials] = [join(this.directory, 'prometheus.yaml'), join(this.directory, 'token')];
    writeFileSync(credentials, token, { mode: 0o600 });
    const job = {
      job_name: 'lethe',
      scrape_interval: '1s',
      authorization: { credentials_file: credentials },
      static_configs: [{ targets }],
    };
    const global = { evaluation_interval: '1s' };
    writeFileSync(config, stringify({ global, scrape_configs: [job], rule_files: [rules] }));
    const port = await freePort();
    this.url = `http://127.0.0.1:${port}`;
    const options = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(this.directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    this.child = spawn(BINARY, options, { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    let hasEnded = false;
    this.child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    this.child.once('exit', () => (hasEnded = true));
    const isReady = () =>
      fetch(`${this.url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until(async () => {
      if (hasEnded) throw new Error(`prometheus has ended: ${said}`);
      return isReady();
    });
    return this;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('close', resolve));
    this.child.kill('SIGTERM');
    await ended;
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** What an expression has now. @throws Error when Prometheus refuses it */
  async query(expression: string): Promise<readonly { readonly metric: Series['metric'] }[]> {
    const { result } = await this.get<{ result: Series[] }>('query', { query: expression });
    return result;
  }

  /** What an expression had in the seconds before `until`, a time in seconds. */
  async range(
    expression: string,
    {
      seconds,
      until: end = Date.now() / 1_000,
      step = 1,
    }: { seconds: number; until?: number; step?: number },
  ): Promise<readonly Series[]> {
    const asked = { query: expression, start: String(end - seconds), end: String(end), step: String(step) };
    return (await this.get<{ result: Series[] }>('query_range', asked)).result;
  }

  /** The name of every metric that was read. */
  async names(): Promise<Set<string>> {
    return new Set(await this.get<string[]>('label/__name__/values'));
  }

  /** The rules that could not be evaluated, with the reason; the number of all of them. */
  async rules(): Promise<{ readonly count: number; readonly faults: readonly string[] }> {
    type Rule = { name: string; health: string; lastError?: string };
    const { groups } = await this.get<{ groups: { rules: Rule[] }[] }>('rules');
    const all = groups.flatMap(({ rules }) => rules);
    const faults = all.filter(({ health }) => health !== 'ok');
    return {
      count: all.length,
      faults: faults.map(({ name, health, lastError }) => `${name} ${health} ${lastError}`),
    };
  }

  private async get<T>(path: string, asked: Readonly<Record<string, string>> = {}): Promise<T> {
    const answer = await fetch(`${this.url}/api/v1/${path}?${new URLSearchParams(asked).toString()}`);
    const { status, error, data } = (await answer.json()) as Answer<T>;
    if (status !== 'success') throw new Error(`Prometheus refuses ${JSON.stringify(asked)}: ${error}`);
    return data;
  }
}
