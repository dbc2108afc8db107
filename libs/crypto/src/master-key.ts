import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { StartError, type Config, DEFAULT_DATABASE_PATH, type Random, realFile } from '@app/kernel';

export const KEY_BYTES = 32;

/**
 * The keys of `LETHE_MASTER_KEY`. Without it, the keys of the key file beside the database, one on each line, the
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
  const present = presentMasterKeys(config, warn);
  if (present !== undefined) return present;
  generateKey(keyFilePath(config), random);
  return presentMasterKeys(config, warn) ?? [];
}

/**
 * The path beside the SQLite file. With PostgreSQL it is the path beside the default SQLite file, so that an
 * installation keeps its key after a move.
 */
export function keyFilePath({ database }: Config): string {
  return realFile(`${database.engine === 'sqlite' ? database.path : DEFAULT_DATABASE_PATH}.key`);
}

/** The keys of the file; undefined when there is none. @throws StartError for a file that cannot be used */
export function readKeyFile(path: string): readonly Buffer[] | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new StartError(`The key file ${path} cannot be read (${code}). Check its owner and permissions.`);
  }
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
  const next = `${path}.next`;
  try {
    rmSync(next, { force: true });
    writeFileSync(next, textOf(keys), { mode: 0o600, flag: 'wx', flush: true });
    renameSync(next, path);
    const directory = openSync(dirname(path), 'r');
    fsyncSync(directory);
    closeSync(directory);
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

function generateKey(path: string, random: Random): void {
  const key = random.bytes(KEY_BYTES);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, textOf([key]), { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(
      `The key file ${path} cannot be written (${code}). Check the directory and its permissions, or set LETHE_MASTER_KEY.`,
    );
  }
}
