import { readlinkSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { cannotLook, isAbsence } from './is-there';

/** More links than an operating system follows. */
const LINKS_MAX = 40;

/**
 * The absolute path of the file itself, if its name is a symbolic link: what lies beside a file, and what takes its
 * place, belongs there. The file need not exist.
 * @throws StartError when the file system does not say whether it is one
 */
export function realFile(path: string): string {
  let file = resolve(path);
  for (let links = 0; links < LINKS_MAX; links++) {
    const target = targetOf(file);
    if (target === undefined) break;
    file = resolve(realpathSync(dirname(file)), target);
  }
  return file;
}

function targetOf(file: string): string | undefined {
  try {
    return readlinkSync(file);
  } catch (error) {
    // No link: any other fault may hide one.
    if (isAbsence(error) || (error as NodeJS.ErrnoException).code === 'EINVAL') return undefined;
    throw cannotLook(file, error);
  }
}
