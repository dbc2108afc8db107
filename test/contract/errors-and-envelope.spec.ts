import type { Bot } from '../support/bot';
import { faultsOf, PREFIX } from '../support/client';
import { exchange } from '../support/exchange';
import { A_TIME, expectFailure, expectFaults, expectSameRefusal, expectSuccess } from '../support/expected';
import { UNKNOWN_UUID } from '../support/inputs';
import { rawRequest, requestText } from '../support/raw-socket';
import { BODY_ROUTES, BODYLESS_ROUTES, CLOSED_ROUTES } from '../support/routes';
import { useService } from '../support/shared-service';
import { snowflake } from '../support/snowflakes';

const service = useService();
let bot: Bot;
beforeAll(async () => {
  bot = await service.registerBot();
});

const JSON_TYPE = { 'content-type': 'application/json' };
const BODY_LIMIT = 262_144;
/** Of a batch of submits. */
const BATCH_LIMIT = 1_048_576;

const register = (raw: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = JSON_TYPE) =>
  service.anonymous.send('POST', `${PREFIX}/bots/register`, { headers, raw });
const registration = (more = '') => `{"platform_bot_id":"${snowflake()}","name":"x"${more}}`;

/** No times: of days that do not exist, in other forms, and of a moment without its zone. */
const NO_DAYS = [
  '2026-02-30',
  '2025-02-29',
  '2026-13-01',
  '2026-1-1',
  '1.2.2026',
  '2026',
  'yesterday',
  '1767225600',
];
const NO_MOMENTS = [
  ...NO_DAYS.map((day) => `${day}T08:00:00Z`),
  ...[
    '2026-01-31',
    '2026-01-31T08:00:00',
    '2026-01-31T24:00:00Z',
    '2026-01-31T08:00:00+2',
    '2026-01-31 08:00:00Z',
  ],
];

/** The routes whose every field is optional. */
const NEEDS_NOTHING = /\/(keys|rotate)$/;

interface Schema {
  readonly $ref?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}
interface Documented {
  readonly paths: Readonly<
    Record<
      string,
      Record<
        string,
        {
          readonly parameters?: readonly { readonly name: string; readonly schema: Schema }[];
          readonly requestBody?: {
            readonly content: Readonly<Record<string, { readonly schema: Schema & { oneOf?: Schema[] } }>>;
          };
        }
      >
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Every time in a request, as the documentation has it. */
async function timesInRequests(): Promise<{ method: string; path: string; field: string; format: string }[]> {
  const document = (await (await fetch(`${service.url}/docs-json`)).json()) as Documented;
  const of = (schema: Schema): Schema =>
    document.components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [], requestBody }]) => {
      const body = requestBody?.content['application/json']?.schema ?? {};
      const fields = [
        ...parameters.map(({ name, schema }) => [name, schema] as const),
        ...(body.oneOf ?? [body]).flatMap((schema) => Object.entries(of(schema).properties ?? {})),
      ];
      return fields.flatMap(([field, { format = '' }]) =>
        /^date/.test(format) ? [{ method: method.toUpperCase(), path, field, format }] : [],
      );
    }),
  );
}

describe('a time in a request', () => {
  it('is refused by its name on every route unless its day exists and a moment has its zone', async () => {
    const times = await timesInRequests();
    expect(times.map(({ field }) => field)).toEqual(
      expect.arrayContaining(['from', 'to', 'since', 'expires_at']),
    );
    const taken: string[] = [];
    for (const { method, path, field, format } of times) {
      for (const time of format === 'date' ? NO_DAYS : NO_MOMENTS) {
        const at = path.replace('{bot_id}', bot.id).slice(PREFIX.length);
        const answer =
          method === 'GET'
            ? await bot.get(`${at}?${field}=${encodeURIComponent(time)}`)
            : await bot.post(at, { [field]: time });
        const faults = (answer.error?.details?.['fields'] ?? []) as { field: string }[];
        if (answer.status !== 400 || !faults.some((fault) => fault.field === field))
          taken.push(`${method} ${path} ${field} ${time}`);
      }
    }
    expect(taken).toStrictEqual([]);
  });
});

describe('a path or method that does not exist', () => {
  it.each([
    ['inside the prefix', '/api/v1/nothing'],
    ['below a resource', '/api/v1/bots/register/now'],
    ['the prefix alone', '/api/v1'],
    ['another version', '/api/v2/bots/register'],
    ['outside the prefix', '/nothing'],
    ['the root', '/'],
    ['without the prefix', '/bots/register'],
    ['a trailing slash', '/api/v1/bots/register/'],
    ['upper case', '/API/V1/BOTS/REGISTER'],
    ['upper case in the resource', '/api/v1/Bots/register'],
    ['two slashes at the start', '//api/v1/bots/register'],
    ['two slashes inside', '/api/v1//bots/register'],
    ['an escaped slash', '/api/v1/bots%2Fregister'],
    ['a file of the server', '/package.json'],
    ['very long', `/${'a'.repeat(8000)}`],
  ])('answers 404 not_found in the envelope, with a key and without (%s)', async (_, path) => {
    for (const caller of [service.anonymous, bot]) {
      expectFailure(await caller.send('GET', path), 404, 'not_found');
      expectFailure(await caller.send('POST', path, { headers: JSON_TYPE, raw: '{}' }), 404, 'not_found');
    }
  });

  it.each([
    ['PATCH', '/bots/register'],
    ['GET', '/bots/register'],
    ['PUT', '/bots/register'],
    ['DELETE', '/bots/register'],
    ['PUT', '/bots/me'],
    ['DELETE', '/bots/me'],
    ['DELETE', `/bots/${UNKNOWN_UUID}/keys/rotate`],
    ['DELETE', '/servers/register'],
    ['DELETE', '/data/submit'],
    ['PUT', '/consents/request'],
    ['GET', '/consents/accept'],
    ['POST', '/consents/status'],
    ['POST', '/data/categories'],
    ['GET', '/gdpr/forget-user'],
    ['PUT', '/audit/events'],
    ['GET', '/audit/event'],
    ['OPTIONS', '/bots/register'],
    ['OPTIONS', '/data/submit'],
    ['PROPFIND', '/data/submit'],
  ])('answers 404 not_found to %s %s, with a key and without', async (method, path) => {
    expectFailure(await service.anonymous.send(method, PREFIX + path), 404, 'not_found');
    expectFailure(await bot.send(method, PREFIX + path), 404, 'not_found');
  });

  it('answers 404 to TRACE and echoes nothing', async () => {
    const answer = await rawRequest(
      service.port,
      requestText(`TRACE ${PREFIX}/bots/register`, ['X-Marker: echo-me']),
    );
    expect(answer.status).toBe(404);
    expect(answer.head + answer.body).not.toContain('echo-me');
  });

  it.each(['http://', 'http://[', 'http:///', 'https://localhost:99999/', '*'])(
    'answers 404, counted, to the target %j',
    async (target) => {
      const [answer] = (await exchange(service.port, Buffer.from(requestText(`GET ${target}`)), true))
        .answers;
      expectFailure(answer!, 404, 'not_found');
      expect(faultsOf(answer!, { isHead: false, isCounted: true })).toStrictEqual([]);
    },
  );

  it('answers a target that is a whole URL like its path', async () => {
    const line = `GET http://localhost${PREFIX}/data/categories?page_size=1`;
    const answer = await rawRequest(service.port, requestText(line, [`Authorization: Bearer ${bot.key}`]));
    expect(JSON.parse(answer.body)).toMatchObject({ data: { pagination: { page_size: 1 } } });
  });

  it('answers 404 however bad the body is', async () => {
    const headers = { 'content-type': 'text/plain' };
    expectFailure(await bot.send('POST', '/api/v1/nothing', { headers, raw: '{' }), 404, 'not_found');
  });

  it('sends no CORS permission to a foreign origin or its preflight', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const preflight = await bot.send('OPTIONS', `${PREFIX}/data/submit`, { headers });
    const call = await bot.get(`/bots/${bot.id}`, { origin: 'https://evil.example' });
    for (const { headers: sent } of [preflight, call])
      expect([...sent.keys()].filter((name) => name.startsWith('access-control'))).toStrictEqual([]);
  });

  it.each(['%zz', '%', '%ff', '%c0%af', '..%2f..%2f', '%00'])(
    'answers 400 or 404 to the path part %s',
    async (part) => {
      for (const path of [
        `/bots/${part}`,
        `/gdpr/forget-status/${part}`,
        `/data/export/${part}?guild_id=1`,
        `/${part}`,
      ])
        expect([400, 404]).toContain((await bot.get(path)).status);
    },
  );
});

describe.each([...BODY_ROUTES, ...BODYLESS_ROUTES])(
  'the body of $method /api/v1$path',
  ({ method, path }) => {
    const ownPath = () => PREFIX + path.replace(/(?<=^\/bots\/)[0-9a-f-]{36}/, bot.id);
    const send = (raw: string, headers: Record<string, string> = JSON_TYPE) =>
      bot.send(method, ownPath(), { headers, raw });

    it.each([
      ['cut off', '{"name":'],
      ['with a trailing comma', '{"name":"x",}'],
      ['in single quotes', `{'name':'x'}`],
      ['two objects', '{}{}'],
      ['a comment', '/* x */ {}'],
      ['no JSON at all', 'name=x'],
      ['NaN', '{"name":NaN}'],
      ['null', 'null'],
      ['an array', '[]'],
      ['an array of objects', '[{}]'],
      ['a text', '"x"'],
      ['a number', '1'],
      ['a boolean', 'true'],
      ['white space', '  \n'],
    ])('is answered 400 naming body when it is %s', async (_, raw) => {
      const answer = await send(raw);
      expectFaults(answer, 'body');
      expect(answer.text).not.toMatch(/Unexpected|position|token/);
    });

    it('is answered 415 when its type is text', async () => {
      expectFailure(await send('{}', { 'content-type': 'text/plain' }), 415, 'unsupported_media_type');
    });

    it('is answered 413 when it is one byte too long', async () => {
      const limit = path === '/data/submit/batch' ? BATCH_LIMIT : BODY_LIMIT;
      expectFailure(await send(' '.repeat(limit - 1) + '{}'), 413, 'payload_too_large', {
        limit_bytes: limit,
      });
    });

    it('is answered 400 when it is nested too deep', async () => {
      expectFaults(await send(`{"extra":${'['.repeat(16)}${']'.repeat(16)}}`), 'body');
    });
  },
);

describe.each(CLOSED_ROUTES)('the query of $method /api/v1$path', ({ method, path }) => {
  it('is answered 400 when it repeats a parameter that the route does not take', async () => {
    const answer = await bot.send(method, `${PREFIX}${path}${path.includes('?') ? '&' : '?'}xx=1&xx=1`);
    expectFaults(answer, 'xx');
  });
});

describe('a request without a body', () => {
  const bare = (of: Bot, method: string, path: string) => of.send(method, PREFIX + path);

  it.each(BODY_ROUTES.filter(({ method, path }) => method === 'POST' && !NEEDS_NOTHING.test(path)))(
    'is answered like an empty object, 400, by $method $path',
    async ({ method, path }) => {
      const answer = await bare(bot, method, path);
      expectFailure(answer, 400, 'invalid_request');
      expectSameRefusal(answer, await bot.send(method, PREFIX + path, { headers: JSON_TYPE, raw: '{}' }));
    },
  );

  it('is an empty object where every field is optional', async () => {
    const own = await service.registerBot();
    const before = (await own.get(`/bots/${own.id}`)).data;
    const changed = await bare(own, 'PUT', `/bots/${own.id}`);
    expectSuccess(changed, 200, { ...before, updated_at: expect.any(String) as unknown });
    expect((await bare(own, 'POST', `/bots/${own.id}/keys`)).status).toBe(201);
    expect((await bare(own, 'POST', `/bots/${own.id}/webhook-secret/rotate`)).status).toBe(200);
    expect((await bare(own, 'POST', `/bots/${own.id}/keys/rotate`)).status).toBe(201);
  });
});

describe('the type of a body', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'Application/JSON',
    'application/json; profile="x"',
  ])('is taken as JSON when it is %s', async (type) => {
    expect((await register(registration(), { 'content-type': type })).status).toBe(201);
  });

  it.each([
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'application/json-patch+json',
    'application/vnd.api+json',
    'application/octet-stream',
    'application/xml',
    '*/*',
  ])('is refused with 415 when it is %s', async (type) => {
    expectFailure(await register(registration(), { 'content-type': type }), 415, 'unsupported_media_type');
  });

  it('does not matter where there is no body', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' };
    const answer = await bot.send('PUT', `${PREFIX}/bots/${bot.id}`, { headers, raw: '' });
    expect(answer.status).toBe(200);
  });

  it.each([
    ['does not matter where chunks have no body', '', 200],
    ['is refused with 415 when it is missing with chunks', '2\r\n{}\r\n', 415],
  ])('%s', async (_, chunks, status) => {
    const headers = [`Authorization: Bearer ${bot.key}`, 'Transfer-Encoding: chunked'];
    const head = requestText(`PUT ${PREFIX}/bots/${bot.id}`, headers, `${chunks}0\r\n\r\n`);
    expect((await rawRequest(service.port, head)).status).toBe(status);
  });

  it('is refused with 415 when it is missing', async () => {
    const body = registration();
    const head = requestText(`POST ${PREFIX}/bots/register`, [`Content-Length: ${body.length}`], body);
    const answer = await rawRequest(service.port, head);
    expect(answer.status).toBe(415);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'unsupported_media_type' } });
  });

  it.each(['gzip', 'deflate', 'br', 'zstd', 'x-unknown'])(
    'is refused with 415 when it is compressed by %s',
    async (coding) => {
      const headers = { ...JSON_TYPE, 'content-encoding': coding };
      expectFailure(await register(registration(), headers), 415, 'unsupported_media_type');
    },
  );

  it.each(['identity', 'Identity'])('is taken with the coding %s', async (coding) => {
    const answer = await register(registration(), { ...JSON_TYPE, 'content-encoding': coding });
    expect(answer.status).toBe(201);
  });
});

describe('the size of a body', () => {
  const padded = (length: number) => {
    const body = registration(',"extra":"PAD"');
    return body.replace('PAD', 'x'.repeat(length - body.length + 3));
  };

  it('may be 256 KiB', async () => {
    const body = padded(BODY_LIMIT);
    expect(body).toHaveLength(BODY_LIMIT);
    expect((await register(body)).status).toBe(201);
  });

  it('is answered 413 one byte above, and the connection is closed', async () => {
    const answer = await register(padded(BODY_LIMIT + 1));
    expectFailure(answer, 413, 'payload_too_large');
    expect(answer.header('connection')).toBe('close');
  });

  it('is counted in bytes, not in characters', async () => {
    expectFailure(
      await register(registration(`,"extra":"${'😀'.repeat(66_000)}"`)),
      413,
      'payload_too_large',
    );
  });

  it('is counted as it arrives when no length was announced', async () => {
    const head = requestText(`POST ${PREFIX}/bots/register`, [
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    ]);
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    const answer = await rawRequest(service.port, head + chunk.repeat(5));
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.body)).toMatchObject({ success: false, error: { code: 'payload_too_large' } });
  });

  it('may arrive in chunks', async () => {
    const body = registration();
    const chunks = [...body].map((character) => `1\r\n${character}\r\n`).join('');
    const head = requestText(`POST ${PREFIX}/bots/register`, [
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    ]);
    expect((await rawRequest(service.port, `${head}${chunks}0\r\n\r\n`)).status).toBe(201);
  });
});

describe('the text of a body', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

  it('may be nested 16 deep', async () => {
    expect((await register(registration(`,"extra":${nested(15)}`))).status).toBe(201);
  });

  it.each([16, 1_000, 50_000])('is answered 400 with %i arrays inside the object', async (depth) => {
    expectFaults(await register(registration(`,"extra":${nested(depth)}`)), 'body');
  });

  it('is answered 400 with 50,000 open objects', async () => {
    expectFaults(await register('{"a":'.repeat(50_000)), 'body');
  });

  it('may hold brackets inside texts', async () => {
    expect((await register(registration(`,"extra":"\\"${'[{'.repeat(100)}"`))).status).toBe(201);
  });

  it.each([
    ['a NUL in a field', ',"extra":"a\\u0000"', 'extra'],
    ['a NUL in a nested field', ',"extra":{"a":["x","\\u0000"]}', 'extra.a[1]'],
    ['a NUL in a key', ',"a\\u0000":1', 'body'],
    ['a lone high surrogate', ',"extra":"\\ud800"', 'extra'],
    ['a lone low surrogate', ',"extra":"\\udc00x"', 'extra'],
    ['surrogates in the wrong order', ',"extra":"\\udc00\\ud800"', 'extra'],
    ['a lone surrogate in a key', ',"\\ud800":1', 'body'],
    ['a lone surrogate in a key of a number that is too long', ',"\\ud800":1234567890123456789012', 'body'],
  ])('is answered 400 with %s, although the field is unknown', async (_, more, name) => {
    expectFaults(await register(registration(more)), name);
  });

  it('may hold a pair of surrogates as escapes', async () => {
    expect((await register(registration(',"extra":"\\ud83d\\ude00"'))).status).toBe(201);
  });

  it.each([
    ['a lone continuation byte', [0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
    ['a cut sequence', [0xf0, 0x9f, 0x98]],
    ['Latin-1', [0xe9]],
  ])('is answered 400 when it is no UTF-8 (%s)', async (_, bytes) => {
    const [before, after] = registration(',"extra":"PAD"').split('PAD');
    const body = Buffer.concat([Buffer.from(before ?? ''), Buffer.from(bytes), Buffer.from(after ?? '')]);
    expectFaults(await register(new Uint8Array(body)), 'body');
  });

  it('means the last of two equal keys, for the check as for what is stored', async () => {
    const bad = await register(registration(',"name":""'));
    expectFaults(bad, 'name');
    const good = await register(registration(',"name":"last"'));
    expect(good.data['name']).toBe('last');
  });

  it('may begin with a byte order mark', async () => {
    expect((await register(`\ufeff${registration()}`)).status).toBe(201);
  });

  it('cannot reach the prototypes of the service', async () => {
    const raw =
      '{"__proto__":{"page_size":"1","isAdmin":true},"constructor":{"prototype":{"page_size":"1"}}}';
    await bot.send('POST', `${PREFIX}/servers/register`, { headers: JSON_TYPE, raw });
    await register(registration(',"__proto__":{"page_size":"1"}'));
    expect((await bot.get('/data/categories')).data).toMatchObject({ pagination: { page_size: 20 } });
    expect(({} as Record<string, unknown>)['page_size']).toBeUndefined();
  });

  it('lists at most 50 faults, so that the answer stays small', async () => {
    const fields = Array.from({ length: 50 }, () => ({ key: 'A', type: 'x', label_de: '', label_en: '' }));
    const answer = await bot.post('/data/register', { key: 'A', label_de: '', label_en: '', fields });
    expectFailure(answer, 400, 'invalid_request');
    expect(answer.error.details?.['fields']).toHaveLength(50);
    expect(answer.text.length).toBeLessThan(16_384);
  });
});

describe('a query', () => {
  it.each([
    ['a repeated parameter', 'page=1&page=1', 'page'],
    ['a repeated parameter without values', 'page=&page=', 'page'],
    ['an unknown parameter repeated', 'x=1&x=2', 'x'],
    ['an array', 'page[]=1', 'page[]'],
    ['an object', 'page[a]=1', 'page[a]'],
    ['an operator', 'page[$ne]=', 'page[$ne]'],
    ['an escaped array', 'page%5B%5D=1', 'page[]'],
  ])('is answered 400 with %s', async (_, query, name) => {
    for (const path of ['/data/categories', '/audit/events', '/servers'])
      expectFaults(await bot.get(`${path}?${query}`), name);
  });

  it('may hold unknown parameters, which are ignored', async () => {
    expect((await bot.get('/data/categories?colour=blue&__proto__=1')).status).toBe(200);
  });
});

describe('a request id', () => {
  it.each(['trace-1.a_B', '1764576000000', 'a1234567890123456', '0af7651916cd43dd8448eb211c80319c'])(
    "is the caller's own when it is harmless: %s",
    async (given) => {
      const answer = await bot.get(`/bots/${bot.id}`, { 'x-request-id': given });
      expect(answer.header('x-request-id')).toBe(given);
    },
  );

  it.each([
    '<script>',
    'a b',
    'x'.repeat(65),
    'é',
    '',
    '123456789012345678',
    'a-12345678901234567.b',
    'u123456789012345678',
  ])('is replaced when it is %j', async (given) => {
    const answer = await bot.get(`/bots/${bot.id}`, { 'x-request-id': given });
    expect(answer.header('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('is different for every request', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => (await bot.get('/servers')).header('x-request-id')),
    );
    expect(new Set(ids).size).toBe(20);
  });
});

describe('what is no HTTP', () => {
  const line = `POST ${PREFIX}/bots/register HTTP/1.1\r\nHost: x\r\n`;

  it.each([
    ['garbage', 'hello\r\n\r\n', 400],
    ['a binary greeting', '\x16\x03\x01\x02\x00\x01\r\n\r\n', 400],
    ['a length and chunks', `${line}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`, 400],
    ['two lengths', `${line}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, 400],
    ['a length that is none', `${line}Content-Length: x\r\n\r\n`, 400],
    ['a space before the colon', `${line}Content-Length : 2\r\n\r\n{}`, 400],
    ['a header with a NUL', `${line}X-A: a\0b\r\n\r\n`, 400],
    ['20 KB of headers', `${line}X-A: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    ['CONNECT', 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n', 400],
    [
      'chunks that are none',
      `${line.replace(': x', ': localhost')}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
      400,
    ],
  ])('is answered as every request is, and cut (%s)', async (_, text, status) => {
    const { answers, closed } = await exchange(service.port, Buffer.from(text), true);
    const [answer] = answers;
    expect([answers.length, closed, answer?.status]).toStrictEqual([1, true, status]);
    expect(faultsOf(answer!, { isHead: false, isCounted: true })).toStrictEqual([]);
    expect(answer!.header('connection')).toBe('close');
    expect(answer!.error).toStrictEqual({
      code: 'invalid_request',
      message: expect.any(String) as unknown,
    });
  });

  it.each([
    ['a missing Host', 'GET', 'X-A: b\r\n\r\n'],
    ['chunks that are none', 'POST', 'Host: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
    ['such chunks of a HEAD', 'HEAD', 'Host: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
    ['CONNECT', 'CONNECT', 'Host: localhost\r\n\r\n'],
  ])(
    'counts against the bot whose key is sent, and has the id of its caller (%s)',
    async (_, method, rest) => {
      // Its key is used for the first time: who calls is known only after the bytes that are no HTTP.
      const one = await service.registerBot();
      const own = `Connection: close\r\nX-Request-Id: own.1\r\nAuthorization: Bearer ${one.key}\r\n`;
      const target =
        method === 'CONNECT' ? 'localhost:80' : PREFIX + (method === 'POST' ? '/data/submit' : '/servers');
      const bytes = Buffer.from(`${method} ${target} HTTP/1.1\r\n${own}${rest}`);
      for (const used of [1, 2]) {
        const { answers } = await exchange(service.port, bytes, true, method === 'HEAD');
        // The key is known by now, and a HEAD waits for no body.
        const status = method === 'HEAD' && used === 2 ? 200 : 400;
        expect(answers.map((answer) => answer.status)).toStrictEqual([status]);
        const [id, limit, remaining] = ['x-request-id', 'x-ratelimit-limit', 'x-ratelimit-remaining'].map(
          (name) => answers[0]!.header(name),
        );
        expect([id, Number(limit) - Number(remaining)]).toStrictEqual(['own.1', used]);
      }
    },
  );

  it.each([
    ['with a further request', ''],
    ['as the last request of its connection', 'Connection: close\r\n'],
  ])('is refused after the answer to a whole request before it, %s', async (_, header) => {
    const one = await service.registerBot();
    const head = `Host: localhost\r\nAuthorization: Bearer ${one.key}\r\n${header}`;
    const request = `DELETE ${PREFIX}/bots/${one.id} HTTP/1.1\r\n${head}\r\n`;
    const { answers } = await exchange(service.port, Buffer.from(`${request}\0`), true);
    expectSuccess(answers[0]!, 200, { id: one.id, deleted: true, deleted_at: A_TIME });
    expect(answers.slice(1).map(({ status }) => status)).toStrictEqual(header === '' ? [400] : []);
  });

  it('is nothing after an answer that closes the connection: a request there has no effect', async () => {
    const one = await service.registerBot();
    const head = `Host: localhost\r\nAuthorization: Bearer ${one.key}\r\n`;
    const body = 'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n';
    const requests = `POST /nothing HTTP/1.1\r\n${head}${body}DELETE ${PREFIX}/bots/${one.id} HTTP/1.1\r\n${head}\r\n`;
    const { answers } = await exchange(service.port, Buffer.from(requests), true);
    expect(answers.map((answer) => [answer.status, answer.header('connection')])).toStrictEqual([
      [404, 'close'],
    ]);
    expect((await one.get(`/bots/${one.id}`)).status).toBe(200);
  });

  it('leaves the service answering everyone else', async () => {
    await rawRequest(service.port, '\0\0\0\0\r\n\r\n');
    expect((await bot.get(`/bots/${bot.id}`)).status).toBe(200);
  });
});

describe('HEAD', () => {
  it('is answered like GET, without the body', async () => {
    const answer = await bot.send('HEAD', `${PREFIX}/bots/${bot.id}`);
    expect({ status: answer.status, text: answer.text }).toStrictEqual({ status: 200, text: '' });
  });
});

describe('GET /health/live and /health/ready', () => {
  it('answer without a key, uncounted', async () => {
    const answer = await service.anonymous.send('GET', '/health/live');
    expect(answer.status).toBe(200);
    expect(answer.header('x-ratelimit-limit')).toBeUndefined();
  });
});
