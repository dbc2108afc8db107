import fc from '../../support/fast-check';
import { bodyOf, type Operation, OPERATIONS, parameterOf } from './grammar';
import { HEADERS, PIECES } from './hostile-parts';
import { aTreeChange, type Node, textOf } from './json-text';

/** A request as it is sent, with placeholders (`zzBOTzz`) for what the tenant knows. */
export interface Asked {
  readonly operation: Operation;
  readonly method: string;
  readonly target: string;
  /** Header lines in Latin-1, without the length of the body. */
  readonly headers: readonly string[];
  readonly body?: Node;
  /** The length to which the body is filled with spaces. */
  readonly padTo: number;
  /** Changes of the bytes of the body, each at a place. */
  readonly cuts: readonly Cut[];
  readonly framing: Framing;
}

interface Cut {
  readonly at: number;
  readonly remove: number;
  readonly insert: string;
}

/** How the length of the body is announced: right, in chunks, not at all, too small or too large. */
type Framing = 'length' | 'chunked' | 'none' | 'short' | 'long' | 'twice';

const AUTHORIZATION = 'Authorization: Bearer zzKEYzz';
const OF_OPERATOR = 'Authorization: Bearer zzOPERATORzz';
const JSON_TYPE = 'Content-Type: application/json';

/** A request that openapi.json describes, to one of its operations. */
const aValidRequest: fc.Arbitrary<Asked> = fc.constantFrom(...OPERATIONS).chain((operation) =>
  fc
    .tuple(fc.tuple(...operation.parameters.map((one) => parameterOf(operation, one))), bodyOf(operation))
    .map(([values, body]) => ({
      operation,
      method: operation.method,
      target: targetOf(operation, values),
      headers: [
        operation.isOfOperator ? OF_OPERATOR : AUTHORIZATION,
        ...(body === undefined ? [] : [JSON_TYPE]),
      ],
      ...(body !== undefined && { body }),
      padTo: 0,
      cuts: [],
      framing: body === undefined ? 'none' : 'length',
    })),
);

function targetOf({ template, parameters }: Operation, values: readonly (string | undefined)[]): string {
  let path = template;
  const query: string[] = [];
  for (const [at, { in: place, name }] of parameters.entries()) {
    const value = values[at];
    if (value === undefined) continue;
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    else query.push(`${name}=${encodeURIComponent(value)}`);
  }
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}

const METHODS = 'GET HEAD POST PUT DELETE PATCH OPTIONS TRACE PROPFIND QUERY M-SEARCH'.split(' ');

type Change = (asked: Asked) => Asked;

const spliced = (text: string, at: number, remove: number, insert: string): string => {
  const place = at % (text.length + 1);
  return text.slice(0, place) + insert + text.slice(place + remove);
};

/** Bytes in Latin-1: some are no UTF-8, some no JSON. */
const BYTES = [
  '',
  ...'\0 \x80 \xc0\xaf \xed\xa0\x80 \xf0\x9f \xef\xbb\xbf , " \\ \\u } {"a": [ /**/ \n :'.split(' '),
];

const aCut = fc.record({
  at: fc.nat(400),
  remove: fc.constantFrom(0, 0, 1, 2, 1000),
  insert: fc.oneof(fc.constantFrom(...BYTES), fc.string({ unit: 'binary-ascii', maxLength: 3 })),
});

const aChange: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 12,
    arbitrary: aTreeChange.map((change): Change => (asked) => ({
      ...asked,
      ...(asked.body !== undefined && { body: change(asked.body) }),
    })),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(...HEADERS)
      .map((line): Change => (asked) => ({ ...asked, headers: replaced(asked.headers, line) })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(...HEADERS)
      .map((line): Change => (asked) => ({ ...asked, headers: [...asked.headers, line] })),
  },
  {
    weight: 1,
    arbitrary: fc.nat(1).map((at): Change => (asked) => ({
      ...asked,
      headers: asked.headers.filter((_, index) => index !== at),
    })),
  },
  {
    weight: 5,
    arbitrary: fc
      .tuple(
        fc.nat(120),
        fc.constantFrom(0, 0, 0, 1, 20),
        fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary-ascii', maxLength: 2 })),
      )
      .map(([at, remove, piece]): Change => (asked) => ({
        ...asked,
        target: spliced(asked.target, at, remove, piece.replace(/[\r\n ]/g, '_')),
      })),
  },
  { weight: 2, arbitrary: aCut.map((cut): Change => (asked) => ({ ...asked, cuts: [...asked.cuts, cut] })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...METHODS).map((method): Change => (asked) => ({ ...asked, method })),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom<Framing>('chunked', 'chunked', 'none', 'short', 'long', 'twice')
      .map((framing): Change => (asked) => ({ ...asked, framing })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(262_143, 262_144, 262_145, 300_000).map((length): Change => (asked) => ({
      ...asked,
      padTo: length,
    })),
  },
);

/** Puts a header in the place of those with the same name. */
function replaced(headers: readonly string[], line: string): string[] {
  const name = line.split(':')[0]?.toLowerCase();
  return [...headers.filter((one) => one.split(':')[0]?.toLowerCase() !== name), line];
}

/** A request that is valid in a third of the cases, and has up to three faults in the others. */
export const aRequest: fc.Arbitrary<Asked> = fc
  .tuple(
    aValidRequest,
    fc.oneof(
      fc.constant([]),
      fc.array(aChange, { minLength: 1, maxLength: 1 }),
      fc.array(aChange, { maxLength: 3 }),
    ),
  )
  .map(([asked, changes]) => changes.reduce((changed, change) => change(changed), asked));

/** The body as it is sent, before it is framed. */
function bodyBytes({ body, padTo, cuts }: Asked, fill: (text: string) => string): Buffer {
  const text = body === undefined ? '' : fill(textOf(body));
  const padding = ' '.repeat(Math.max(0, padTo - Buffer.byteLength(text)));
  let bytes = Buffer.from(padding + text, 'utf8');
  for (const { at, remove, insert } of cuts) {
    const place = at % (bytes.length + 1);
    bytes = Buffer.concat([
      bytes.subarray(0, place),
      Buffer.from(insert, 'latin1'),
      bytes.subarray(place + remove),
    ]);
  }
  return bytes;
}

export interface Message {
  readonly bytes: Buffer;
  readonly body: Buffer;
  /** Whether the bytes are one whole message. */
  readonly complete: boolean;
}

export function messageOf(asked: Asked, fill: (text: string) => string): Message {
  const body = bodyBytes(asked, fill);
  const { framing, headers, method, target } = asked;
  const host = headers.some((line) => /^host:/i.test(line)) ? [] : ['Host: localhost'];
  const framed = framing === 'chunked' ? chunked(body) : body;
  const lines = [...host, 'Connection: close', ...headers.map(fill), ...lengths(framing, body.length)];
  const head = [`${method} ${fill(target)} HTTP/1.1`, ...lines, '', ''].join('\r\n');
  const complete = framing === 'length' || framing === 'chunked' || (framing === 'none' && body.length === 0);
  return {
    bytes: Buffer.concat([Buffer.from(head, 'latin1'), framed]),
    body: framing === 'short' ? body.subarray(0, -3) : body,
    complete,
  };
}

function lengths(framing: Framing, length: number): string[] {
  if (framing === 'none') return [];
  if (framing === 'chunked') return ['Transfer-Encoding: chunked'];
  const announced = { length, short: Math.max(0, length - 3), long: length + 3, twice: length }[framing];
  return [`Content-Length: ${announced}`, ...(framing === 'twice' ? [`Content-Length: ${length + 1}`] : [])];
}

function chunked(body: Buffer): Buffer {
  const middle = body.length >> 1;
  const chunks = [body.subarray(0, middle), body.subarray(middle)].filter(({ length }) => length > 0);
  const parts = chunks.flatMap((chunk) => [
    Buffer.from(`${chunk.length.toString(16)}\r\n`),
    chunk,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}
