import { relative } from 'node:path';
import { contentOf, filesBelow } from './traces';

/** Every needle has at least so many bytes; its first ones are compared at each place of a file. */
const HEAD = 8;
/** A run of twice this length, less one, in a file contains at least one whole piece of a long needle. */
const PIECE = 12;
const FILTER_BITS = 2 ** 24;

/** How many needles of each kind a file contains, by `FILE: KIND`. Empty when nothing was found. */
export type Findings = Readonly<Record<string, number>>;

/** Looks for many thousand needles in one pass over a file. */
export class ByteSearch {
  private readonly byHead = new Map<string, { kind: string; bytes: Buffer }[]>();
  /** One bit for each hash of a head. */
  private readonly filter = new Uint8Array(FILTER_BITS / 8);

  /** Looks for these bytes as a whole. */
  add(kind: string, needle: string | Buffer): void {
    const bytes = Buffer.from(needle as string);
    if (bytes.length < HEAD) throw new Error('the needle is too short');
    const head = bytes.toString('latin1', 0, HEAD);
    const bit = hashOf(bytes.readUInt32LE(0), bytes.readUInt32LE(4));
    this.filter[bit >>> 3] = (this.filter[bit >>> 3] ?? 0) | (1 << (bit & 7));
    const known = this.byHead.get(head);
    if (known === undefined) this.byHead.set(head, [{ kind, bytes }]);
    else known.push({ kind, bytes });
  }

  /** Looks for any run of 23 bytes of these, since a text can continue on another page. */
  addPieces(kind: string, needle: string | Buffer): void {
    const bytes = Buffer.from(needle as string);
    for (let at = 0; at + PIECE <= bytes.length; at += PIECE) this.add(kind, bytes.subarray(at, at + PIECE));
  }

  /** The number of different needles of each kind. */
  in(content: Buffer): ReadonlyMap<string, number> {
    const found = new Set<{ kind: string }>();
    const { filter } = this;
    let [low, high] = [0, 0];
    for (let end = 0; end < content.length; end++) {
      low = (low >>> 8) | (high << 24);
      high = (high >>> 8) | ((content[end] as number) << 24);
      const bit = hashOf(low, high);
      if (((filter[bit >>> 3] as number) & (1 << (bit & 7))) === 0 || end < HEAD - 1) continue;
      const at = end - HEAD + 1;
      for (const needle of this.byHead.get(content.toString('latin1', at, at + HEAD)) ?? [])
        if (needle.bytes.equals(content.subarray(at, at + needle.bytes.length))) found.add(needle);
    }
    const counts = new Map<string, number>();
    for (const { kind } of found) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return counts;
  }

  /** Searches every file below the directories. A file that is removed meanwhile, as in a running server, is left out. */
  below(...directories: readonly string[]): Findings {
    const findings: Record<string, number> = {};
    for (const directory of directories)
      for (const path of filesBelow(directory))
        for (const [kind, count] of this.in(contentOf(path)))
          findings[`${relative(directory, path)}: ${kind}`] = count;
    return findings;
  }
}

/** The findings of these kinds. */
export function ofKinds(findings: Findings | undefined, ...kinds: readonly string[]): Findings {
  if (findings === undefined) throw new Error('there was no search');
  return Object.fromEntries(
    Object.entries(findings).filter(([place]) => kinds.some((kind) => place.endsWith(`: ${kind}`))),
  );
}

function hashOf(low: number, high: number): number {
  const mixed = Math.imul(low, 0x9e3779b1) ^ Math.imul(high, 0x85ebca6b);
  return (mixed ^ (mixed >>> 15)) & (FILTER_BITS - 1);
}
