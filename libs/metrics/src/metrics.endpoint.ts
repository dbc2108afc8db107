import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PrometheusMetrics } from './prometheus.metrics';

const PATH = '/metrics';

/** As the kernel writes it, so that no other spelling has to be known. */
const LOOPBACK = /^(?:::1|(?:::ffff:)?127\.\d+\.\d+\.\d+)$/;

/** What proxies add: a caller that comes through one is not the machine itself, whatever its socket says. */
const FORWARDED = ['x-forwarded-for', 'forwarded', 'x-real-ip'];

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Says who may read the metrics: with a token whoever sends it, without one only a caller on the machine itself that no
 * proxy has passed on.
 */
export function mayRead(token: string): (request: Pick<IncomingMessage, 'headers' | 'socket'>) => boolean {
  if (token === '')
    return ({ headers, socket }) =>
      LOOPBACK.test(socket.remoteAddress ?? '') && FORWARDED.every((name) => headers[name] === undefined);
  const expected = digest(token);
  return ({ headers }) => {
    const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}

type Incoming = IncomingMessage & { readonly context?: { readonly id: string } };

/**
 * Middleware that answers `GET /metrics`. Whoever may not read it is passed on like a caller of any unknown path, and so
 * cannot tell that it is there. For a bare server `next` is what it does with unknown paths.
 */
export function metricsEndpoint(metrics: PrometheusMetrics, token: string) {
  const admits = mayRead(token);
  return (request: Incoming, response: ServerResponse, next: (error?: unknown) => void): void => {
    const { url = '', method } = request;
    if (!url.startsWith(PATH) || (url.length > PATH.length && url[PATH.length] !== '?')) return next();
    if ((method !== 'GET' && method !== 'HEAD') || !admits(request)) return next();
    metrics.exposition().then((text) => send(request, response, metrics.contentType, text), next);
  };
}

function send(request: Incoming, response: ServerResponse, contentType: string, text: string): void {
  if (request.context !== undefined) response.setHeader('X-Request-Id', request.context.id);
  response.writeHead(200, {
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(text);
}
