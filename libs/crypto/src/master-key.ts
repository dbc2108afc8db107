import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Config, DEFAULT_DATABASE_PATH, type Random } from '@app/common';
import { StartError } from '@app/database';

const KEY_BYTES = 32;

/**
 * The keys of `LETHE_MASTER_KEY`; without it that of the key file beside the database, generated at the first start
 * and readable by its owner alone. `warn` hears what the operator should know of such a file.
 * @throws StartError when the file cannot be used.
 */
export function masterKeys(
  config: Config,
  random: Random,
  warn: (message: string) => void,
): readonly Buffer[] {
  if (config.masterKeys.length > 0) return config.masterKeys;
  const path = keyFile(config);
  const key = readKey(path) ?? generateKey(path, random);
  warn(
    `LETHE_MASTER_KEY is not set: secrets are encrypted with the key file ${path}. ` +
      'Keep a copy apart from the backups of the database: without it no webhook can be signed, and with both anybody can sign.',
  );
  if ((statSync(path).mode & 0o077) !== 0)
    warn(`Others can read the key file ${path}: restrict it with chmod 600.`);
  return [key];
}

/** Beside the SQLite file; with another engine where the file would be, so that a grown installation keeps its key. */
function keyFile({ database }: Config): string {
  return `${resolve(database.engine === 'sqlite' ? database.path : DEFAULT_DATABASE_PATH)}.key`;
}

function readKey(path: string): Buffer | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new StartError(`The key file ${path} cannot be read (${code}). Check its owner and permissions.`);
  }
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== KEY_BYTES)
    throw new StartError(`The key file ${path} is damaged. It was left untouched; restore a copy of it.`);
  return key;
}

function generateKey(path: string, random: Random): Buffer {
  const key = random.bytes(KEY_BYTES);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(`The key file ${path} cannot be written (${code}). Set LETHE_MASTER_KEY instead.`);
  }
  return key;
}
