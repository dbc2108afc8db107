import type { ApiError } from './errors';
import type { LetheResponse } from './request-context';

/** The headers of every answer, in the flat form of `writeHead`. */
export function answerHeaders(response: LetheResponse, status: number): string[] {
  const { id, rate } = response.req.context;
  const headers = [
    'Content-Type',
    'application/json; charset=utf-8',
    'X-Request-Id',
    id,
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
  ];
  if (rate !== undefined) {
    headers.push('X-RateLimit-Limit', String(rate.limit));
    headers.push('X-RateLimit-Remaining', String(rate.remaining));
    headers.push('X-RateLimit-Reset', String(rate.resetSeconds));
    if (status === 429) headers.push('Retry-After', String(rate.retryAfterSeconds));
  }
  if (status === 401) headers.push('WWW-Authenticate', 'Bearer');
  if (status === 503) headers.push('Retry-After', '1');
  return headers;
}

/** Sends one whole JSON answer and logs it; the only way in which an answer with a body leaves the service. */
export function answer(response: LetheResponse, status: number, json: string): void {
  const headers = answerHeaders(response, status);
  headers.push('Content-Length', String(Buffer.byteLength(json)));
  // A body that was not read to its end makes the connection useless for a next request.
  if (!response.req.complete) headers.push('Connection', 'close');
  response.writeHead(status, headers);
  response.end(json);
  logAnswer(response, status);
}

/** One line per request: the route as it was declared, never the address, which holds ids of users. */
export function logAnswer(response: LetheResponse, status: number): void {
  const { method, route, context } = response.req;
  context.logger.info(
    {
      requestId: context.id,
      method,
      route: (route as { path?: string } | undefined)?.path ?? null,
      status,
      botId: context.caller?.botId,
      durationMs: Math.round((performance.now() - context.startedMs) * 100) / 100,
    },
    'request',
  );
}

/** The envelope of a success. */
export function successEnvelope(data: unknown): string {
  return `{"success":true,"data":${JSON.stringify(data ?? {})}}`;
}

/** The envelope of an error. */
export function errorEnvelope({
  code,
  message,
  details,
}: Pick<ApiError, 'code' | 'message' | 'details'>): string {
  return JSON.stringify({ success: false, error: { code, message, details } });
}
