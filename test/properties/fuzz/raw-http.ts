import fc from '../../support/fast-check';

/** A piece of what is sent on one connection, with placeholders; `%` is the number of the piece. */
type Piece = string;

const HOST = 'Host: localhost\r\n';
const KEY = 'Authorization: Bearer zzKEYzz\r\n';
const ID = 'X-Request-Id: r%\r\n';
const get = (more = '', line = 'GET /api/v1/bots/zzBOTzz HTTP/1.1'): Piece =>
  `${line}\r\n${HOST}${KEY}${ID}${more}\r\n`;
const post = (framing: string, body: string): Piece =>
  `POST /api/v1/servers/register HTTP/1.1\r\n${HOST}${KEY}${ID}Content-Type: application/json\r\n${framing}\r\n${body}`;
const BODY = '{"guild_id":"423456789012345671","name":"Zebra"}';
const CHUNKS = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
const LENGTH = `Content-Length: ${BODY.length}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

/** Requests that the service answers by its rules. */
const WHOLE: readonly Piece[] = [
  get(),
  get('', 'GET /api/v1/data/categories HTTP/1.1'),
  get('', 'GET /api/v1/data/export/323456789012345671?guild_id=423456789012345671&format=full HTTP/1.1'),
  get('', 'GET /health/live HTTP/1.1'),
  get('', 'GET /nothing HTTP/1.1'),
  get('Expect: 100-continue\r\n'),
  get('X-A: a\r\n'.repeat(90)),
  get('', 'GET http://localhost/api/v1/bots/zzBOTzz HTTP/1.1'),
  get('', 'GET * HTTP/1.1'),
  get('', `GET /${'a'.repeat(7000)} HTTP/1.1`),
  `\r\n\r\n${get()}`,
  post(LENGTH, BODY),
  post(CHUNKED, CHUNKS),
  post(CHUNKED, CHUNKS.replace('\r\n', ';a="b;c"\r\n').replace(/\r\n$/, 'X-Trailer: Zebra\r\n\r\n')),
  post(`Expect: 100-continue\r\n${LENGTH}`, BODY),
  post(`Content-Length: 000${BODY.length}\r\n`, BODY),
  post('Content-Length: 2\r\n', '{}'),
  post('Content-Length: 0\r\n', ''),
];

/** What is refused before any route, waits for more, or ends the connection. */
const BROKEN: readonly Piece[] = [
  post(`${LENGTH}${CHUNKED}`, CHUNKS),
  post(`${CHUNKED}${LENGTH}`, CHUNKS),
  ...[
    'xchunked',
    'chunked, identity',
    'identity, chunked',
    'identity',
    'chunked\r\nTransfer-Encoding: chunked',
    '\x0bchunked',
    '"chunked"',
    'gzip, chunked',
  ].map((coding) => post(`Transfer-Encoding: ${coding}\r\n`, CHUNKS)),
  post('Transfer-Encoding : chunked\r\n', CHUNKS),
  post(' Transfer-Encoding: chunked\r\n', CHUNKS),
  ...[
    '+48',
    '-1',
    '0x30',
    '48, 48',
    '48\r\nContent-Length: 49',
    '99999999999999999999',
    '1e1',
    '',
    ' ',
    '\x0048',
  ].map((length) => post(`Content-Length: ${length}\r\n`, BODY)),
  ...[
    'zz\r\n',
    '-1\r\n',
    'ffffffffffffffff\r\n',
    '5\r\nabc',
    '30;\r\n',
    `${'0'.repeat(4000)}5\r\nabcde\r\n`,
    '5 \r\nabcde\r\n',
    '5\nabcde\n',
    `1;${'e'.repeat(20_000)}\r\na\r\n`,
  ].map((chunk) => post(CHUNKED, chunk)),
  post(CHUNKED, `2\r\n{}\r\n0\r\n${'X-T: a\r\n'.repeat(3000)}\r\n`),
  get('X-A : b\r\n'),
  get(' folded: 1\r\n'),
  get('X-A: a\r\n b\r\n'),
  get('X-A: a\0b\r\n'),
  get('X-A: a\rb\r\n'),
  get(': empty\r\n'),
  get('X(A): 1\r\n'),
  get('Host: localhost\r\n'),
  get('Host: evil.example\r\n'),
  get(`X-A: ${'a'.repeat(20_000)}\r\n`),
  get(Array.from({ length: 1_900 }, (_, at) => `X-${at}: 1\r\n`).join('')),
  get('Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n'),
  get(
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n',
  ),
  get().replace(HOST, ''),
  get().replaceAll('\r\n', '\n'),
  get().replace('\r\n\r\n', '\r\n'),
  ...[
    'GET',
    'GET /',
    'get / HTTP/1.1',
    'GET  / HTTP/1.1',
    'GET / HTTP/1.2',
    'GET / HTTP/9.9',
    'GET / HTTP/1.0',
    'GET /\tHTTP/1.1',
    'GET / http/1.1',
    'FOO / HTTP/1.1',
  ]
    .concat(
      'GET /a b HTTP/1.1',
      'GET /\xff HTTP/1.1',
      'GET /\0 HTTP/1.1',
      'GET http:// HTTP/1.1',
      'GET //evil.example/ HTTP/1.1',
      'GET localhost HTTP/1.1',
    )
    .concat(
      'CONNECT localhost:1 HTTP/1.1',
      'CONNECT / HTTP/1.1',
      'PRI * HTTP/2.0',
      'OPTIONS * HTTP/1.1',
      `GET /${'a'.repeat(20_000)} HTTP/1.1`,
    )
    .map((line) => get('', line)),
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03',
  'EHLO Zebra\r\n',
  '*1\r\n$4\r\nPING\r\n',
  '\0'.repeat(100),
  '\r\n'.repeat(500),
  'PROXY TCP4 1.2.3.4 127.0.0.1 1 2\r\n',
  BODY,
];

const isEnded = 'Connection: close\r\n';

export interface Connection {
  readonly pieces: readonly Piece[];
  /** A change of the bytes: where, how many are removed, and what is put there. */
  readonly edits: readonly (readonly [at: number, remove: number, insert: string])[];
}

const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...WHOLE) },
  { weight: 2, arbitrary: fc.constantFrom(...BROKEN) },
);
const byte = fc.oneof(
  fc.constantFrom('', '\0', '\r', '\n', '\r\n', ' ', '\t', ':', '%', '\xff', '\x80', '/', '0', '-'),
  fc.string({ unit: 'binary-ascii', maxLength: 2 }),
);

/** Several requests on one connection, whole or broken, in half of the cases with changed bytes. */
export const aConnection: fc.Arbitrary<Connection> = fc.record({
  pieces: fc.oneof(
    { weight: 4, arbitrary: fc.array(piece, { minLength: 1, maxLength: 6 }) },
    { weight: 1, arbitrary: piece.map((one) => Array<Piece>(40).fill(one)) },
  ),
  edits: fc.oneof(
    fc.constant([]),
    fc.array(fc.tuple(fc.nat(3_000), fc.constantFrom(0, 1, 2, 30), byte), { maxLength: 4 }),
  ),
});

/** The bytes of a connection. The last request asks for its end. */
export function bytesOf({ pieces, edits }: Connection, fill: (text: string) => string): Buffer {
  const sent = pieces.map((one, at) => fill(one.replaceAll('r%\r\n', `r${at}\r\n`)));
  const last = get(isEnded).replace('r%', `r${sent.length}`);
  let text = sent.join('') + fill(last);
  for (const [at, remove, insert] of edits) {
    const place = at % (text.length + 1);
    text = text.slice(0, place) + insert + text.slice(place + remove);
  }
  return Buffer.from(text, 'latin1');
}
