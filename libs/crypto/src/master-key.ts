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
import { dirname, resolve } from 'node:path';
import { StartError, type Config, DEFAULT_DATABASE_PATH, type Random } from '@app/kernel';

export const KEY_BYTES = 32;

/**
 * The keys of `LETHE_MASTER_KEY`; without it those of the key file beside the database, one a line, the present one
 * first. Undefined where there is neither. `warn` hears what the operator should know of such a file.
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
      'Keep a copy apart from the backups of the database: without it no webhook can be signed, and with both anybody can sign.',
  );
  if ((statSync(path).mode & 0o077) !== 0)
    warn(`Others can read the key file ${path}: restrict it with chmod 600.`);
  return keys;
}

/**
 * {@link presentMasterKeys}; where there are none a key file is made, readable by its owner alone. To be called once the
 * database is open and known to hold nothing encrypted: a start that fails leaves no key file.
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

/** Beside the SQLite file; with another engine where the file would be, so that a grown installation keeps its key. */
export function keyFilePath({ database }: Config): string {
  return `${resolve(database.engine === 'sqlite' ? database.path : DEFAULT_DATABASE_PATH)}.key`;
}

/** Undefined where there is none. @throws StartError for one that cannot be used */
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
 * Replaces the key file as a whole: whatever happens meanwhile, it holds what it held before, or these keys, on the disk.
 * @throws StartError when that cannot be done.
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

/** Where keys stand that a rotation has taken out of the key file: backups that were made before need them. */
export function retiredKeysPath(path: string): string {
  return `${path}.retired`;
}

/** Adds to the retired keys, the newest first, before they leave the key file. @throws StartError */
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
