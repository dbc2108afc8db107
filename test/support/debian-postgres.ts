import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from './free-port';
import { until } from './until';

const PROGRAMS = '/usr/lib/postgresql/15/bin';
const isThere = existsSync(join(PROGRAMS, 'pg_basebackup'));
if (!isThere)
  process.stderr.write(`The tests of point-in-time recovery are skipped: there is no ${PROGRAMS}.\n`);

/** In CI missing programs are a failure. */
export const describeWithDebianPostgres =
  isThere || process.env['CI'] !== undefined ? describe : describe.skip;

/** PostgreSQL refuses to run as root. */
function owner(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'postgres'])));
  return { uid: uid ?? 0, gid: gid ?? 0 };
}

/** The end of a recovery: that of the archive, or a time. */
export type Target = 'end' | { readonly time: string };

/** Debian's PostgreSQL 15 with an archive of its log: servers on free ports of the loopback address, and base backups. */
export class DebianPostgres {
  private readonly root = mkdtempSync(join(tmpdir(), 'lethe-debian-'));
  private readonly owner = owner();
  private readonly running = new Map<string, ChildProcess>();
  private readonly archive = this.folder('archive');

  constructor() {
    if (this.owner) chownSync(this.root, this.owner.uid, this.owner.gid);
  }

  /** A new server with an empty database; answers its URL. */
  async create(): Promise<string> {
    const data = join(this.root, 'first');
    await this.run(
      'initdb',
      '-D',
      data,
      '-U',
      'lethe',
      '--auth=trust',
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
    );
    const url = await this.serve(data, ['archive_mode=on', `archive_command=cp %p ${this.archive}/%f`]);
    await onServer(url, 'CREATE DATABASE lethe');
    return url;
  }

  /** A base backup, as `pg_basebackup` makes it, of the server at `url`. */
  async baseBackup(url: string, name: string): Promise<void> {
    const { port } = new URL(url);
    const to = join(this.root, name);
    const from = ['-h', '127.0.0.1', '-p', port, '-U', 'lethe', '-D', to];
    await this.run('pg_basebackup', ...from, '-X', 'none', '-c', 'fast', '--no-sync');
  }

  /** Resolves when everything that is committed is in the archive. */
  async archived(url: string): Promise<void> {
    const [{ name }] = (await onServer(url, 'SELECT pg_walfile_name(pg_current_wal_lsn()) AS name')) as [
      Named,
    ];
    await onServer(url, 'SELECT pg_switch_wal()');
    await until(() => existsSync(join(this.archive, name)));
    const archiver = 'SELECT last_archived_wal AS name FROM pg_stat_archiver';
    await until(async () => (await onServer(url, archiver))[0]?.name === name);
  }

  /** Starts a base backup as a server of its own, recovered by the archive; answers its URL. */
  async recover(backup: string, copy: string, target: Target): Promise<string> {
    const data = join(this.root, copy);
    await promisify(execFile)('cp', ['-a', join(this.root, backup), data]);
    const lines = [`restore_command = 'cp ${this.archive}/%f %p'`, 'archive_mode = off'];
    if (target !== 'end')
      lines.push(`recovery_target_time = '${target.time}'`, `recovery_target_action = 'promote'`);
    appendFileSync(join(data, 'postgresql.auto.conf'), `${lines.join('\n')}\n`);
    writeFileSync(join(data, 'recovery.signal'), '');
    const url = await this.serve(data, []);
    await until(
      async () => (await onServer(url, 'SELECT pg_is_in_recovery()::text AS name'))[0]?.name === 'false',
    );
    return url;
  }

  /** Ends a server for good, with all that is not in a backup. */
  async stop(url: string): Promise<void> {
    const server = this.running.get(url);
    this.running.delete(url);
    server?.kill('SIGINT');
    if (server !== undefined && server.exitCode === null) await once(server, 'exit');
  }

  async remove(): Promise<void> {
    for (const url of [...this.running.keys()]) await this.stop(url);
    rmSync(this.root, { recursive: true, force: true });
  }

  private async serve(data: string, settings: readonly string[]): Promise<string> {
    const port = await freePort();
    const fixed = [
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'fsync=off',
      'shared_buffers=32MB',
    ];
    const given = [...fixed, ...settings].flatMap((each) => ['-c', each]);
    const server = spawn(join(PROGRAMS, 'postgres'), ['-D', data, '-p', String(port), ...given], {
      ...this.owner,
      cwd: this.root,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    server.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const url = `postgres://lethe@127.0.0.1:${port}/lethe`;
    this.running.set(url, server);
    await until(() => said.includes('ready to accept') || server.exitCode !== null);
    if (server.exitCode !== null) throw new Error(`PostgreSQL ended: ${said}`);
    return url;
  }

  private folder(name: string): string {
    const path = join(this.root, name);
    mkdirSync(path);
    if (this.owner) chownSync(path, this.owner.uid, this.owner.gid);
    return path;
  }

  private run(program: string, ...args: string[]): Promise<unknown> {
    return promisify(execFile)(join(PROGRAMS, program), args, { ...this.owner, cwd: this.root });
  }
}

interface Named {
  readonly name: string;
}

async function onServer(url: string, sql: string): Promise<Named[]> {
  const place = new URL(url);
  place.pathname = '/postgres';
  const client = new Client({ connectionString: place.href });
  await client.connect();
  try {
    return (await client.query<Named>(sql)).rows;
  } finally {
    await client.end();
  }
}
