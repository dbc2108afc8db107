// node scripts/release.sums.mjs [FOLDER]: refuses a folder of a release that is not what its SHA256SUMS lists, file by file.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The digest (SHA-256, hexadecimal) of each file that SHA256SUMS lists. Without a return where a file differs, or is not listed. */
export function listedIn(folder) {
  const lines = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
  const listed = new Map(lines.map((line) => line.split('  ').reverse()));
  for (const [name, sum] of listed)
    if (
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex') !== sum
    )
      fail(`${name} is not the file of SHA256SUMS. Nothing was published.`);
  const others = readdirSync(folder).filter((name) => name !== 'SHA256SUMS' && !listed.has(name));
  if (others.length > 0) fail(`SHA256SUMS does not list ${others.join(', ')}. Nothing was published.`);
  return listed;
}

export function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

if (process.argv[1] === import.meta.filename)
  listedIn(resolve(process.argv[2] ?? join(import.meta.dirname, '../release')));
