import fc from '../../support/fast-check';
import { KEYS, SCALARS } from './hostile-values';

/** A JSON text as a tree: scalars and keys are raw text, so that they can also be no JSON, and keys can be given twice. */
export type Node = string | readonly Node[] | Fields;
export interface Fields {
  readonly fields: readonly (readonly [key: string, value: Node])[];
}

const isFields = (node: Node): node is Fields => typeof node === 'object' && 'fields' in node;

export function nodeOf(value: unknown): Node {
  if (Array.isArray(value)) return value.map(nodeOf);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return { fields: Object.entries(value).map(([key, inner]) => [JSON.stringify(key), nodeOf(inner)]) };
}

export function textOf(node: Node): string {
  if (typeof node === 'string') return node;
  if (isFields(node)) return `{${node.fields.map(([key, value]) => `${key}:${textOf(value)}`).join()}}`;
  return `[${node.map(textOf).join()}]`;
}

function size(node: Node): number {
  if (typeof node === 'string') return 1;
  const inner = isFields(node) ? node.fields.map(([, value]) => value) : node;
  return inner.reduce((sum, one) => sum + size(one), 1);
}

/** The tree with the node at a place changed; places count the tree from its root in depth. */
function changedAt(node: Node, place: number, change: (node: Node) => Node): Node {
  if (place === 0) return change(node);
  if (typeof node === 'string') return node;
  let next = place - 1;
  const inner = (value: Node): Node => {
    const [at, count] = [next, size(value)];
    next -= count;
    return at >= 0 && at < count ? changedAt(value, at, change) : value;
  };
  return isFields(node)
    ? { fields: node.fields.map(([key, value]) => [key, inner(value)]) }
    : node.map((value) => inner(value));
}

type Change = (node: Node) => Node;
const scalar = fc.constantFrom(...SCALARS);
const key = fc.constantFrom(...KEYS);

const changeOf: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 8,
    arbitrary: scalar.map(
      (text): Change =>
        () =>
          text,
    ),
  },
  {
    weight: 1,
    arbitrary: fc.jsonValue({ maxDepth: 3 }).map(
      (value): Change =>
        () =>
          nodeOf(value),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Change>(
      (node) => [node],
      (node) => ({ fields: [['"a"', node]] }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(2, 50, 51, 300).map(
      (count): Change =>
        (node) =>
          Array.from({ length: count }, () => node),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.nat(8).map(
      (at): Change =>
        (node) =>
          typeof node === 'object' && isFields(node)
            ? { fields: node.fields.filter((_, index) => index !== at) }
            : node,
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(key, scalar, fc.boolean()).map(([name, value, first]): Change => (node) => {
      if (typeof node !== 'object' || !isFields(node)) return node;
      const added = [name, value] as const;
      return { fields: first ? [added, ...node.fields] : [...node.fields, added] };
    }),
  },
  {
    // A key given twice: the last one counts.
    weight: 2,
    arbitrary: fc.tuple(fc.nat(8), scalar).map(([at, value]): Change => (node) => {
      if (typeof node !== 'object' || !isFields(node) || node.fields.length === 0) return node;
      const [name] = node.fields[at % node.fields.length]!;
      return { fields: [...node.fields, [name, value]] };
    }),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.nat(8), key).map(([at, name]): Change => (node) => {
      if (typeof node !== 'object' || !isFields(node)) return node;
      return { fields: node.fields.map(([old, value], index) => [index === at ? name : old, value]) };
    }),
  },
);

/** Changes one place of a tree, in half of the cases one of the outermost fields. */
export const aTreeChange: fc.Arbitrary<Change> = fc.tuple(fc.oneof(fc.nat(8), fc.nat(60)), changeOf).map(
  ([place, change]): Change =>
    (node) =>
      changedAt(node, place % size(node), change),
);
