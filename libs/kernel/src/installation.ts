import { isAbsolute, join, relative } from 'node:path';
import { homeFolder, isThere } from './files';

/** Where a package manager puts the launcher of a package that the folder has. */
const OF_FOLDER = 'node_modules/.bin/lethe-server';

/** Whether the package is in the cache of npx, in which another version may take its place. */
export const isOfNpx = (home = homeFolder()): boolean => /[\\/]_npx[\\/]/.test(home ?? '');

/**
 * The launcher as the operator can call it in `folder`: what npx runs, and what a folder has of its own, is on no path of commands.
 * @param home the folder with the manifest
 */
export function launcherName(home = homeFolder(), folder = process.cwd()): string {
  if (isOfNpx(home)) return 'npx @lethe/server';
  return isThere(join(folder, OF_FOLDER)) ? OF_FOLDER : 'lethe-server';
}

/**
 * How an operator runs a command in this installation: a checkout has the script of npm, all others have the launcher alone.
 * @param home the folder with the manifest
 */
export function adminCommand(command: string, home = homeFolder(), folder = process.cwd()): string {
  const isCheckout = home === undefined || isThere(join(home, 'scripts/admin.mjs'));
  return `${isCheckout ? 'npm run admin --' : `${launcherName(home, folder)} admin`} ${command}`;
}

/** The file of a guide as its reader can open it: each installation has them beside its manifest, and the running service serves them. */
export function guidePath(guide: string, home = homeFolder(), folder = process.cwd()): string {
  const file = join(home ?? folder, 'docs', guide);
  const path = relative(folder, file);
  return path.startsWith('..') || isAbsolute(path) ? file : path;
}
