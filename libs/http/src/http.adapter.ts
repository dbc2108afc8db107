import { randomUUID } from 'node:crypto';
import { createServer, IncomingMessage, ServerResponse, Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { Express, RequestHandler } from 'express';
import { answer, answerStream, errorEnvelope, JsonStream, successEnvelope, TextStream } from './answer';
import { answerDocument, answerLines, LineStream, PublicDocument } from './bare-answer';
import { parseQuery } from './query';
import type { LetheResponse } from './request-context';

/** Milliseconds a client has to send its headers, and its whole request: slow senders are cut, others not held up. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** At a shutdown, how long an idle connection may still bring a request before it is closed. */
const IDLE_GRACE_MS = 100;

/**
 * Express behind Nest with three differences: every result of a controller leaves in the success envelope with one
 * `writeHead`; requests are created with Express's prototypes instead of being given them afterwards, which keeps
 * V8's inline caches; and what Node refuses before Express sees it is answered in the error envelope too.
 */
export class LetheHttpAdapter extends ExpressAdapter {
  private readonly sockets = new Set<Socket>();

  constructor() {
    const app: Express = express();
    app.disable('x-powered-by');
    app.disable('etag');
    app.enable('case sensitive routing');
    app.enable('strict routing');
    app.set('query parser', parseQuery);
    super(app);
  }

  /** Open connections, idle ones too. */
  get connections(): number {
    return this.sockets.size;
  }

  /** Express checks the code, which is ours, and looks into a deprecation on every call. */
  override status(response: LetheResponse, status: number): LetheResponse {
    response.statusCode = status;
    return response;
  }

  override reply(response: LetheResponse, body: unknown, status?: number): void {
    if (response.headersSent) return;
    if (body instanceof JsonStream || body instanceof TextStream)
      void answerStream(response, status ?? 200, body);
    else if (body instanceof PublicDocument) answerDocument(response, body);
    else if (body instanceof LineStream) void answerLines(response, body);
    else answer(response, status ?? response.statusCode, successEnvelope(body));
  }

  override initHttpServer(): void {
    const app = this.getInstance<Express>();
    const options = {
      IncomingMessage: born(IncomingMessage, app.request),
      ServerResponse: born(ServerResponse, app.response),
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: 2_000,
      // Node's own refusal stands outside the envelope.
      requireHostHeader: false,
    };
    const server: Server = createServer(options as object, (request, response) => {
      if (isWithoutHost(request)) refuseUnreadable(new Error(), request.socket);
      else app(request, response);
    });
    server.on('clientError', refuseUnreadable);
    // Node answers 417 outside the envelope; a server may as well overlook an expectation (RFC 9110 section 10.1.1).
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    // Without a listener Node cuts these without a word; with one the socket's errors and its end are ours to see to.
    server.on('connect', (_request, socket: Duplex) => {
      socket.on('error', () => socket.destroy()).resume();
      refuseUnreadable(new Error(), socket);
    });
    this.httpServer = server;
  }

  /**
   * Stops accepting connections and lets the open ones end: every further answer says `Connection: close`, idle
   * connections are closed. Resolves when none is left, false when some had to be cut at `timeoutMs`.
   */
  async drain(timeoutMs: number): Promise<boolean> {
    const server = this.httpServer as Server;
    closeAfterAnswers(this.getInstance<Express>().response);
    // Not http's own close(): that resets idle connections whose next request may be on its way.
    const closed = new Promise<boolean>((resolve) => {
      NetServer.prototype.close.call(server, () => resolve(true));
    });
    const sweep = setInterval(() => {
      server.closeIdleConnections();
      for (const socket of this.sockets) if (socket.bytesRead === 0) socket.destroy();
    }, IDLE_GRACE_MS);
    let cut: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => (cut = setTimeout(resolve, timeoutMs, false)));
    const ended = await Promise.race([closed, late]);
    clearInterval(sweep);
    clearTimeout(cut);
    if (!ended) server.closeAllConnections();
    return ended;
  }

  /** Unknown paths outside the prefix are answered in the envelope as well. */
  override setNotFoundHandler(handler: RequestHandler): unknown {
    return this.use(handler);
  }

  /** Parsing is Lethe's own (json-body.ts). */
  override registerParserMiddleware(): void {}
}

/** A constructor like `native` whose instances have `prototype`, so that Express finds nothing left to change. */
function born(native: typeof IncomingMessage | typeof ServerResponse, prototype: object): unknown {
  function Born(this: object, ...given: unknown[]): void {
    (native as unknown as (...args: unknown[]) => void).apply(this, given);
  }
  Born.prototype = prototype;
  return Born;
}

/** Makes every answer not yet begun its connection's last one. */
function closeAfterAnswers(responses: Express['response']): void {
  const native = Reflect.get(responses, 'writeHead') as (...given: unknown[]) => ServerResponse;
  Reflect.set(responses, 'writeHead', function (this: ServerResponse, ...given: unknown[]) {
    this.shouldKeepAlive = false;
    return native.apply(this, given);
  });
}

/** HTTP/1.1 wants to be told the host (RFC 9112 section 3.2). */
function isWithoutHost({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.1' && headers.host === undefined;
}

/** How long a refused client may take to read why: one that never closes would keep its connection for ever. */
const LINGER_MS = 1_000;

/**
 * Requests that are no HTTP (400), that did not arrive in time (408) or whose headers are too large (431): answered in the envelope, then cut. Nothing is
 * written into the middle of an answer that has begun on the same connection; that one is cut.
 */
function refuseUnreadable(
  error: Error & { code?: string },
  socket: Duplex & { readonly _httpMessage?: ServerResponse | null },
): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  if (socket._httpMessage?.headersSent) socket.end();
  else socket.end(refusalOf(error.code));
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** By the code of Node's error: what is no fault of the syntax. */
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
