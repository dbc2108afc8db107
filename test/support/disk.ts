import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';

/** A new directory on a disk, where the others of a run are in memory: for suites that are about the disk. */
export function directoryOnDisk(): string {
  return mkdtempSync(join(process.env['TEST_DISK'] ?? '', 'lethe-test-'));
}
