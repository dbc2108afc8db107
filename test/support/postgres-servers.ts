import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from './free-port';
import { canRun } from './programs';
import { type Spawned, spawned } from './spawned';
import { until } from './until';

/** Where Debian installs each version. The PostgreSQL of the other tests brings no pg_basebackup. */
const PLACE = '/usr/lib/postgresql';

function program(name: string): string {
  const versions = existsSync(PLACE) ? readdirSync(PLACE) : [];
  const newest = versions.sort((one, other) => Number(one) - Number(other)).at(-1) ?? '';
  return join(PLACE, newest, 'bin', name);
}

export const canRunPostgres = (): boolean => canRun(program('initdb'));

/** PostgreSQL refuses to run as root. */
function otherUser(): { uid?: number; gid?: number } {
  if (userInfo().uid !== 0) return {};
  const idOf = (kind: string): number => Number(execFileSync('id', [kind, 'postgres']));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** Not on disk before the machine is, but in the hands of the system: what a killed process has written is kept. */
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'fsync=off',
  'shared_buffers=32MB',
];

/** PostgreSQL servers of a test's own on loopback ports, below one directory and with one superuser. */
export class PostgresServers {
  readonly directory = mkdtempSync(join(tmpdir(), 'lethe-postgres-'));
  private readonly user = otherUser();
  private readonly servers: PostgresServer[] = [];

  constructor() {
    chmodSync(this.directory, 0o711);
  }

  /** A new and empty server, not started. */
  async create(name: string): Promise<PostgresServer> {
    const server = await this.server(name);
    const flags = ['--username=lethe', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
    await this.run('initdb', ['-D', server.data, ...flags]);
    return server;
  }

  /** A base backup of a server that runs, as a server that is not started; with `-R` its standby. */
  async backupOf(source: PostgresServer, name: string, ...flags: readonly string[]): Promise<PostgresServer> {
    const server = await this.server(name);
    const from = ['-d', source.url, '-D', server.data, '--checkpoint=fast', '--no-sync', ...flags];
    await this.run('pg_basebackup', from);
    return server;
  }

  /** A directory into which the servers may write. */
  makeDirectory(name: string): string {
    const path = join(this.directory, name);
    mkdirSync(path, { mode: 0o700 });
    if (this.user.uid !== undefined) chownSync(path, this.user.uid, this.user.gid ?? 0);
    return path;
  }

  /** Runs a program of PostgreSQL to its end. @throws Error with its output when it fails */
  async run(name: string, args: readonly string[]): Promise<void> {
    const { code, output } = await this.spawn(name, args).ended;
    if (code !== 0) throw new Error(`${name} ended with ${code}: ${output}`);
  }

  spawn(name: string, args: readonly string[]): Spawned {
    const env = { PATH: process.env['PATH'], LC_ALL: 'C' };
    return spawned(program(name), args, { ...this.user, env, cwd: this.directory });
  }

  async remove(): Promise<void> {
    for (const server of this.servers) await server.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }

  private async server(name: string): Promise<PostgresServer> {
    const server = new PostgresServer(this, this.makeDirectory(name), await freePort());
    this.servers.push(server);
    return server;
  }
}

/** One server and its directory. It is started any number of times, on one port. */
export class PostgresServer {
  private running: Spawned | undefined;

  constructor(
    private readonly servers: PostgresServers,
    readonly data: string,
    private readonly port: number,
  ) {}

  get url(): string {
    return `postgres://lethe:lethe@127.0.0.1:${this.port}/postgres`;
  }

  /** Starts it and waits until it accepts connections, of readers alone if it is a standby. */
  async start(...settings: readonly string[]): Promise<this> {
    const all = [`port=${this.port}`, ...SETTINGS, ...settings].flatMap((each) => ['-c', each]);
    const running = this.servers.spawn('postgres', ['-D', this.data, ...all]);
    this.running = running;
    let hasEnded = false;
    void running.ended.then(() => (hasEnded = true));
    await until(() => hasEnded || /ready to accept (read-only )?connections/.test(running.written.output));
    if (hasEnded) throw new Error(`PostgreSQL did not start: ${running.written.output}`);
    return this;
  }

  /** Ends all of its processes at once, as when the machine loses its power; resolves when none is left. */
  async kill(): Promise<void> {
    const { running } = this;
    this.running = undefined;
    const pid = running?.child.pid;
    if (running === undefined || pid === undefined) return;
    // It begins no process meanwhile.
    running.child.kill('SIGSTOP');
    for (const child of childrenOf(pid)) tryKill(child);
    running.child.kill('SIGKILL');
    await running.ended;
  }

  /** The standby becomes a primary of its own; resolves when it is one. */
  promote(): Promise<void> {
    return this.servers.run('pg_ctl', ['promote', '-D', this.data, '-w', '-t', '600']);
  }

  async rows<Row>(sql: string): Promise<Row[]> {
    const client = new Client({ connectionString: this.url });
    await client.connect();
    try {
      return (await client.query(sql)).rows as Row[];
    } finally {
      await client.end();
    }
  }
}

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children.split(' ').filter(Boolean).map(Number);
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
