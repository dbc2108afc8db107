import { type Stats, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { keyFilePath } from '@app/crypto';
import type { Config } from '@app/kernel';
import type { Circumstances } from './findings';

/** What is around an installation: settings, files and disk. */
export function circumstancesOf(
  config: Config,
  read: Pick<Circumstances, 'installation' | 'masterKeys'>,
): Circumstances {
  const keyFile = config.masterKeys.length > 0 ? undefined : keyFilePath(config);
  return {
    config,
    ...read,
    nowMs: Date.now(),
    node: process.versions.node,
    keyFile: keyFile === undefined ? undefined : { path: keyFile, mode: modeOf(keyFile) },
    environmentMode: modeOf('.env'),
    disk: diskOf(config),
    deviceOf: (path) => statOf(path)?.dev,
  };
}

/** Undefined for what is not there, or in a folder that this user cannot open. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function modeOf(path: string): number | undefined {
  const mode = statOf(path)?.mode;
  return mode === undefined ? undefined : mode & 0o777;
}

/** The disk of a SQLite file; undefined for PostgreSQL. */
export function diskOf({ database }: Pick<Config, 'database'>): Circumstances['disk'] {
  if (database.engine === 'postgres') return undefined;
  try {
    const { bavail, bsize, blocks } = statfsSync(dirname(resolve(database.path)));
    return { freeBytes: bavail * bsize, bytes: blocks * bsize };
  } catch {
    return undefined;
  }
}
