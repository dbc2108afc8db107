import { readlinkSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** More links than an operating system follows. */
const LINKS_MAX = 40;

/**
 * The absolute path of the file itself, if its name is a symbolic link: what lies beside a file, and what takes its
 * place, belongs there. The file need not exist.
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
  } catch {
    return undefined;
  }
}
