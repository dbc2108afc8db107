import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system in memory, large enough for the databases of all suites. */
const MEMORY = '/dev/shm';
const MEMORY_MIN_BYTES = 4 * 1024 ** 3;

const PREFIX = 'lethe-run-';

let isDone = false;

/**
 * Makes the temporary directory of this run for all files of the suites, in memory if possible. TEST_DISK names the
 * directory on a disk, for suites about the disk; TEST_BUILD the place of the compiled service. Jest runs the setups of
 * projects before this one, so that they call it.
 */
export default function setup() {
  if (isDone) return;
  isDone = true;
  process.env.TEST_DISK = tmpdir();
  const place = hasMemory() ? MEMORY : tmpdir();
  removeAbandoned(place);
  process.env.TMPDIR = mkdtempSync(join(place, `${PREFIX}${process.pid}-`));
  // PostgreSQL runs as another user, which needs access to directories below.
  chmodSync(process.env.TMPDIR, 0o711);
  process.env.TEST_BUILD = mkdtempSync(join(process.env.TMPDIR, 'build-'));
}

/** Removes the directories of runs that were killed, but for what cannot be removed, such as a small disk that is still mounted. */
function removeAbandoned(place) {
  for (const name of readdirSync(place)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    try {
      rmSync(join(place, name), { recursive: true, force: true });
    } catch (error) {
      console.warn(`${join(place, name)} is left: ${error.message}`);
    }
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function hasMemory() {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= MEMORY_MIN_BYTES;
  } catch {
    return false;
  }
}
