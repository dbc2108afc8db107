import { createHash, hash } from 'node:crypto';

/** The prefix that separates leaves from nodes of the tree (RFC 9162, section 2.1.1). */
const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);

/** The hash of one entry of a tree. */
export function leafHash(entry: Buffer): Buffer {
  return sha256(Buffer.concat([LEAF, entry]));
}

/** The hash of all leaves in their order: Merkle Tree Hash of RFC 9162, section 2.1.1. */
export function merkleRoot(leaves: readonly Buffer[]): Buffer {
  const [first] = leaves;
  if (first === undefined) return createHash('sha256').digest();
  let level = leaves;
  while (level.length > 1) level = nextLevel(level);
  return level[0] ?? first;
}

/** The hashes that lead from a leaf to the root, from the leaf upwards (RFC 9162, section 2.1.3.1). */
export function inclusionPath(leaves: readonly Buffer[], index: number): Buffer[] {
  const path: Buffer[] = [];
  let at = index;
  for (let level = leaves; level.length > 1; level = nextLevel(level)) {
    const sibling = level[at ^ 1];
    // The last node of an odd level has no sibling and moves up unchanged.
    if (sibling !== undefined) path.push(sibling);
    at >>= 1;
  }
  return path;
}

/** Whether the path leads from the leaf at `index` of `size` leaves to the root (RFC 9162, section 2.1.3.2). */
export function isIncluded(
  { leaf, index, size }: { readonly leaf: Buffer; readonly index: number; readonly size: number },
  path: readonly Buffer[],
  root: Buffer,
): boolean {
  if (index < 0 || index >= size) return false;
  let reached = leaf;
  let at = index;
  let last = size - 1;
  const left = [...path];
  for (; last > 0; at >>= 1, last >>= 1) {
    if (at % 2 === 0 && at === last) continue;
    const sibling = left.shift();
    if (sibling === undefined) return false;
    reached = at % 2 === 1 ? nodeHash(sibling, reached) : nodeHash(reached, sibling);
  }
  return left.length === 0 && reached.equals(root);
}

function nextLevel(level: readonly Buffer[]): Buffer[] {
  const above: Buffer[] = [];
  for (let at = 0; at < level.length; at += 2) {
    const [left, right] = [level[at], level[at + 1]];
    if (left !== undefined) above.push(right === undefined ? left : nodeHash(left, right));
  }
  return above;
}

function nodeHash(left: Buffer, right: Buffer): Buffer {
  return sha256(Buffer.concat([NODE, left, right]));
}

/** One call that returns a text takes a third of the time of a hash object. */
export function sha256(bytes: Buffer): Buffer {
  return Buffer.from(hash('sha256', bytes, 'binary'), 'latin1');
}
