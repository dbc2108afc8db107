import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The version of Lethe, as the manifest above this file names it; empty without one. */
export function version(folder = __dirname): string {
  const manifest = join(folder, 'package.json');
  if (existsSync(manifest))
    return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }).version;
  return dirname(folder) === folder ? '' : version(dirname(folder));
}
