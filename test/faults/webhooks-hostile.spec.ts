import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { promises as dns } from 'node:dns';
import { readFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { EgressPolicy, readConfig, SystemClock } from '@app/kernel';
import { type CallResult, HttpWebhookSender, NameResolver } from '@app/webhooks';
import { freePort } from '../support/free-port';

/** Longer than a test: what ends does so by itself. */
const LIMITS = { webhookTimeoutMs: 3_600_000, webhookConnectTimeoutMs: 3_600_000 };
/** For calls that never end by themselves: to connect, and in all. */
const SOON = { ...LIMITS, webhookTimeoutMs: 700 };
/** Less than the five seconds after which a query without an answer ends. */
const BEFORE_DNS_ENDS = { ...LIMITS, webhookConnectTimeoutMs: 4_000 };
const SOON_TO_CONNECT = { ...LIMITS, webhookConnectTimeoutMs: 250 };
const NOW_MS = Date.UTC(2026, 0, 1);
const loopbackAllowed = new EgressPolicy(readConfig({}));
const closed = new EgressPolicy(readConfig({ HOST: '0.0.0.0', WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'false' }));
const clock = Object.assign(new SystemClock(), { wallMs: () => NOW_MS });
const sender = new HttpWebhookSender(LIMITS, loopbackAllowed, clock);

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

interface Listener {
  readonly port: number;
  /** Resolves when no connection is open any more. */
  allClosed(): Promise<void>;
  readonly connections: number;
  readonly bytesWritten: number;
}

/** A server that handles every connection by `behave` after it has read the first bytes. */
async function listen(behave: (socket: Socket) => void, host = '127.0.0.1', port = 0): Promise<Listener> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => behave(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  stops.push(() => stopServer(server, sockets));
  return {
    allClosed: async () => {
      for (const socket of sockets)
        if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
    },
    port: (server.address() as { port: number }).port,
    get connections() {
      return sockets.size;
    },
    get bytesWritten() {
      return [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, 0);
    },
  };
}

function stopServer(server: Server, sockets: Iterable<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy();
  return new Promise((resolve) => server.close(() => resolve()));
}

function send(url: string, by = sender): Promise<CallResult> {
  return by.send(
    { url, headers: { 'content-type': 'application/json' }, body: '{}' },
    new AbortController().signal,
  );
}

async function sendTo(behave: (socket: Socket) => void, limits = LIMITS): Promise<CallResult> {
  const receiver = await listen(behave);
  const by = new HttpWebhookSender(limits, loopbackAllowed, clock);
  const result = await send(`http://127.0.0.1:${receiver.port}/hook`, by);
  await receiver.allClosed();
  return result;
}

function every(socket: Socket, ms: number, bytes: string): void {
  const timer = setInterval(() => socket.write(bytes), ms);
  socket.on('close', () => clearInterval(timer));
}

const answers =
  (text: string) =>
  (socket: Socket): void =>
    void socket.end(text.replaceAll('\n', '\r\n'));

describe('a receiver that', () => {
  const cases: [string, (socket: Socket) => void, string][] = [
    ['never answers', () => undefined, 'timed_out'],
    ['drips its header', (socket) => every(socket, 20, 'H'.slice(0, 1)), 'invalid_answer'],
    [
      'drips header lines',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        every(socket, 50, 'a: b\r\n');
      },
      'timed_out',
    ],
    [
      'drips its body',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n');
        every(socket, 50, 'x');
      },
      'timed_out',
    ],
    [
      'answers with a header of 1 MB',
      answers(`HTTP/1.1 200 OK\na: ${'x'.repeat(1_000_000)}\n\n`),
      'invalid_answer',
    ],
    [
      'answers 99 times "wait"',
      answers(`${'HTTP/1.1 103 Early Hints\n\n'.repeat(99)}HTTP/1.1 200 OK\n\n`),
      'invalid_answer',
    ],
    [
      'switches protocols',
      (socket) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
      'invalid_answer',
    ],
    ['speaks no HTTP', answers('220 mail.example ESMTP\n'), 'invalid_answer'],
    [
      'says two lengths',
      answers('HTTP/1.1 200 OK\ncontent-length: 1\ncontent-length: 2\n\nx'),
      'invalid_answer',
    ],
    ['resets the connection', (socket) => socket.resetAndDestroy(), 'connection_failed'],
    ['closes without a word', (socket) => socket.end(), 'connection_failed'],
    [
      'closes within its body',
      answers('HTTP/1.1 200 OK\ncontent-length: 1000\n\nonly this'),
      'connection_failed',
    ],
  ];

  it.each(cases)('%s is failed in time', async (_name, behave, outcome) => {
    const result = await sendTo(behave, outcome === 'timed_out' ? SOON : LIMITS);
    expect(result.outcome).toBe(outcome);
  });

  it('answers with 200 MB is cut after a bounded part', async () => {
    const [chunk, length] = [Buffer.alloc(65_536, 'x'), 209_715_200];
    const receiver = await listen((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 209715200\r\n\r\n');
      const push = (): void => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on('drain', push);
      push();
    });
    const result = await send(`http://127.0.0.1:${receiver.port}/`);
    expect(result).toMatchObject({ outcome: 'answer_too_large', status: 200 });
    expect(receiver.bytesWritten).toBeLessThan(length);
  });

  it('listens on no port is failed', async () => {
    const result = await send(`http://127.0.0.1:${await freePort()}/`);
    expect(result.outcome).toBe('connection_failed');
  });

  it('sends a secret in its answer leaves no trace of it in the result', async () => {
    const result = await sendTo(answers('HTTP/1.1 500 No\nx-secret: s3cret\ncontent-length: 6\n\ns3cret'));
    expect(JSON.stringify(result)).not.toContain('s3cret');
    expect(Object.keys(result).sort()).toEqual(['durationMs', 'outcome', 'retryAfterMs', 'status']);
  });
});

// RFC 9112, section 6.3: where a message ends. What follows is not a part of it, and the connection is not used again.
describe.each([
  ['a body after a 204', 'HTTP/1.1 204 No Content\n\nok', 204],
  ['a length after a 204', 'HTTP/1.1 204 No Content\ncontent-length: 5\n\n', 204],
  ['a body after the length 0', 'HTTP/1.1 200 OK\ncontent-length: 0\n\nok', 200],
  ['a length in characters', 'HTTP/1.1 200 OK\ncontent-length: 2\n\nök', 200],
  ['bytes after the last chunk', 'HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n1\nx\n0\n\nok', 200],
  ['a second answer', `HTTP/1.1 200 OK\ncontent-length: 0\n\nHTTP/1.1 500 No\ncontent-length: 0\n\n`, 200],
  ['no length', 'HTTP/1.1 200 OK\n\nok', 200],
  ['bytes after a refusal', 'HTTP/1.1 500 No\ncontent-length: 0\n\nok', 500],
  ['too few bytes', 'HTTP/1.1 200 OK\ncontent-length: 5\n\nok', undefined],
  ['a broken chunk', 'HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\nzz\n', undefined],
  ['a chunk that is cut', 'HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n5\nok', undefined],
  [
    'a length beside chunks',
    'HTTP/1.1 200 OK\ncontent-length: 1\ntransfer-encoding: chunked\n\n0\n\n',
    undefined,
  ],
  ['no HTTP', 'ok\n\n', undefined],
  ['more than 64 KiB', `HTTP/1.1 200 OK\ncontent-length: 65537\n\n${'x'.repeat(65_537)}`, undefined],
])('an answer with %s', (_name, text, status) => {
  const confirmed = status !== undefined && status < 300;

  it(`${confirmed ? 'confirms' : 'does not confirm'} the call`, async () => {
    const { outcome, ...result } = await sendTo(answers(text));
    expect(outcome === 'confirmed').toBe(confirmed);
    if (status !== undefined)
      expect([outcome, result.status]).toEqual([confirmed ? 'confirmed' : 'refused', status]);
  });
});

describe('an answer', () => {
  const status = (code: number, headers = '') =>
    answers(`HTTP/1.1 ${code} X\n${headers}content-length: 0\n\n`);

  it.each([200, 201, 202, 204, 299])('of %d confirms', async (code) => {
    expect(await sendTo(status(code))).toMatchObject({ outcome: 'confirmed', status: code });
  });

  it.each([400, 401, 404, 429, 500, 503])('of %d refuses', async (code) => {
    expect(await sendTo(status(code))).toMatchObject({ outcome: 'refused', status: code });
  });

  it('of 410 ends the delivery', async () => {
    expect((await sendTo(status(410))).outcome).toBe('gone');
  });

  it.each([301, 302, 303, 307, 308])('of %d is not followed', async (code) => {
    const canary = await listen(answers('HTTP/1.1 200 OK\n\n'));
    const result = await sendTo(status(code, `location: http://127.0.0.1:${canary.port}/\n`));
    expect([result.outcome, canary.connections]).toEqual(['redirected', 0]);
  });

  it.each([
    ['120', 120_000],
    ['0', 0],
    ['999999999', 86_400_000],
    [new Date(NOW_MS + 3_600_000).toUTCString(), 3_600_000],
    [new Date(NOW_MS - 3_600_000).toUTCString(), 0],
    ['-1', undefined],
    ['9e99', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['', undefined],
  ])('with Retry-After %p asks for a bounded pause', async (value, expectedMs) => {
    const { retryAfterMs } = await sendTo(status(429, `retry-after: ${value}\n`));
    expect(retryAfterMs).toBe(expectedMs);
  });
});

describe('over TLS', () => {
  const certificate = (name: string): string =>
    readFileSync(join(__dirname, '../support/certificates', `${name}.pem`), 'utf8');
  const trusting = (limits = LIMITS): HttpWebhookSender =>
    new HttpWebhookSender(limits, loopbackAllowed, clock, new NameResolver(), certificate('authority'));

  async function sendOver(name: string, host = 'localhost'): Promise<CallResult> {
    const pem = certificate(name);
    const server = createTlsServer({ key: pem, cert: pem }, (_request, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stops.push(() => stopServer(server, []));
    return send(`https://${host}:${(server.address() as { port: number }).port}/`, trusting());
  }

  it('confirms where the certificate is in order', async () => {
    expect((await sendOver('right')).outcome).toBe('confirmed');
  });

  it.each([
    ['self-signed', 'self'],
    ['expired', 'expired'],
    ["another host's", 'wrong'],
  ])('fails where the certificate is %s', async (_what, name) => {
    expect((await sendOver(name)).outcome).toBe('tls_failed');
  });

  it('fails where the certificate names a host and the URL an address', async () => {
    expect((await sendOver('right', '127.0.0.1')).outcome).toBe('tls_failed');
  });

  it('fails in time where the handshake never ends', async () => {
    const { port } = await listen(() => undefined);
    const result = await send(`https://127.0.0.1:${port}/`, trusting(SOON_TO_CONNECT));
    expect(result.outcome).toBe('not_connected_in_time');
  });
});

/** A name server on loopback that answers each query for an IPv4 address with `answer`, and another by `others`. */
async function nameServer(
  answer: () => string[] | undefined,
  others: () => [] | undefined = () => [],
): Promise<{ resolver: NameResolver; asked: () => number }> {
  let asked = 0;
  const socket: UdpSocket = createSocket('udp4');
  socket.on('message', (question, from) => {
    const isIpv4 =
      question.readUInt16BE(question.length - 4) === 1 || question.includes(Buffer.from([0, 1, 0, 1]));
    const addresses = isIpv4 ? (asked++, answer()) : others();
    if (addresses === undefined) return;
    const end = question.indexOf(0, 12) + 5;
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(addresses.length, 6);
    header.writeUInt16BE(0, 10);
    const records = addresses.map((address) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
    );
    socket.send(Buffer.concat([header, question.subarray(12, end), ...records]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  stops.push(() => new Promise((resolve) => socket.close(() => resolve())));
  const queries = new dns.Resolver({ timeout: 60_000, tries: 1 });
  queries.setServers([`127.0.0.1:${socket.address().port}`]);
  stops.push(async () => queries.cancel());
  return { resolver: new NameResolver(queries, '/nonexistent'), asked: () => asked };
}

/** A policy with a second loopback address as the forbidden network. */
class SecondLoopbackForbidden extends EgressPolicy {
  override allowsAddress(address: string): boolean {
    return address === '127.0.0.1';
  }
}
const rebindingPolicy = new SecondLoopbackForbidden(readConfig({}));

describe('a name', () => {
  it('that is rebound between check and connection never leads to a forbidden address', async () => {
    let turn = 0;
    const { resolver, asked } = await nameServer(() => [`127.0.0.${(turn++ % 2) + 1}`]);
    const allowed = await listen(answers('HTTP/1.1 200 OK\ncontent-length: 0\n\n'));
    const canary = await listen(answers('HTTP/1.1 200 OK\ncontent-length: 0\n\n'), '127.0.0.2', allowed.port);
    const by = new HttpWebhookSender(LIMITS, rebindingPolicy, clock, resolver);
    const outcomes = new Map<string, number>();
    for (let i = 0; i < 200; i++) {
      const { outcome } = await send(`http://rebinding.test:${allowed.port}/`, by);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    expect(canary.connections).toBe(0);
    expect(Object.fromEntries(outcomes)).toEqual({ confirmed: 100, blocked_address: 100 });
    expect(asked()).toBe(200);
  });

  it('with one allowed and one forbidden address is not called at all', async () => {
    const { resolver } = await nameServer(() => ['127.0.0.1', '127.0.0.2']);
    const receiver = await listen(answers('HTTP/1.1 200 OK\n\n'));
    const by = new HttpWebhookSender(LIMITS, rebindingPolicy, clock, resolver);
    expect((await send(`http://both.test:${receiver.port}/`, by)).outcome).toBe('blocked_address');
    expect(receiver.connections).toBe(0);
  });

  it('whose server is silent about IPv6 is called by its IPv4 address', async () => {
    const { resolver } = await nameServer(
      () => ['127.0.0.1'],
      () => undefined,
    );
    const { port } = await listen(answers('HTTP/1.1 200 OK\ncontent-length: 0\n\n'));
    const by = new HttpWebhookSender(BEFORE_DNS_ENDS, loopbackAllowed, clock, resolver);
    expect((await send(`http://half.test:${port}/`, by)).outcome).toBe('confirmed');
  });

  it('with a forbidden address is not called, however silent its server is about IPv6', async () => {
    const { resolver } = await nameServer(
      () => ['127.0.0.2'],
      () => undefined,
    );
    const canary = await listen(answers('HTTP/1.1 200 OK\ncontent-length: 0\n\n'), '127.0.0.2');
    const by = new HttpWebhookSender(BEFORE_DNS_ENDS, rebindingPolicy, clock, resolver);
    expect((await send(`http://half.test:${canary.port}/`, by)).outcome).toBe('blocked_address');
    expect(canary.connections).toBe(0);
  });

  it('of the hosts file that leads to loopback is blocked where loopback is', async () => {
    const hosts = join(__dirname, '../support/certificates', 'hosts');
    const receiver = await listen(answers('HTTP/1.1 200 OK\ncontent-length: 0\n\n'));
    const names = new NameResolver(undefined, hosts);
    const url = `http://inside.test:${receiver.port}/`;
    expect((await send(url, new HttpWebhookSender(LIMITS, loopbackAllowed, clock, names))).outcome).toBe(
      'confirmed',
    );
    expect((await send(url, new HttpWebhookSender(LIMITS, closed, clock, names))).outcome).toBe(
      'blocked_address',
    );
    expect(receiver.connections).toBe(1);
  });

  it('whose server is silent fails within the time to connect', async () => {
    const { resolver } = await nameServer(() => undefined);
    const result = await send(
      'http://silent.test/',
      new HttpWebhookSender(SOON_TO_CONNECT, loopbackAllowed, clock, resolver),
    );
    expect(result.outcome).toBe('not_connected_in_time');
  });

  it('with an unknown name has an outcome of its own', async () => {
    const { resolver } = await nameServer(() => []);
    const by = new HttpWebhookSender(LIMITS, loopbackAllowed, clock, resolver);
    expect((await send('http://unknown.test/', by)).outcome).toBe('name_not_found');
  });

  it.each([
    'localhost',
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '2130706433',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '①②⑦.⓪.⓪.①',
  ])('or address %s never reaches a receiver on loopback where that is closed', async (host) => {
    const canary = await listen(answers('HTTP/1.1 200 OK\n\n'));
    const by = new HttpWebhookSender(LIMITS, closed, clock);
    expect((await send(`http://${host}:${canary.port}/`, by)).outcome).toBe('blocked_address');
    expect(canary.connections).toBe(0);
  });
});

describe('a signal to stop', () => {
  it('ends the call at once', async () => {
    const { port } = await listen(() => undefined);
    const stopping = new AbortController();
    const call = sender.send({ url: `http://127.0.0.1:${port}/`, headers: {}, body: '{}' }, stopping.signal);
    stopping.abort();
    expect((await call).outcome).toBe('interrupted');
  });
});
