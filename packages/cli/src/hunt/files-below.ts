import { createReadStream } from 'node:fs';
import { lstat, opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The most bytes of a file in memory at once, beside what is inflated of them. */
const CHUNK_BYTES = 256 * 1024;

/** Something that was met below a path: a file, or what is not one and why. */
export type Met =
  { readonly file: string } | { readonly file: string; readonly unread: string; readonly isLink?: true };

/** The files at a path and below it. A link that is named is followed, a link below is not. Never rejects. */
export async function* filesBelow(path: string): AsyncGenerator<Met, void, undefined> {
  yield* met(path, true);
}

async function* met(path: string, isNamed: boolean): AsyncGenerator<Met, void, undefined> {
  try {
    const found = await (isNamed ? stat(path) : lstat(path));
    if (found.isDirectory())
      for await (const { name } of await opendir(path)) yield* met(join(path, name), false);
    else if (found.isFile() || (isNamed && (found.isFIFO() || found.isCharacterDevice())))
      yield { file: path };
    else if (found.isSymbolicLink()) yield { file: path, unread: 'a link is not followed', isLink: true };
    else yield { file: path, unread: 'it is no file' };
  } catch (error) {
    yield { file: path, unread: faultOf(error) };
  }
}

export const bytesOf = (file: string): AsyncIterable<Buffer> =>
  createReadStream(file, { highWaterMark: CHUNK_BYTES });

/** A fault of a file, without its path. */
export function faultOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (code.startsWith('Z_')) return `its gzip data is damaged (${message})`;
  return code === '' ? message : `it cannot be read (${code})`;
}
