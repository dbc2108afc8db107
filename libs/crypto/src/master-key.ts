import {
  type Config,
  CONFIG,
  DEFAULT_DATABASE_PATH,
  Degradations,
  flushPath,
  isThere,
  makeFolder,
  ownAsFolder,
  type Random,
  realFile,
  StartError,
  writeWhole,
} from '@app/kernel';
import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { linkSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Keyring } from './keyring';

export const KEY_BYTES = 32;

/**
 * The keys that the settings give. Without them, the keys of the key file beside the database, one on each line, the
 * present one first. Undefined when there is neither. `warn` gets messages for the operator about the file.
 * @throws StartError when the file cannot be used.
 */
export function presentMasterKeys(
  config: Config,
  warn: (message: string) => void = () => undefined,
): readonly Buffer[] | undefined {
  if (config.masterKeys.length > 0) return config.masterKeys;
  const path = keyFilePath(config);
  const keys = readKeyFile(path);
  if (keys === undefined) return undefined;
  warn(
    `LETHE_MASTER_KEY is not set: secrets are encrypted with the key file ${path}. ` +
      'Keep a copy apart from the backups of the database: without it no webhook can be signed, and with both anyone can sign.',
  );
  if ((statSync(path).mode & 0o077) !== 0)
    warn(`Others can read the key file ${path}: restrict it with chmod 600.`);
  return keys;
}

/**
 * {@link presentMasterKeys}, or the key of a new key file that only its owner can read. Call it after the database is
 * open and known to hold nothing encrypted, so that a failed start leaves no key file.
 */
export function masterKeys(
  config: Config,
  random: Random,
  warn: (message: string) => void,
): readonly Buffer[] {
  if (config.masterKeys.length > 0) return config.masterKeys;
  const path = keyFilePath(config);
  if (readKeyFile(path) === undefined) generateKey(path, random);
  removeLeftovers(path, warn);
  return presentMasterKeys(config, warn) ?? [];
}

/**
 * The path beside the SQLite file. With PostgreSQL it is the path beside the default SQLite file, so that an
 * installation keeps its key after a move.
 * @throws StartError when the file system does not say whether it is a link
 */
export function keyFilePath(config: Config): string {
  return realFile(keyFileName(config));
}

/** {@link keyFilePath} as the settings give it, before links are followed. */
function keyFileName({ database }: Config): string {
  return resolve(`${database.engine === 'sqlite' ? database.path : DEFAULT_DATABASE_PATH}.key`);
}

/**
 * The keys of the file; undefined when there is none, or one of 0 bytes.
 * @throws StartError for a file that cannot be used
 */
export function readKeyFile(path: string): readonly Buffer[] | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new StartError(`The key file ${path} cannot be read (${code}). Check its owner and permissions.`);
  }
  if (text === '') return undefined;
  const keys = text
    .trim()
    .split(/\s+/)
    .map((line) => Buffer.from(line, 'base64'));
  if (keys.some((key) => key.length !== KEY_BYTES))
    throw new StartError(`The key file ${path} is damaged. It was left untouched; restore a copy of it.`);
  return keys;
}

/**
 * Replaces the key file as a whole: after an interruption it holds its old content or the new keys, and it is flushed
 * to the disk.
 * @throws StartError when the file cannot be written.
 */
export function replaceKeyFile(path: string, keys: readonly Buffer[]): void {
  try {
    writeWhole(path, textOf(keys));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(`The key file ${path} cannot be replaced (${code}). It was left as it was.`);
  }
}

/** The file of the keys that a rotation has taken out of the key file. Older backups need them. */
export function retiredKeysPath(path: string): string {
  return `${path}.retired`;
}

/** Adds keys to the retired keys, the newest first, before they are removed from the key file. @throws StartError */
export function retireKeys(path: string, keys: readonly Buffer[]): void {
  const retired = retiredKeysPath(path);
  const kept = (readKeyFile(retired) ?? []).filter((key) => !keys.some((other) => other.equals(key)));
  replaceKeyFile(retired, [...keys, ...kept]);
}

function textOf(keys: readonly Buffer[]): string {
  return keys.map((key) => `${key.toString('base64')}\n`).join('');
}

/**
 * Makes the key file as a whole, so that an interruption leaves none. Where another start has made one meanwhile, that
 * one stays.
 */
function generateKey(path: string, random: Random): void {
  const next = `${nextOf(path)}${random.bytes(6).toString('hex')}`;
  try {
    makeFolder(dirname(path));
    if (statSync(path, { throwIfNoEntry: false })?.size === 0) rmSync(path);
    writeFileSync(next, textOf([random.bytes(KEY_BYTES)]), { mode: 0o600, flag: 'wx', flush: true });
    ownAsFolder(next);
    // Unlike a rename it replaces nothing.
    linkSync(next, path);
    rmSync(next);
    flushPath(dirname(path));
  } catch (error) {
    rmSync(next, { force: true });
    // The other start has removed `next` where the code is ENOENT.
    if (isThere(path)) return;
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(
      `The key file ${path} cannot be written (${code}). Check the directory and its permissions, or set LETHE_MASTER_KEY.`,
    );
  }
}

/** What a killed start has left. Call it when the key file exists: a start that is still making one uses that file. */
function removeLeftovers(path: string, warn: (message: string) => void): void {
  const home = dirname(path);
  for (const name of readdirSync(home).filter((other) => other.startsWith(basename(nextOf(path)))))
    try {
      rmSync(join(home, name), { force: true });
    } catch {
      warn(`${join(home, name)} may hold a key and is of no use: remove it.`);
    }
}

function nextOf(path: string): string {
  return `${path}.next-`;
}

const LOOK_MS = 60_000;
const KEY_FILE_MISSING = 'key_file_missing';

/**
 * Looks whether the key file still holds the key in use. The process has the key in memory and works on without the file,
 * but the next start needs it, so the process is degraded meanwhile.
 */
@Injectable()
export class KeyFileWatch implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Keyring');
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly keyring: Keyring,
    private readonly degradations: Degradations,
    private readonly adapterHost: HttpAdapterHost,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  onApplicationBootstrap(): void {
    // A command of the operator ends soon, and can change the file itself. It runs no jobs and has no HTTP interface.
    const adapter = this.adapterHost.httpAdapter as unknown;
    const isCommand = this.config.jobs === 'off' && adapter == null;
    if (this.config.masterKeys.length > 0 || isCommand) return;
    this.timer = setInterval(() => this.look(), LOOK_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Reports a file that is missing since the last look, or is there again. It never throws: it runs on a timer. */
  look(): void {
    const path = keyFileName(this.config);
    const isMissing = !this.isHeldBy(path);
    if (!this.degradations.note(KEY_FILE_MISSING, isMissing)) return;
    if (!isMissing) return this.logger.log(`The key file ${path} is in place again`);
    this.logger.error(
      `The key file ${path} is missing, cannot be read, or holds another key. Put its copy back before this process ends: no later start can read what is stored without it`,
    );
  }

  private isHeldBy(path: string): boolean {
    try {
      return this.keyring.isPresentAmong(readKeyFile(path) ?? []);
    } catch {
      return false;
    }
  }
}
