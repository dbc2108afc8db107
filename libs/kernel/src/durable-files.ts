import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ownAsFolder } from './files';

/** Flushes a folder, so that new and renamed entries of it survive a power cut; with `r+` a file. */
export function flushPath(path: string, how: 'r' | 'r+' = 'r'): void {
  const opened = openSync(path, how);
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** Writes a file for its owner only. After a power cut all of it is there, or the file that was there before. */
export function writeWhole(path: string, text: string): void {
  const next = `${path}.next`;
  rmSync(next, { force: true });
  writeFileSync(next, text, { mode: 0o600, flag: 'wx', flush: true });
  ownAsFolder(next);
  renameSync(next, path);
  flushPath(dirname(path));
}
