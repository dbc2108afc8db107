import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from './free-port';
import { spawned, type Spawned } from './spawned';
import { until } from './until';

/** A sample or a row of samples of one series, as Prometheus answers it. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: readonly [number, string];
  readonly values?: readonly (readonly [number, string])[];
}

/** A Prometheus of the Debian package, with its files in a directory. */
export class Prometheus {
  private running: Spawned;
  private port = 0;
  private hasEnded = false;

  constructor(private readonly directory: string) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(config: object): Promise<this> {
    mkdirSync(this.directory, { recursive: true });
    writeFileSync(join(this.directory, 'prometheus.yaml'), stringify(config));
    this.port = await freePort();
    this.running = spawned('prometheus', [
      `--config.file=${join(this.directory, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(this.directory, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${this.port}`,
      '--log.level=warn',
    ]);
    void this.running.ended.then(() => (this.hasEnded = true));
    await this.untilOf(() =>
      fetch(`${this.url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    return this;
  }

  /** Resolves when the condition is true. @throws Error when the program ends before that */
  async untilOf(holds: () => Promise<boolean>): Promise<void> {
    await until(async () => this.hasEnded || (await holds()));
    if (this.hasEnded) throw new Error(`prometheus ended: ${this.running.written.output}`);
  }

  async stop(): Promise<void> {
    this.running?.child.kill('SIGTERM');
    await this.running?.ended;
  }
}
