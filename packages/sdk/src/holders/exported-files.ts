import { lstat, readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { Exported, Room } from './store';

/** The largest file whose content is in an export. */
const CONTENT_MAX_BYTES = 32_768;

/** The entries of files and of all files in folders: name, size, and the content in base64 where it is small. No link is followed. */
export async function filesWithin(
  top: string,
  paths: readonly string[],
  { rows: most, bytes }: Room,
): Promise<Exported> {
  const rows: object[] = [];
  let left = bytes;
  let left_out = 0;
  for await (const path of walked(paths)) {
    if (rows.length === most) {
      left_out += 1;
      continue;
    }
    const found = await lstat(path);
    const about = { name: relative(top, path).split(sep).join('/'), size: found.size };
    if (found.isFile() && found.size <= Math.min(CONTENT_MAX_BYTES, left)) {
      const content = (await readFile(path)).toString('base64');
      rows.push({ ...about, content });
      left -= content.length;
    } else rows.push({ ...about, left_out: 'content' });
  }
  return { rows, left_out };
}

async function* walked(paths: readonly string[]): AsyncGenerator<string> {
  for (const path of paths) {
    if (!(await lstat(path)).isDirectory()) yield path;
    else yield* walked((await readdir(path)).sort().map((name) => join(path, name)));
  }
}
