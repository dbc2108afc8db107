import { join } from 'node:path';
import { homeFolder, isThere } from './files';

/**
 * How an operator runs a command in this installation: a checkout has the script of npm, the package and the image have
 * `lethe-server` alone.
 * @param home the folder with the manifest
 */
export function adminCommand(command: string, home = homeFolder()): string {
  const isCheckout = home === undefined || isThere(join(home, 'scripts/admin.mjs'));
  return `${isCheckout ? 'npm run admin --' : 'lethe-server admin'} ${command}`;
}
