import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { SQLITE_PACKAGE } from './database';
import { type Bot, field } from './bot';
import { PROCESS_ENVIRONMENT } from './build';
import { PREFIX } from './client';
import { subject } from './snowflakes';

const PAUSE_MS = 100;
const BYTES_AT_ONCE = 4_096;
/** More than the buffers of a connection hold. */
const VALUES = 6;
const VALUE_LENGTH = 2 ** 21;

/** What it reads in all: then it holds the connection, and the export never ends. */
const BYTES_MAX = 2 ** 21;

/** The settings of a service for values of this length, and for a reader that takes nothing any more. */
export const SLOWLY_READ_SETTINGS = {
  BODY_LIMIT_BYTES: '8388608',
  DATA_LIMIT_BYTES: '8388608',
  READER_TIMEOUT_MS: '3600000',
};

/** A streamed export that is read at 40 KB a second for most of a minute, then not at all. */
export class SlowReader {
  private readonly timer: NodeJS.Timeout;

  private constructor(private readonly answer: IncomingMessage) {
    answer.pause();
    // A service that is killed cuts the export.
    answer.on('error', () => undefined);
    let taken = 0;
    this.timer = setInterval(() => {
      if (taken < BYTES_MAX) taken += answer.read(BYTES_AT_ONCE)?.length ?? 0;
    }, PAUSE_MS);
  }

  /** Stores a user with a large export, and begins to read it. */
  static async of(bot: Bot): Promise<SlowReader> {
    const who = subject();
    await bot.hasConsent(who);
    for (let at = 0; at < VALUES; at++) {
      await bot.hasCategory(`large_${at}`, [field('value')]);
      await bot.hasData(who, `large_${at}`, { value: String(at).repeat(VALUE_LENGTH) });
    }
    const path = `${bot.baseUrl}${PREFIX}/data/export/${who.user_id}?guild_id=${who.guild_id}`;
    const headers = { authorization: `Bearer ${bot.key}` };
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      get(path, { headers }, resolve).on('error', reject),
    );
    return new SlowReader(answer);
  }

  /** Whether the export is neither complete nor cut. */
  get isReading(): boolean {
    return !this.answer.complete && !this.answer.destroyed;
  }

  end(): void {
    clearInterval(this.timer);
    this.answer.destroy();
  }
}

const OPEN_SNAPSHOT = `
  const Sqlite = require('${SQLITE_PACKAGE}');
  const file = new Sqlite(process.argv[1], { readonly: true });
  file.exec('BEGIN');
  file.prepare('SELECT COUNT(*) FROM user_data').get();
  process.stdin.resume();
  process.stdin.once('end', () => process.exit());
  process.stdout.write('open');
`;

/**
 * Another program that keeps a snapshot of a SQLite file open. In this process its locks would end with the next reading
 * of the file (POSIX: a close releases every lock of the process).
 */
export class ForeignSnapshot {
  private constructor(private readonly child: ChildProcess) {}

  static async of(path: string): Promise<ForeignSnapshot> {
    const child = spawn(process.execPath, ['-e', OPEN_SNAPSHOT, path], {
      env: PROCESS_ENVIRONMENT,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const opened = once(child.stdout, 'data');
    const ended = once(child, 'close').then(() => Promise.reject(new Error('the snapshot was not opened')));
    ended.catch(() => undefined);
    await Promise.race([opened, ended]);
    return new ForeignSnapshot(child);
  }

  get isReading(): boolean {
    return this.child.exitCode === null;
  }

  end(): void {
    this.child.stdin?.end();
  }
}
