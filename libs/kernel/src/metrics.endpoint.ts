import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PrometheusMetrics } from './prometheus.metrics';
import { sameToken } from './same-token';

const PATH = '/metrics';

/** Loopback addresses in the notation of the kernel, which is the only one that occurs. */
const LOOPBACK = /^(?:::1|(?:::ffff:)?127\.\d+\.\d+\.\d+)$/;

/**
 * Headers that proxies add. A request with one of them does not come from the machine itself, whatever its socket
 * address is.
 */
const FORWARDED = ['x-forwarded-for', 'forwarded', 'x-real-ip'];

/**
 * Decides who may read the metrics. With a token, every caller that sends it; without one, only callers on the same
 * machine and not behind a proxy.
 */
export function mayRead(token: string): (request: Pick<IncomingMessage, 'headers' | 'socket'>) => boolean {
  if (token === '')
    return ({ headers, socket }) =>
      LOOPBACK.test(socket.remoteAddress ?? '') && FORWARDED.every((name) => headers[name] === undefined);
  const isToken = sameToken(token);
  return ({ headers }) => {
    const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    return given !== undefined && isToken(given);
  };
}

type Incoming = IncomingMessage & { readonly context?: { readonly id: string } };

/**
 * Middleware that answers `GET /metrics`. A caller that may not read the metrics is passed to `next`, which answers
 * like for an unknown path: such a caller cannot detect the endpoint.
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
