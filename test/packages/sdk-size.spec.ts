import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';

// What the bundle of a bot carries. Every run of the tests sees a byte too many, not the deep one alone.

const ROOT = join(__dirname, '../..');
const place = mkdtempSync(join(tmpdir(), 'lethe-sdk-size-'));
afterAll(() => rmSync(place, { recursive: true }));

const COMMON = { bundle: true, format: 'esm', platform: 'neutral' } as const;

/** The bytes of a bundle with this one line, minified and compressed. */
function bytesOf(contents: string): number {
  const stdin = { contents, resolveDir: place };
  const [file] = buildSync({ ...COMMON, stdin, minify: true, write: false }).outputFiles;
  return gzipSync(file?.contents ?? '').length;
}

it('has a client of at most 12 KB, minified and compressed, and webhooks alone for less than half', () => {
  // As scripts/package.mjs builds it for npm.
  const entryPoints = [join(ROOT, 'packages/sdk/src/index.ts')];
  buildSync({ ...COMMON, entryPoints, target: 'es2022', outfile: join(place, 'index.mjs') });
  const whole = bytesOf(`export * from './index.mjs'`);
  expect(whole).toBeGreaterThan(4_000);
  expect(whole).toBeLessThanOrEqual(12 * 1024);
  expect(bytesOf(`export { createWebhookHandler } from './index.mjs'`)).toBeLessThan(whole / 2);
});
