import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isThere } from './is-there';

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
