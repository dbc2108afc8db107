import { readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { isThere } from '@app/kernel';

/** One file of the console as it is sent. */
interface ConsoleFile {
  readonly type: string;
  readonly body: Buffer;
  /** The value of `Cache-Control`. */
  readonly caching: string;
}

/** Names of assets contain their digest. */
const ASSET_CACHING = 'public, max-age=31536000, immutable';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The pages that Vite builds, by their paths. */
const PAGES: Readonly<Record<string, string>> = { '/console': 'index.html', '/verify': 'verify.html' };

/** The page loads files of this service only, and runs no script in its text. */
export const CONSOLE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

/**
 * The files of the built console and of the page `/verify` by their paths, read once; undefined if they were not built.
 * Every other path below `/console` is a page of the console, and gets `index.html`.
 */
@Injectable()
export class ConsoleFiles {
  /** The folder of the built files. */
  folder = builtFolder(__dirname);
  private files: ReadonlyMap<string, ConsoleFile> | undefined;

  find(path: string): ConsoleFile | undefined {
    this.files ??= this.read();
    const isPage = path.startsWith('/console/') && !path.startsWith('/console/assets/');
    return this.files.get(path) ?? (isPage ? this.files.get('/console') : undefined);
  }

  private read(): ReadonlyMap<string, ConsoleFile> {
    const { folder } = this;
    if (folder === undefined) return new Map();
    const files = new Map<string, ConsoleFile>();
    for (const name of readdirSync(join(folder, 'assets')))
      files.set(`/console/assets/${name}`, fileAt(join(folder, 'assets', name), ASSET_CACHING));
    for (const [path, name] of Object.entries(PAGES))
      if (isThere(join(folder, name))) files.set(path, fileAt(join(folder, name), 'no-cache'));
    return files;
  }
}

function fileAt(path: string, caching: string): ConsoleFile {
  return { type: TYPES[extname(path)] ?? 'application/octet-stream', body: readFileSync(path), caching };
}

/** The folder `console` of the build, beside a folder that contains this file. */
function builtFolder(from: string): string | undefined {
  const folder = join(from, 'console');
  if (isThere(join(folder, 'index.html')) && isThere(join(folder, 'assets'))) return folder;
  return dirname(from) === from ? undefined : builtFolder(dirname(from));
}
