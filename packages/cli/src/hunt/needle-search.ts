import type { Needle } from './spellings';

/** So many first bytes of a needle are compared at each place of a file; every needle has them. */
const HEAD = 8;
const FILTER_BITS = 2 ** 20;
/** Bytes that are shown before and after a hit. */
export const CONTEXT = 32;

/** A needle in a file, with its first place. */
export interface Hit {
  readonly needle: Needle;
  /** In bytes, of what was inflated. */
  readonly offset: number;
  /** From 1 on; null in a file that is no text. */
  readonly line: number | null;
  readonly before: Buffer;
  readonly after: Buffer;
  times: number;
}

/** Thousands of needles, looked for in one pass. */
export class NeedleSearch {
  readonly longest: number;
  private readonly byHead = new Map<string, Needle[]>();
  /** One bit for each hash of a head. */
  private readonly filter = new Uint8Array(FILTER_BITS / 8);

  constructor(needles: readonly Needle[]) {
    for (const needle of needles) {
      const { bytes } = needle;
      if (bytes.length < HEAD) throw new RangeError(`${needle.spelling} is too short`);
      const bit = hashOf(bytes.readUInt32LE(0), bytes.readUInt32LE(4));
      this.filter[bit >>> 3] = (this.filter[bit >>> 3] ?? 0) | (1 << (bit & 7));
      const head = bytes.toString('latin1', 0, HEAD);
      this.byHead.set(head, [...(this.byHead.get(head) ?? []), needle]);
    }
    this.longest = Math.max(HEAD, ...needles.map(({ bytes }) => bytes.length));
  }

  /** Calls `onHit` for each needle that begins at a place from `from` to `last`, and answers the number of line ends there. */
  between(
    content: Buffer,
    from: number,
    last: number,
    onHit: (needle: Needle, at: number, lines: number) => void,
  ): number {
    const { filter } = this;
    let [low, high, lines] = [0, 0, 0];
    for (let at = from; at < from + HEAD; at++) {
      low = (low >>> 8) | (high << 24);
      high = (high >>> 8) | ((content[at] ?? 0) << 24);
    }
    for (let at = from; at <= last; at++) {
      const bit = hashOf(low, high);
      if (((filter[bit >>> 3] as number) & (1 << (bit & 7))) !== 0)
        for (const needle of this.byHead.get(content.toString('latin1', at, at + HEAD)) ?? [])
          if (needle.bytes.equals(content.subarray(at, at + needle.bytes.length))) onHit(needle, at, lines);
      if (content[at] === 10) lines++;
      low = (low >>> 8) | (high << 24);
      high = (high >>> 8) | ((content[at + HEAD] ?? 0) << 24);
    }
    return lines;
  }
}

/**
 * The search of one stream of bytes. It keeps, between two chunks, the longest needle and twice the context: a needle is
 * found wherever the chunks are cut.
 */
export class Scan {
  bytes = 0;
  /** By person, thing and spelling, in the order in which they were found. */
  private readonly found = new Map<string, Hit>();
  private rest = Buffer.alloc(0);
  /** The place in the stream of the first byte of `rest`, and the first place in it that was not looked at. */
  private base = 0;
  private next = 0;
  private lines = 0;
  private isText = true;

  constructor(private readonly search: NeedleSearch) {}

  get hits(): Hit[] {
    return [...this.found.values()].map((hit) => (this.isText ? hit : { ...hit, line: null }));
  }

  feed(chunk: Uint8Array): void {
    this.bytes += chunk.length;
    if (this.isText) this.isText = !chunk.includes(0);
    const content = Buffer.concat([this.rest, chunk]);
    this.look(content, content.length - this.search.longest - CONTEXT);
    const kept = Math.max(0, this.next - CONTEXT);
    this.rest = Buffer.from(content.subarray(kept));
    this.base += kept;
    this.next -= kept;
  }

  end(): void {
    this.look(this.rest, this.rest.length - 1);
  }

  private look(content: Buffer, last: number): void {
    if (last < this.next) return;
    this.lines += this.search.between(content, this.next, last, (needle, at, lines) => {
      const key = `${needle.person} ${needle.spelling} ${needle.about}`;
      const known = this.found.get(key);
      if (known !== undefined) {
        known.times++;
        return;
      }
      const end = at + needle.bytes.length;
      this.found.set(key, {
        ...{ needle, offset: this.base + at, line: this.lines + lines + 1, times: 1 },
        before: Buffer.from(content.subarray(Math.max(0, at - CONTEXT), at)),
        after: Buffer.from(content.subarray(end, end + CONTEXT)),
      });
    });
    this.next = last + 1;
  }
}

function hashOf(low: number, high: number): number {
  const mixed = Math.imul(low, 0x9e3779b1) ^ Math.imul(high, 0x85ebca6b);
  return (mixed ^ (mixed >>> 15)) & (FILTER_BITS - 1);
}
