import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The version of Lethe, as the package that holds this file names it. */
export function version(folder = __dirname): string {
  const manifest = join(folder, 'package.json');
  if (!existsSync(manifest)) return version(dirname(folder));
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}
