import { createHash } from 'node:crypto';
import { inclusionPath, merkleRoot } from './merkle';

const digest = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
const leafHash = (entry: Buffer) => digest(Buffer.of(0), entry);
const nodeHash = (left: Buffer, right: Buffer) => digest(Buffer.of(1), left, right);

/** The definition of RFC 6962, section 2.1, literally: split at the largest power of two below n. */
function rootByDefinition(entries: readonly Buffer[]): Buffer {
  const [first = Buffer.alloc(0)] = entries;
  if (entries.length === 0) return digest();
  if (entries.length === 1) return leafHash(first);
  const split = splitOf(entries.length);
  return nodeHash(rootByDefinition(entries.slice(0, split)), rootByDefinition(entries.slice(split)));
}

/** PATH(m, D[n]) of RFC 6962 section 2.1.1. */
function pathByDefinition(index: number, entries: readonly Buffer[]): Buffer[] {
  if (entries.length === 1) return [];
  const split = splitOf(entries.length);
  const [left, right] = [entries.slice(0, split), entries.slice(split)];
  return index < split
    ? [...pathByDefinition(index, left), rootByDefinition(right)]
    : [...pathByDefinition(index - split, right), rootByDefinition(left)];
}

/** Whether the path leads from the leaf at `index` of `size` leaves to the root (RFC 9162, section 2.1.3.2). */
function isIncluded(
  { leaf, index, size }: { readonly leaf: Buffer; readonly index: number; readonly size: number },
  path: readonly Buffer[],
  root: Buffer,
): boolean {
  if (index < 0 || index >= size) return false;
  let reached = leaf;
  const left = [...path];
  for (let at = index, last = size - 1; last > 0; at >>= 1, last >>= 1) {
    if (at % 2 === 0 && at === last) continue;
    const sibling = left.shift();
    if (sibling === undefined) return false;
    reached = at % 2 === 1 ? nodeHash(sibling, reached) : nodeHash(reached, sibling);
  }
  return left.length === 0 && reached.equals(root);
}

function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

/** The entries of the reference tests of Certificate Transparency, and the roots of their prefixes. */
const REFERENCE = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];
const ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

const entriesOf = (size: number) => Array.from({ length: size }, (_, at) => Buffer.from(`entry ${at}`));

/** Every shape of a tree of up to seven levels: all small sizes, and those around a power of two. */
const SIZES = [...Array.from({ length: 17 }, (_, at) => at + 1), 31, 32, 33, 47, 63, 64, 65, 70];

describe('merkleRoot', () => {
  it.each(ROOTS.map((root, size) => [size, root]))(
    'gives the reference root of %i entries of Certificate Transparency',
    (size, root) => {
      const entries = REFERENCE.slice(0, Number(size)).map((hex) => Buffer.from(hex, 'hex'));
      expect(merkleRoot(entries.map(leafHash)).toString('hex')).toBe(root);
    },
  );

  it('is the recursive definition of RFC 6962 for every size to 70', () => {
    for (let size = 0; size <= 70; size++) {
      const entries = entriesOf(size);
      expect(merkleRoot(entries.map(leafHash))).toEqual(rootByDefinition(entries));
    }
  });

  it('depends on the order of the leaves', () => {
    const [a, b, c] = entriesOf(3).map(leafHash) as [Buffer, Buffer, Buffer];
    expect(merkleRoot([a, b, c])).not.toEqual(merkleRoot([b, a, c]));
    expect(merkleRoot([a, b, c])).not.toEqual(merkleRoot([a, c, b]));
  });
});

describe('inclusionPath', () => {
  it('is the path of RFC 6962, and verifies, for every leaf of each shape to 70', () => {
    for (const size of SIZES) {
      const entries = entriesOf(size);
      const leaves = entries.map(leafHash);
      const root = merkleRoot(leaves);
      const paths = leaves.map((_, index) => inclusionPath(leaves, index));
      expect(hex(paths)).toEqual(hex(entries.map((_, index) => pathByDefinition(index, entries))));
      const included = leaves.map((leaf, index) =>
        isIncluded({ leaf, index, size }, paths[index] ?? [], root),
      );
      expect(included.every(Boolean)).toBe(true);
    }
  });

  it('verifies with no byte of leaf, path or root changed, and at no other place', () => {
    for (const size of SIZES) {
      const leaves = entriesOf(size).map(leafHash);
      const root = merkleRoot(leaves);
      const passed = leaves.flatMap((leaf, index) => {
        const path = inclusionPath(leaves, index);
        const at = { leaf, index, size };
        return [
          isIncluded({ ...at, leaf: flipped(leaf, index % 32) }, path, root),
          isIncluded(at, path, flipped(root, index % 32)),
          ...path.flatMap((step, place) =>
            [0, 31].map((byte) => isIncluded(at, path.with(place, flipped(step, byte)), root)),
          ),
          ...[index - 1, index + 1, size].map((other) => isIncluded({ ...at, index: other }, path, root)),
          isIncluded(at, [...path, root], root),
          path.length > 0 && isIncluded(at, path.slice(1), root),
        ];
      });
      expect([size, passed.filter(Boolean).length]).toEqual([size, 0]);
    }
  });
});

const hex = (paths: readonly Buffer[][]): string[][] =>
  paths.map((path) => path.map((step) => step.toString('hex')));

function flipped(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[at] = changed.readUInt8(at) ^ 1;
  return changed;
}
