import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isThere } from './is-there';

/** The version of Lethe, as the manifest above this file names it; empty without one. */
export function version(folder = __dirname): string {
  const manifest = join(folder, 'package.json');
  if (isThere(manifest))
    return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }).version;
  return dirname(folder) === folder ? '' : version(dirname(folder));
}
