import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';

/** A new directory on a disk, for suites about the disk; other directories of a run are in memory. */
export function directoryOnDisk(): string {
  return mkdtempSync(join(process.env['TEST_DISK'] ?? '', 'lethe-test-'));
}
