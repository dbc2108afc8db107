import { ApiError, type Config, inTime, invalidRequest, isCleanText, OwnError } from '@app/kernel';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { Express, RequestHandler } from 'express';
import { createServer, IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { answer, answerPage, successEnvelope, WebPage } from './answer';
import { acceptWaiting, ConnectionQueue, cutUnlessWorking } from './connections';
import { ListPage } from './pagination';
import { Refusals } from './refusals';
import type { LetheResponse } from './request-context';
import { type StreamLimits, StreamSlots } from './stream-slots';
import { answerStream, AnswerStream } from './streams';

/**
 * The time in which a client must send its headers, and its whole request, in milliseconds. The connection of a slower
 * client is cut.
 */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** At a shutdown, how long an idle connection stays open for one more request, in milliseconds. */
const IDLE_GRACE_MS = 100;

/** What all connections and readers may take. */
type HttpLimits = StreamLimits & Pick<Config, 'connectionsMax' | 'readerTimeoutMs' | 'keepAliveTimeoutMs'>;

/**
 * Express behind Nest, with three differences. Every result of a controller is sent in the success envelope with one
 * `writeHead`. Requests are created with Express's prototypes, since a later change of the prototype defeats V8's
 * inline caches. What Node refuses before Express passes Express as well ({@link Refusals}).
 */
export class LetheHttpAdapter extends ExpressAdapter {
  private readonly sockets = new Set<Socket>();
  readonly slots: StreamSlots;

  constructor(private readonly limits: HttpLimits) {
    const app: Express = express();
    app.disable('x-powered-by');
    app.disable('etag');
    app.enable('case sensitive routing');
    app.enable('strict routing');
    app.set('query parser', parseQuery);
    super(app);
    this.slots = new StreamSlots(limits);
  }

  /** The number of open connections, idle ones included. */
  get connections(): number {
    return this.sockets.size;
  }

  /** Express checks the status and a deprecation on every call. Statuses of Lethe need no check. */
  override status(response: LetheResponse, status: number): LetheResponse {
    response.statusCode = status;
    return response;
  }

  override reply(response: LetheResponse, result: unknown, status?: number): void {
    if (response.headersSent) return;
    const body = result instanceof ListPage ? result.content() : result;
    if (body instanceof AnswerStream) void answerStream(response, status ?? 200, body, this.slots);
    else if (body instanceof WebPage) answerPage(response, body);
    else answer(response, status ?? response.statusCode, successEnvelope(body));
  }

  /** @throws OwnError at the start: such a route would always be answered 404, since the interface has no such method */
  override patch(path: unknown): never {
    throw new OwnError(`A route has GET, POST, PUT or DELETE: PATCH ${String(path)} is never answered`);
  }

  override initHttpServer(): void {
    const app = this.getInstance<Express>();
    const made = {
      IncomingMessage: madeWith(IncomingMessage, app.request),
      ServerResponse: madeWith(ServerResponse, app.response),
    };
    const options = {
      ...made,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      // Node says this time in `Keep-Alive` and closes a second later, so that a client that heeds it meets no closed one.
      keepAliveTimeout: this.limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: 2_000,
      // Node would answer a missing host outside the envelope; `hostFault` does it.
      requireHostHeader: false,
    };
    const queue = new ConnectionQueue((request, response) => {
      request.url = originForm(request.url ?? '');
      app(request, response);
    });
    const refusals = new Refusals(app, made as never);
    const server: Server = createServer(options as object, queue.take);
    server.maxConnections = this.limits.connectionsMax;
    // Node counts a slow reader as one who takes something.
    server.setTimeout(this.limits.readerTimeoutMs, cutUnlessWorking);
    server.on('clientError', refusals.onFault);
    // Node would answer 417 outside the envelope. A server may ignore an expectation (RFC 9110, section 10.1.1).
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    // Node cuts these connections silently if nothing listens.
    server.on('connect', refusals.onConnect);
    this.httpServer = server;
  }

  /**
   * Accepts the connections that wait, then no more, and waits for all to end. Every further answer has
   * `Connection: close`, and idle connections are closed. Resolves to true when no connection is left, to false when
   * `timeoutMs` has passed and the remaining ones were cut.
   */
  async drain(timeoutMs: number): Promise<boolean> {
    const server = this.httpServer as Server;
    closeAfterAnswers(this.getInstance<Express>().response);
    const endMs = performance.now() + timeoutMs;
    await acceptWaiting(server, endMs);
    // `close()` of node:http would reset idle connections, although a next request may already be in transit.
    const closed = new Promise<boolean>((resolve) => {
      NetServer.prototype.close.call(server, () => resolve(true));
    });
    let isDraining = true;
    const closeIdle = (): void => {
      if (!isDraining) return;
      server.closeIdleConnections();
      for (const socket of this.sockets) if (socket.bytesRead === 0) socket.destroy();
    };
    // After what has arrived is read: a process that was stopped runs its timers first.
    const sweep = setInterval(() => setImmediate(closeIdle), IDLE_GRACE_MS);
    const ended = await inTime(closed, endMs - performance.now(), () => false);
    isDraining = false;
    clearInterval(sweep);
    if (!ended) server.closeAllConnections();
    return ended;
  }

  /** Unknown paths outside the prefix are also answered in the envelope. */
  override setNotFoundHandler(handler: RequestHandler): unknown {
    return this.use(handler);
  }

  /** BodyGuard reads bodies instead. */
  override registerParserMiddleware(): void {}
}

/**
 * A constructor like `native` that Node.js calls by `new` for each request or answer. Its instances have the prototype
 * that Express would otherwise set on each of them afterwards.
 */
function madeWith(native: typeof IncomingMessage | typeof ServerResponse, prototype: object): unknown {
  function Made(this: object, ...given: unknown[]): void {
    (native as unknown as (...args: unknown[]) => void).apply(this, given);
  }
  Made.prototype = prototype;
  return Made;
}

/** Makes every answer that has not begun the last one of its connection, by the prototype that all answers share. */
function closeAfterAnswers(responses: Express['response']): void {
  const native = Reflect.get(responses, 'writeHead') as (...given: unknown[]) => ServerResponse;
  Reflect.set(responses, 'writeHead', function (this: ServerResponse, ...given: unknown[]) {
    this.shouldKeepAlive = false;
    return native.apply(this, given);
  });
}

const AUTHORITY = /^https?:\/\/[^/?#]+/i;

/**
 * The path and query of a target, which can also be a whole URL (RFC 9112, section 3.2.2). A target without a path is the root:
 * Express answers a target in which it finds no path by itself, uncounted and outside the envelope.
 */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const path = target.replace(AUTHORITY, '');
  if (path === target) return '/';
  return path.startsWith('/') ? path : `/${path}`;
}

/**
 * Parses a query string into single text values. A repeated parameter, a bracket form of an array or object, or a NUL is a
 * fault. A parser must not throw, so the fault is returned and BodyGuard throws it.
 */
export function parseQuery(text: string | null | undefined): Record<string, string> | ApiError {
  const found = Object.create(null) as Record<string, string>;
  if (!text) return found;
  for (const [name, value] of PLAIN.test(text) ? plainPairs(text) : new URLSearchParams(text)) {
    const [hasName, hasValue] = [isCleanText(name), isCleanText(value)];
    if (!hasName || !hasValue)
      return invalidRequest([
        { field: hasName ? name : 'query', message: 'must not hold NUL or lone surrogates' },
      ]);
    if (name.includes('['))
      return invalidRequest([{ field: name, message: 'must be a plain parameter, not an array or object' }]);
    if (name in found) return invalidRequest([{ field: name, message: 'must be given once' }]);
    found[name] = value;
  }
  return found;
}

/** A query without encoding or brackets, as most queries are. */
const PLAIN = /^\w+=[\w.-]*(&\w+=[\w.-]*)*$/;

function plainPairs(text: string): [string, string][] {
  return text.split('&').map((pair) => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
}
