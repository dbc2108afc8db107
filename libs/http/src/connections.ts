import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorEnvelope } from './answer';

/** How long a refused client may read the answer, in milliseconds. Then its connection is closed. */
const LINGER_MS = 1_000;

/** How many connections the system holds for a server that has not accepted them yet, as `listen` asks for. */
const BACKLOG = 511;

/** A connection. `_httpMessage` is the answer that is being sent on it: Node.js has no public name for it. */
type AnsweredSocket = Duplex & {
  readonly _httpMessage?: (ServerResponse & { req: IncomingMessage }) | null;
  readonly bytesRead?: number;
  readonly bytesWritten?: number;
};

/** Connections whose next bytes are no request, while whole requests before them are being answered. */
const ending = new WeakSet<Duplex>();

/**
 * Answers requests that are not HTTP (400), arrive too late (408) or have too large headers (431) in the envelope, and
 * closes the connection. Whole requests that arrived before on the connection get their own answers first.
 */
function refuseUnreadable(error: Error & { code?: string }, socket: AnsweredSocket): void {
  if (error.code === 'ECONNRESET') return void socket.destroy();
  const running = socket._httpMessage;
  if (!running?.req.complete) return refuse(error.code, socket);
  if (ending.has(socket)) return;
  ending.add(socket);
  running.once('close', () => {
    ending.delete(socket);
    if (socket.writable) refuseUnreadable(error, socket);
  });
}

/**
 * A listener of `clientError`. A process that was suspended finds the time of a request over before it reads what has come
 * meanwhile: bytes that the next turn of the event loop brings are given a second to be a whole request.
 */
export function refuseConnection(error: Error & { code?: string }, socket: AnsweredSocket): void {
  const { bytesRead, bytesWritten, _httpMessage } = socket;
  if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT' || _httpMessage?.req.complete)
    return refuseUnreadable(error, socket);
  const refuseUnlessWhole = (): void => {
    const running = socket._httpMessage;
    const isWhole = running == null ? socket.bytesWritten !== bytesWritten : running.req.complete;
    if (!isWhole) refuseUnreadable(error, socket);
  };
  setImmediate(() => {
    if (socket.bytesRead === bytesRead) refuseUnlessWhole();
    // Suspended meanwhile, it reads what has come before it looks.
    else setTimeout(() => setImmediate(refuseUnlessWhole), LINGER_MS).unref();
  });
}

/** Cuts a connection without activity, unless its next bytes have to come from this service or wait to be read. */
export function cutUnlessWorking(socket: AnsweredSocket): void {
  const { bytesRead } = socket;
  setImmediate(() => {
    if (socket.bytesRead !== bytesRead) return;
    if (socket.writableLength > 0 || socket._httpMessage == null) socket.destroy();
  });
}

/**
 * Accepts the connections that wait in the system, one in each turn of the event loop, at the latest until `endMs` on the
 * monotonic clock: the end of `listen` would reset them.
 */
export async function acceptWaiting(server: Server, endMs: number): Promise<void> {
  let taken = 0;
  const count = (): void => void taken++;
  const events = ['connection', 'drop'] as const;
  for (const event of events) server.on(event, count);
  // The first turn may have begun after its time to accept, so that nothing follows from it.
  for (let turn = 0, before = 0; turn < 2 || (taken !== before && turn < BACKLOG); turn++) {
    if (performance.now() >= endMs) break;
    before = taken;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  for (const event of events) server.off(event, count);
}

/** If the answer of a request has already begun, nothing is written and the connection is cut. */
export function refuse(code: string | undefined, socket: AnsweredSocket): void {
  if (!socket.writable) return void socket.destroy();
  if (socket._httpMessage?.headersSent) socket.end();
  else socket.end(refusalOf(code));
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** Statuses by the code of Node's error. Every other code is a fault of the syntax (400). */
const REFUSALS: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The request headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time'],
};

function refusalOf(code: string | undefined): string {
  const [status, message] = REFUSALS[code ?? ''] ?? ['400 Bad Request', 'The request is not valid HTTP/1.1'];
  const body = errorEnvelope({ code: 'invalid_request', message, details: undefined });
  return (
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
    `X-Request-Id: ${randomUUID()}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`
  );
}

/** A connection on which more requests wait for the answers before them is cut. */
const WAITING_MAX = 32;

/** Makes what has come of a body one chunk: a chunk of one byte takes hundreds in memory. */
function join(waiting: IncomingMessage | undefined): void {
  // The read of an empty body is its end, for which nothing listens yet.
  if (waiting === undefined || waiting.readableLength === 0) return;
  waiting.unshift(waiting.read() as Buffer);
}

type Run = (request: IncomingMessage, response: ServerResponse) => void;
type Exchange = readonly [IncomingMessage, ServerResponse];

/**
 * Runs the requests of one connection one after the other. A request begins once the answer before it is taken, so that
 * a client that sends many requests and reads nothing has one answer in memory. After an answer that closes the
 * connection no further request begins, since its answer could not be sent. The body of a request that waits is one buffer in
 * memory once another one comes after it, and no longer one for each chunk.
 */
export class ConnectionQueue {
  private readonly waiting = new WeakMap<Socket, Exchange[]>();

  constructor(private readonly run: Run) {}

  readonly take: Run = (request, response) => {
    const { socket } = request;
    if (socket.writableEnded) return;
    const others = this.waiting.get(socket);
    if (others === undefined) {
      this.waiting.set(socket, []);
      this.begin(socket, [request, response]);
    } else if (others.length < WAITING_MAX) {
      join(others.at(-1)?.[0]);
      others.push([request, response]);
    } else socket.destroy();
  };

  private begin(socket: Socket, [request, response]: Exchange): void {
    response.once('close', () => this.end(socket));
    this.run(request, response);
  }

  private end(socket: Socket): void {
    const next = this.waiting.get(socket)?.shift();
    if (next === undefined || socket.destroyed || socket.writableEnded) this.waiting.delete(socket);
    else this.begin(socket, next);
  }
}
