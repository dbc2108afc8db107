import { Readable, pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** A tar header has its mark within so many bytes. */
const HEAD = 512;
const NESTED_MAX = 3;
const GZIP = /^\x1f\x8b\x08/;
const CLOSED: readonly (readonly [begin: RegExp, name: string])[] = [
  [/^PK\x03\x04/, 'a zip archive'],
  [/^\xfd7zXZ\x00/, 'compressed by xz'],
  [/^\x28\xb5\x2f\xfd/, 'compressed by zstd'],
  [/^BZh[1-9]1AY&SY/, 'compressed by bzip2'],
  [/^7z\xbc\xaf\x27\x1c/, 'a 7z archive'],
  [/^\x04\x22\x4d\x18/, 'compressed by lz4'],
  [/^PGDMP/, 'a compressed dump of pg_dump; make one with --format=plain'],
];

type Bytes = AsyncIterable<Buffer>;

/**
 * Gives `onBytes` what a stream contains, inflated where it is gzip. Answers what of it was not read, in words; what
 * is compressed otherwise is given as it is. Rejects where the data is damaged.
 */
export async function inflated(
  source: Bytes,
  onBytes: (chunk: Buffer) => void,
  depth = 0,
): Promise<string[]> {
  const { head, all } = await begun(source);
  const begin = head.toString('latin1');
  if (GZIP.test(begin)) {
    if (depth < NESTED_MAX) return gunzipped(all, onBytes, depth);
    return ['it is gzip in gzip in gzip'];
  }
  const closed = closedAs(begin);
  const tar = begin.slice(257, 262) === 'ustar' ? new TarMembers() : undefined;
  for await (const chunk of all) {
    tar?.feed(chunk);
    onBytes(chunk);
  }
  return [...(closed === undefined ? [] : [`it is ${closed}`]), ...(tar?.unread ?? [])];
}

const closedAs = (begin: string): string | undefined => CLOSED.find(([mark]) => mark.test(begin))?.[1];

async function gunzipped(all: Bytes, onBytes: (chunk: Buffer) => void, depth: number): Promise<string[]> {
  const gunzip = createGunzip();
  const source = all[Symbol.asyncIterator]();
  /** `bytes` is up to the last byte that is no padding. */
  let [bytes, bytesRead] = [0, 0];
  const measured = async function* (): AsyncGenerator<Buffer> {
    for (let next = await source.next(); next.done !== true; next = await source.next()) {
      const last = next.value.findLastIndex((byte) => byte !== 0);
      if (last >= 0) bytes = bytesRead + last + 1;
      bytesRead += next.value.length;
      yield next.value;
    }
  };
  try {
    // A fault of either end ends the iteration with it.
    pipeline(Readable.from(measured()), gunzip, () => undefined);
    const unread = await inflated(gunzip, onBytes, depth + 1);
    // From a zero on gunzip takes all that follows for padding, and reads no more.
    const rest = measured();
    while ((await rest.next()).done !== true);
    return bytes > gunzip.bytesWritten
      ? [...unread, 'something that is no gzip follows its gzip data']
      : unread;
  } finally {
    await source.return?.();
  }
}

/** The first bytes of a stream, and the whole of it. */
async function begun(source: Bytes): Promise<{ head: Buffer; all: Bytes }> {
  const chunks = source[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  for (let isEnd = false; !isEnd && head.length < HEAD;) {
    const next = await chunks.next();
    if (next.done === true) isEnd = true;
    else head = Buffer.concat([head, next.value]);
  }
  const all = async function* (): AsyncGenerator<Buffer> {
    yield head;
    yield* { [Symbol.asyncIterator]: () => chunks };
  };
  return { head, all: all() };
}

const BLOCK = 512;
/** Enough of the content of a member to know how it is compressed. */
const PEEK = 16;

/** Looks at the members of a tar archive that passes by, for those that are compressed. */
class TarMembers {
  readonly unread: string[] = [];
  private held = Buffer.alloc(0);
  private skip = 0;
  private isOver = false;

  feed(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0 && !this.isOver) {
      const skipped = Math.min(this.skip, rest.length);
      this.skip -= skipped;
      rest = rest.subarray(skipped);
      const wanted = rest.subarray(0, BLOCK + PEEK - this.held.length);
      rest = rest.subarray(wanted.length);
      this.held = Buffer.concat([this.held, wanted]);
      if (this.held.length === BLOCK + PEEK) this.member();
    }
  }

  private member(): void {
    const header = this.held.toString('latin1');
    const name = header.slice(0, 100).split('\0')[0];
    const size = parseInt(header.slice(124, 136), 8);
    if (name === '' || Number.isNaN(size)) {
      // Two blocks of zeros end an archive. A size of another form is that of a member above 8 GB.
      this.isOver = true;
      if (name !== '') this.say('members after a very large one were not looked into');
      return;
    }
    const content = header.slice(BLOCK);
    const how = GZIP.test(content) ? 'gzip' : closedAs(content);
    if (size > 0 && how !== undefined) this.say(`its member ${name} is ${how}`);
    // Without content the next header follows at once.
    this.held = size === 0 ? this.held.subarray(BLOCK) : Buffer.alloc(0);
    this.skip = size === 0 ? 0 : Math.ceil(size / BLOCK) * BLOCK - PEEK;
  }

  private say(what: string): void {
    if (this.unread.length < 10) this.unread.push(what);
  }
}
