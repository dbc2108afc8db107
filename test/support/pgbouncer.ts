import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port';

/** Sessions of the server for all clients of a database. With one, a unit that waits for another unit never ends. */
const SESSIONS = 1;

/**
 * PgBouncer in transaction mode on a loopback port, before the PostgreSQL server of the tests. Each database of the server
 * has its name.
 */
export class PgBouncer {
  private readonly directory = mkdtempSync(join(tmpdir(), 'lethe-pgbouncer-'));
  private child: ChildProcess;

  private constructor(
    private readonly server: URL,
    readonly port: number,
  ) {}

  static async before(url: string): Promise<PgBouncer> {
    const pooler = new PgBouncer(new URL(url), await freePort());
    await pooler.start();
    return pooler;
  }

  /** Starts the process and waits until it accepts connections; a later start uses the same port. */
  async start(): Promise<void> {
    // PgBouncer refuses to run as root.
    const user = userInfo().uid === 0 ? ['-u', 'nobody'] : [];
    const child = spawn('pgbouncer', [...user, this.files()], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.child = child;
    let output = '';
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes('process up')) resolve();
      });
      child.once('error', reject);
      child.once('exit', () => reject(new Error(`PgBouncer has ended: ${output}`)));
    });
  }

  async kill(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }

  private files(): string {
    const { hostname, port, username, password } = this.server;
    const [users, file] = ['users.txt', 'pgbouncer.ini'].map((name) => join(this.directory, name)) as [
      string,
      string,
    ];
    const settings = {
      listen_addr: '127.0.0.1',
      listen_port: this.port,
      unix_socket_dir: '',
      auth_type: 'plain',
      auth_file: users,
      pool_mode: 'transaction',
      default_pool_size: SESSIONS,
      max_client_conn: 500,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
    // Its user reads them.
    chmodSync(this.directory, 0o755);
    writeFileSync(users, `"${username}" "${password}"\n`);
    writeFileSync(
      file,
      [`[databases]`, `* = host=${hostname} port=${port}`, `[pgbouncer]`, ...lines, ''].join('\n'),
    );
    return file;
  }
}
