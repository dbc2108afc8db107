import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { bytesOf, faultOf, filesBelow } from './files-below';
import { inflated } from './inflated';

async function read(content: Buffer, chunkBytes = 100) {
  const source = async function* (): AsyncGenerator<Buffer> {
    for (let at = 0; at < content.length; at += chunkBytes) yield content.subarray(at, at + chunkBytes);
  };
  const chunks: Buffer[] = [];
  const unread = await inflated(Readable.from(source()), (chunk) => chunks.push(chunk)).catch(
    (error: unknown) => [faultOf(error)],
  );
  return { text: Buffer.concat(chunks).toString('latin1'), unread };
}

const TEXT = 'a canary in a log\n'.repeat(400);

describe('what lethe hunt reads of a file', () => {
  it.each([1, 7, 512, 65_536])('is the whole of it, in chunks of %d bytes', async (chunkBytes) => {
    expect(await read(Buffer.from(TEXT), chunkBytes)).toEqual({ text: TEXT, unread: [] });
    expect(await read(gzipSync(TEXT), chunkBytes)).toEqual({ text: TEXT, unread: [] });
  });

  it('is nothing of an empty one', async () => {
    expect(await read(Buffer.alloc(0))).toEqual({ text: '', unread: [] });
  });

  it('is every member of a gzip file, and what is gzip inside', async () => {
    const two = Buffer.concat([gzipSync(TEXT), gzipSync('second')]);
    expect(await read(two)).toEqual({ text: `${TEXT}second`, unread: [] });
    expect(await read(gzipSync(gzipSync(TEXT)))).toEqual({ text: TEXT, unread: [] });
    const deep = gzipSync(gzipSync(gzipSync(gzipSync(TEXT))));
    expect((await read(deep)).unread).toEqual(['it is gzip in gzip in gzip']);
  });

  it('is said where gzip data is damaged, cut off, or followed by something else', async () => {
    const whole = gzipSync(TEXT);
    const damaged = Buffer.from(whole);
    damaged[20] = (damaged[20] ?? 0) ^ 0xff;
    expect((await read(damaged)).unread).toEqual([expect.stringContaining('damaged')]);
    expect((await read(whole.subarray(0, -12))).unread).toEqual([expect.stringContaining('damaged')]);
    for (const chunkBytes of [1, whole.length, 100_000]) {
      const followed = await read(Buffer.concat([whole, Buffer.from('an appended line')]), chunkBytes);
      expect(followed.unread).toEqual([expect.stringContaining('damaged')]);
      const padded = await read(Buffer.concat([whole, Buffer.alloc(700)]), chunkBytes);
      expect(padded).toEqual({ text: TEXT, unread: [] });
      const hidden = Buffer.concat([
        whole,
        Buffer.alloc(7000),
        Buffer.from('an appended line'),
        Buffer.alloc(9),
      ]);
      expect((await read(hidden, chunkBytes)).unread).toEqual([expect.stringMatching(/damaged|follows/)]);
    }
  });

  it.each([
    ['a zip archive', 'PK\x03\x04'],
    ['compressed by xz', '\xfd7zXZ\x00'],
    ['compressed by zstd', '\x28\xb5\x2f\xfd'],
    ['compressed by bzip2', 'BZh91AY&SY'],
    ['a 7z archive', '7z\xbc\xaf\x27\x1c'],
    ['compressed by lz4', '\x04\x22\x4d\x18'],
    ['a compressed dump of pg_dump', 'PGDMP'],
  ])('is not the inside of %s, which is said', async (name, begin) => {
    const content = Buffer.from(`${begin} and a name in plain`, 'latin1');
    expect(await read(content)).toEqual({
      text: content.toString('latin1'),
      unread: [expect.stringContaining(`it is ${name}`)],
    });
  });

  it('is what a tar archive has in plain; a compressed member is said', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lethe-hunt-tar-'));
    writeFileSync(join(folder, 'empty'), '');
    writeFileSync(join(folder, 'plain.log'), TEXT);
    writeFileSync(join(folder, 'old.log.gz'), gzipSync('old'));
    const names = ['empty', 'plain.log', 'empty', 'old.log.gz', 'plain.log'];
    const tar = spawnSync('tar', ['-c', '-C', folder, ...names]).stdout;
    rmSync(folder, { recursive: true });
    for (const chunkBytes of [1, 511, 100_000]) {
      const { text, unread } = await read(tar, chunkBytes);
      expect(text).toBe(tar.toString('latin1'));
      expect(unread).toEqual(['its member old.log.gz is gzip']);
    }
    expect((await read(gzipSync(tar))).unread).toEqual(['its member old.log.gz is gzip']);
  });
});

describe('the files that lethe hunt finds', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'lethe-hunt-files-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  async function below(path = folder) {
    const all = [];
    for await (const met of filesBelow(path)) all.push({ ...met, file: relative(folder, met.file) });
    return all.sort((one, other) => one.file.localeCompare(other.file));
  }

  it('are those of every folder; a link below is said and not followed, so that a loop ends', async () => {
    mkdirSync(join(folder, 'a/b'), { recursive: true });
    writeFileSync(join(folder, 'a/b/c.log'), '');
    symlinkSync(folder, join(folder, 'a/b/loop'));
    symlinkSync('missing', join(folder, 'dangling'));
    const link = { isLink: true, unread: 'a link is not followed' };
    expect(await below()).toEqual([
      ...[{ file: 'a/b/c.log' }, { file: 'a/b/loop', ...link }, { file: 'dangling', ...link }],
    ]);
    expect(await below(join(folder, 'a/b/loop/a/b/c.log'))).toEqual([{ file: 'a/b/loop/a/b/c.log' }]);
  });

  it('says what is missing, in a loop of links, or no file', async () => {
    symlinkSync('itself', join(folder, 'itself'));
    expect(await below(join(folder, 'itself'))).toMatchObject([{ unread: 'it cannot be read (ELOOP)' }]);
    expect(await below(join(folder, 'none'))).toMatchObject([{ unread: 'it cannot be read (ENOENT)' }]);
    spawnSync('mkfifo', [join(folder, 'pipe')]);
    expect(await below()).toMatchObject([{ file: 'itself' }, { file: 'pipe', unread: 'it is no file' }]);
  });

  it('says which file could not be read', async () => {
    const file = join(folder, 'closed');
    writeFileSync(file, 'x');
    chmodSync(file, 0);
    // The superuser reads every file but this one.
    const unreadable = process.getuid?.() === 0 ? '/proc/self/mem' : file;
    const unread = await inflated(bytesOf(unreadable), () => undefined).catch((error: unknown) =>
      faultOf(error),
    );
    expect(unread).toMatch(/^it cannot be read \((EACCES|EIO)\)$/);
  });
});
