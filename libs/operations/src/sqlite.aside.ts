import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { lockBeside } from '@app/database';
import { isThere, ownAsFolder, StartError } from '@app/kernel';

/** What has a folder of its own beside the database while it runs. */
type AsideFor = 'drill' | 'ledger';

/** A folder beside a database, locked by this process. `remove` releases and removes it. */
interface AsideFolder {
  readonly folder: string;
  readonly remove: () => void;
}

const LOCK = 'lock';
/** A folder without a lock that is older is left. */
const MAKING_MS = 60_000;

/** Makes a folder for one run, which only its owner can open. @throws StartError where none can be made */
export function folderAside(path: string, of: AsideFor): AsideFolder {
  let folder = '';
  try {
    const made = (folder = mkdtempSync(prefixOf(path, of)));
    ownAsFolder(made);
    const release = lockBeside(join(made, LOCK));
    const remove = (): void => {
      release();
      rmSync(made, { recursive: true, force: true });
    };
    return { folder, remove };
  } catch (error) {
    if (folder !== '') rmSync(folder, { recursive: true, force: true });
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(`No folder for the ${of} can be made beside ${path} (${code}).`);
  }
}

/** Removes the folders that killed runs have left, and returns their paths. The folder of a running one is locked and stays. */
export function sweepAside(path: string, of: AsideFor): string[] {
  const parent = dirname(resolve(path));
  const prefix = prefixOf(path, of);
  if (!isThere(parent)) return [];
  const left = readdirSync(parent)
    .map((name) => join(parent, name))
    .filter((path) => path.startsWith(prefix) && isLeft(path));
  for (const folder of left) rmSync(folder, { recursive: true, force: true });
  return left;
}

function prefixOf(path: string, of: AsideFor): string {
  return join(dirname(resolve(path)), `${basename(path)}.${of}-`);
}

/** A folder that is being made has no lock yet, and another run may remove its own meanwhile. */
function isLeft(folder: string): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true) return false;
  const isMade = isThere(join(folder, LOCK)) || Date.now() - found.mtimeMs > MAKING_MS;
  return isMade && !isLocked(join(folder, LOCK));
}

function isLocked(file: string): boolean {
  try {
    lockBeside(file)();
    return false;
  } catch {
    return true;
  }
}
