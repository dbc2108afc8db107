import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpInteractions } from '@lethe/discord/http';
import { createWebhookHandler, Lethe, type WebhookEvent } from '@lethe/sdk';
import { signedCall, type SignedCall } from '@lethe/sdk/testing';
import { freePort } from '../support/free-port';
import { runsPython } from '../support/python-verifier';
import { rawRequest } from '../support/raw-socket';
import { until } from '../support/until';

// Each receiver that the documentation shows, as it is there, against one list of strangers, and then a genuine call.

const ROOT = join(__dirname, '../..');
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const EVENT: WebhookEvent = {
  event: 'user_forgotten',
  request_id: 'r1',
  completed_at: '2026-01-01T00:00:00.000Z',
  user_id: '123456789012345678',
  guild_id: '223456789012345678',
};
const BODY_MAX_BYTES = 65_536;
const INTERACTION_MAX_BYTES = 262_144;

const directory = mkdtempSync(join(tmpdir(), 'lethe-receivers-'));
symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
const PAGE = readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8');
const [RECEIVER = '', PYTHON = '', EXPRESS = ''] = [
  ...PAGE.matchAll(/^```(?:js|python)\n([^]*?)^```$/gm),
].map(([, code]) => code);

/** The lines of webhooks.md in a server whose headers are text by latin-1, and by UTF-8 with surrogates, as in aiohttp. */
const IN_PYTHON = `import hashlib, hmac, os
from http.server import BaseHTTPRequestHandler, HTTPServer
secret = os.environ["SECRET"]
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(request):
        raw_body = request.rfile.read(int(request.headers["Content-Length"]))
        texts = {name: value.encode("latin-1").decode("utf-8", "surrogateescape") for name, value in request.headers.items()}
        lowered = {name.title().replace("Gdpr", "GDPR"): text for name, text in texts.items()}
        status = 500
        try:
            for request.headers in (request.headers, lowered):
${PYTHON.replace(/^(?=.)/gm, ' '.repeat(16))}
                status = 204 if genuine else 401
        finally:
            request.send_response(status)
            request.send_header("Connection", "close")
            request.end_headers()
    def log_message(self, *args):
        pass
HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
`;

interface Started {
  readonly port: number;
  /** Whether no stranger has ended it. */
  lives(): boolean | Promise<boolean>;
}

const stops: (() => unknown)[] = [];
afterEach(() => Promise.all(stops.splice(0).map((stop) => stop())));
afterAll(() => rmSync(directory, { recursive: true }));

/** Starts the file of `code` as a program. */
async function program(command: string, name: string, code: string): Promise<Started> {
  const file = join(directory, name);
  writeFileSync(file, code);
  const port = await freePort();
  const env = { PATH: process.env['PATH'], SECRET, PORT: String(port) };
  const child: ChildProcess = spawn(command, [file], { env, stdio: 'ignore' });
  stops.push(() => child.kill('SIGKILL') && once(child, 'exit'));
  const runs = (): boolean => child.exitCode === null && child.signalCode === null;
  await until(() => {
    if (!runs()) throw new Error(`${name} has ended with ${child.exitCode}`);
    return rawRequest(port, 'x\r\n\r\n').then(
      () => true,
      () => false,
    );
  });
  return { port, lives: runs };
}

/** A listener of the packages, whose promise must not be rejected: nothing awaits it in the documentation. */
async function listening(
  listener: (...given: Parameters<RequestListener>) => Promise<void>,
): Promise<Started> {
  const handled: Promise<void>[] = [];
  const server: Server = createServer((request, response) => void handled.push(listener(request, response)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve))));
  const { port } = server.address() as AddressInfo;
  return { port, lives: () => Promise.all(handled).then(() => true) };
}

/** Ed25519 of a Discord application. */
const APPLICATION = generateKeyPairSync('ed25519');
function interaction(): SignedCall {
  const [rawBody, timestamp] = [JSON.stringify({ type: 1 }), String(Math.floor(Date.now() / 1000))];
  const signature = sign(null, Buffer.from(timestamp + rawBody), APPLICATION.privateKey).toString('hex');
  return { rawBody, headers: { 'x-signature-ed25519': signature, 'x-signature-timestamp': timestamp } };
}
const interactions = (): Promise<Started> => {
  const publicKey = APPLICATION.publicKey
    .export({ format: 'der', type: 'spki' })
    .subarray(-32)
    .toString('hex');
  const lethe = new Lethe({ url: 'http://127.0.0.1:1', key: 'sk_live_x' });
  return listening(new HttpInteractions({ lethe, publicKey }).node);
};

const HANDLER = createWebhookHandler({ secrets: SECRET, on: {} });
const CALL = {
  genuine: (): Promise<SignedCall> => signedCall({ secret: SECRET, event: EVENT }),
  status: 204,
};

interface Case {
  readonly start: () => Promise<Started>;
  readonly genuine: () => SignedCall | Promise<SignedCall>;
  /** The answer to a genuine call. */
  readonly status: number;
  /** The bytes of a body that it takes. */
  readonly most: number;
}
const RECEIVERS: readonly (readonly [string, Case])[] = [
  [
    'docs/receiver.mjs',
    { start: () => program(process.execPath, 'receiver.mjs', RECEIVER), ...CALL, most: BODY_MAX_BYTES },
  ],
  [
    'Express in webhooks.md',
    { start: () => program(process.execPath, 'express.mjs', EXPRESS), ...CALL, most: BODY_MAX_BYTES },
  ],
  ['handler.node of @lethe/sdk', { start: () => listening(HANDLER.node), ...CALL, most: BODY_MAX_BYTES }],
  [
    'interactions.node of @lethe/discord',
    { start: interactions, genuine: interaction, status: 200, most: INTERACTION_MAX_BYTES },
  ],
];

/** The bytes of a call. */
function bytesOf({ rawBody, headers }: SignedCall, length = Buffer.byteLength(rawBody)): Buffer {
  const lines = Object.entries({ ...headers, 'content-length': String(length) }).map((pair) =>
    pair.join(': '),
  );
  return Buffer.from(
    ['POST /gdpr HTTP/1.1', 'Host: bot', 'Connection: close', ...lines, '', rawBody].join('\r\n'),
    'latin1',
  );
}

/** The call with another text in each header that proves something, or without these. */
function forged({ rawBody, headers }: SignedCall, change: (text: string) => string | undefined): SignedCall {
  const changed = Object.entries(headers).map(([name, text]) => [
    name,
    /signature|webhook-/.test(name) ? change(text) : text,
  ]);
  return {
    rawBody,
    headers: Object.fromEntries(changed.filter(([, text]) => text !== undefined)) as Headers,
  };
}
type Headers = SignedCall['headers'];

const FORGERIES: Readonly<Record<string, (text: string) => string | undefined>> = {
  'no headers': () => undefined,
  'empty headers': () => '',
  'one byte outside ASCII': () => '\xe9',
  'no UTF-8': () => '\xff\xfe',
  'a byte outside ASCII in the right text': (text) => `${text.slice(0, -1)}\xe9`,
  'a cut text': (text) => text.slice(0, -1),
  'only commas and dots': () => ',.,.=,v1,',
  'a long text': () => 'v1,'.repeat(1_000),
};
const HEADS = [
  'hello\r\n\r\n',
  'POST / HTTP/1.1\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n',
];
const LENGTHS = ['Content-Length: -1', 'Content-Length: 1\r\nContent-Length: 2', 'Transfer-Encoding: gzip'];
const BROKEN = [...HEADS, ...LENGTHS.map((line) => `POST / HTTP/1.1\r\nHost: a\r\n${line}\r\n\r\nx`)];

/** Sends bytes and ends the connection within the body; resolves once the receiver has closed it too. */
function brokenOff(port: number, bytes: Buffer | string, how: 'end' | 'resetAndDestroy'): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, () => socket[how]()));
    socket.on('error', () => undefined).on('close', () => resolve());
    socket.resume();
  });
}

describe.each(RECEIVERS)('the receiver %s', (_name, { start, genuine, status, most }) => {
  it('refuses every stranger, lives on, and confirms a genuine call', async () => {
    const { port, lives } = await start();
    const call = await genuine();
    const answers: Record<string, number> = {};
    for (const [name, change] of Object.entries(FORGERIES))
      answers[name] = (await rawRequest(port, bytesOf(forged(call, change)))).status;
    for (const head of BROKEN) answers[head] = (await rawRequest(port, head)).status;
    // One byte more than it takes: all of it is read before the answer.
    const whole = { ...call, rawBody: 'x'.repeat(most + 1) };
    answers['a large body'] = (await rawRequest(port, bytesOf(whole))).status;
    expect(Object.entries(answers).filter(([, found]) => !(found >= 400 && found < 500))).toEqual([]);
    expect(answers['a large body']).toBe(413);
    const endless = `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n11170\r\n${'x'.repeat(70_000)}`;
    for (const how of ['resetAndDestroy', 'end'] as const)
      for (const bytes of [bytesOf(call, 1_000), bytesOf(whole, most * 16), endless])
        await brokenOff(port, bytes, how);
    expect((await rawRequest(port, bytesOf(await genuine()))).status).toBe(status);
    expect(await lives()).toBe(true);
  });
});

(runsPython ? describe : describe.skip)('the lines in Python', () => {
  it('refuse what a stranger writes into headers, and confirm a genuine call', async () => {
    const { port } = await program('python3', 'receiver.py', IN_PYTHON);
    const call = await CALL.genuine();
    for (const [name, change] of Object.entries(FORGERIES))
      expect([name, (await rawRequest(port, bytesOf(forged(call, change)))).status]).toEqual([name, 401]);
    expect((await rawRequest(port, bytesOf(call))).status).toBe(204);
  });
});
