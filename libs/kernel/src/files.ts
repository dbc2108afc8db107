import { lchownSync, mkdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { StartError } from './errors';

/**
 * Whether there is something under the path. Unlike `existsSync` it does not take a fault for an absence: its caller would
 * go on without a file that exists.
 * @throws StartError for every fault but a missing entry
 */
export function isThere(path: string): boolean {
  return bytesOf(path) !== undefined;
}

/** The size of a file; undefined if there is none. @throws StartError as {@link isThere} */
export function bytesOf(path: string): number | undefined {
  try {
    return statSync(path).size;
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw cannotLook(path, error);
  }
}

/** Whether the error says that there is no such entry, or a file where a directory of the path would be. */
function isAbsence(error: unknown): boolean {
  return /^(ENOENT|ENOTDIR)$/.test((error as NodeJS.ErrnoException).code ?? '');
}

/** The error for a path about which the file system gives no answer. */
function cannotLook(path: string, error: unknown): StartError {
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  return new StartError(
    `Whether there is a file ${path} cannot be seen (${code}). Give the user that runs Lethe access to it and to the ` +
      'directories above it; if it has access, check the disk.',
  );
}

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
    // EINVAL: it is no link. Every other fault may hide one.
    if (isAbsence(error) || (error as NodeJS.ErrnoException).code === 'EINVAL') return undefined;
    throw cannotLook(file, error);
  }
}

/**
 * Where this process is root, gives what it has made the owner of the folder around it: a command that root runs would leave
 * files that the user of the service cannot read. Every other user owns what it makes.
 */
export function ownAsFolder(...paths: readonly string[]): void {
  if (process.getuid?.() !== 0) return;
  for (const path of paths) {
    const { uid, gid } = statSync(dirname(path));
    // Not what a link leads to, which the user of the service may have put there.
    if (uid !== 0) lchownSync(path, uid, gid);
  }
}

/** Makes a folder, and those above it, for the owner of the one in which they are. Returns the new ones, the innermost first. */
export function makeFolder(path: string): string[] {
  const folder = resolve(path);
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 });
  const made: string[] = [];
  if (first !== undefined) for (let at = folder; at.length >= first.length; at = dirname(at)) made.push(at);
  ownAsFolder(...made.toReversed());
  return made;
}

/** The folder of the checkout or of the installed package: the nearest one above with a manifest. */
export function homeFolder(folder = __dirname): string | undefined {
  if (isThere(join(folder, 'package.json'))) return folder;
  return dirname(folder) === folder ? undefined : homeFolder(dirname(folder));
}

/** The version of Lethe, as the manifest above this file names it; empty without one. */
export function version(): string {
  const home = homeFolder();
  if (home === undefined) return '';
  return (JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { readonly version: string })
    .version;
}
