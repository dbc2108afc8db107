import { statSync } from 'node:fs';
import { StartError } from './start-error';

/**
 * Whether there is something under the path. Unlike `existsSync`, a fault is no absence: who decides by it would go on
 * without a file that exists.
 * @throws StartError for every fault but a missing entry
 */
export function isThere(path: string): boolean {
  return bytesOf(path) !== undefined;
}

/** The size of a file; undefined where there is none. @throws StartError as {@link isThere} */
export function bytesOf(path: string): number | undefined {
  try {
    return statSync(path).size;
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw cannotLook(path, error);
  }
}

/** Whether the error says that there is no such entry, or a file where a directory of the path would be. */
export function isAbsence(error: unknown): boolean {
  return /^(ENOENT|ENOTDIR)$/.test((error as NodeJS.ErrnoException).code ?? '');
}

/** The error for a path about which the file system gives no answer. */
export function cannotLook(path: string, error: unknown): StartError {
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  return new StartError(
    `Whether there is a file ${path} cannot be seen (${code}). Give the user that runs Lethe access to it and to the ` +
      'directories above it; if it has access, check the disk.',
  );
}
