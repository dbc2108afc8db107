import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { OwnError } from '@app/kernel';
import { keysName, keysPath } from './key-tables';

interface OpenFile {
  readonly path: string;
  readonly identity: string | undefined;
}

/**
 * The files that a process has open, data and keys, each with its log. A file that is removed or replaced stays open,
 * and what is committed to it is lost when the process ends.
 */
export class SqliteFiles {
  private readonly files: readonly OpenFile[];

  /** Call it when both files are open, with their logs. */
  constructor(path: string) {
    // By the name of the keys also a link that leads to another file is noticed.
    const paths = [path, `${path}-wal`, keysName(path), `${keysPath(path)}-wal`];
    this.files = paths.map((file) => ({ path: file, identity: identityOf(file) }));
    const missing = this.files.find(({ identity }) => identity === undefined);
    if (missing !== undefined) throw new OwnError(`${missing.path} is missing after it was opened`);
  }

  /** @throws OwnError when a file is no longer the one under its name */
  requireInPlace(): void {
    const lost = this.files.find(({ path, identity }) => identityOf(path) !== identity);
    if (lost === undefined) return;
    throw new OwnError(
      `${basename(lost.path)} was removed or replaced while the service uses it: a commit would be lost at the next start, so ` +
        'every act is refused. Put the same file back under its name, or stop the service and restore a backup.',
    );
  }
}

/** Device and number of the file; undefined when there is none. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}/${found.ino}`;
}
