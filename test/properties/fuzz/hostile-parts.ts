// Header lines and parts of a target that a request may be refused for, in Latin-1.

const TYPES = [
  ...[
    'text/plain',
    'application/jsonx',
    'application/json; charset=utf-16',
    'application/json;charset="',
    '',
    '\x80',
  ],
  ...['multipart/form-data; boundary=x', '*/*', 'application/json, text/plain', 'APPLICATION/JSON ; a=b'],
];
const CODINGS = ['gzip', 'br', 'identity', 'identity, gzip', 'zstd', ''];
const CREDENTIALS = [
  ...[
    '',
    'Bearer',
    'Bearer ',
    'Basic YTpi',
    'bearer zzKEYzz',
    'Bearer zzKEYzz ',
    'Bearer  zzKEYzz',
    'zzKEYzz',
  ],
  ...['Bearer zzKEYzzx', 'Bearer zzKEYzz, Bearer zzKEYzz', 'Bearer \xff', `Bearer ${'x'.repeat(7000)}`],
  ...['Bearer sk_live_', 'Bearer __proto__'],
];
const REQUEST_IDS = ['', '<Zebra>', 'a'.repeat(64), 'a'.repeat(65), 'a b', '\xe9', '__proto__'];
const HOSTS = [
  ...[
    'evil.example',
    'localhost:1',
    '[::1]',
    'localhost, evil.example',
    '127.0.0.1:99999',
    '',
    'a'.repeat(300),
  ],
  '@',
];
const OTHERS = [
  ...['X-HTTP-Method-Override: DELETE', 'X-Original-URL: /metrics', 'X-Forwarded-For: 1.2.3.4, unknown, ::'],
  ...['Forwarded: for="_x"', 'Accept: image/png;q=0', 'Accept-Encoding: *;q=0', 'Range: bytes=0-0'],
  ...[
    'If-None-Match: *',
    'If-Match: "x"',
    'TE: trailers',
    'Trailer: X-A',
    'Cookie: __proto__=1',
    'Origin: null',
  ],
  ...['__proto__: 1', 'constructor: 1', 'Max-Forwards: 0', 'Connection: close, x', 'Keep-Alive: timeout=0'],
  ...['Idempotency-Key: Zebra', `Idempotency-Key: ${'k'.repeat(300)}`, 'Idempotency-Key: \xff'],
  ...['Expect: 100-continue', 'Expect: 200-ok', 'Expect: ', 'Upgrade: h2c\r\nConnection: Upgrade'],
  ...[
    'Upgrade: websocket\r\nConnection: Upgrade',
    'Accept-Language: \xff\xfe',
    `X-Long: ${'z'.repeat(9000)}`,
  ],
  Array.from({ length: 150 }, (_, at) => `X-${at}: ${at}`).join('\r\n'),
];

const named = (name: string, values: readonly string[]): string[] =>
  values.map((value) => `${name}: ${value}`);

export const HEADERS: readonly string[] = [
  ...named('Content-Type', TYPES),
  ...named('Content-Encoding', CODINGS),
  ...named('Authorization', CREDENTIALS),
  ...named('X-Request-Id', REQUEST_IDS),
  ...named('Host', HOSTS),
  ...OTHERS,
];

const SHORT =
  '% %00 %zz %ff %c0%af %2f %2F..%2f / // /./ /../ \\ ; ;a=b ? ?? & = # %23 * ..%2f..%2f %252e%252e %e2%80%ae ' +
  `%F0%9F%98%80 %ED%A0%80 \xfc \xff + %20 ' " < { | ^ \` ~ : @ $ () - 0 Zebra ?x=1`;
const PARAMETERS =
  '[] [$ne]= [a][b]=1 &__proto__=1 &__proto__[a]=1 &page=1 &page=&page= &user_id=1 &guild_id=zzBOTzz &bot_id=zzBOTzz ' +
  '&bot_id=zzPLATFORMzz &x &= %5Bx%5D=1 &page=1e2 &page=+1';

export const PIECES: readonly string[] = [
  ...`${SHORT} ${PARAMETERS}`.split(' '),
  ...[
    '&'.repeat(500),
    'a'.repeat(3000),
    '%41'.repeat(2000),
    '9'.repeat(400),
    '/a'.repeat(1500),
    '&a=b'.repeat(1500),
  ],
];
