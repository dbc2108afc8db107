import { KIND, type LinkedSpan, markFailed, type Span, type Tracing } from '@app/tracing';
import type { NextFunction } from 'express';
import type { LetheRequest, LetheResponse } from './request-context';

/** The methods that Lethe has; another one may be any text. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE']);

/** The one form of a request id that holds nothing else: a caller chooses the others. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}$/;

/**
 * Gives each request a trace of its own, with its declared route and its status: never its address, query, header or body.
 * The trace that a caller names is linked. It decides nothing: no caller can have its requests recorded.
 */
export function traceRequests(tracing: Tracing, untraced: ReadonlySet<string>) {
  return (request: LetheRequest, response: LetheResponse, next: NextFunction): void => {
    if (untraced.has(request.path)) return tracing.within(undefined, next);
    const method = METHODS.has(request.method) ? request.method : 'OTHER';
    const links = namedBy(request.headers['traceparent']);
    const span = tracing.begin({ name: method, kind: KIND.server, links });
    if (span !== undefined) response.once('close', () => end(span, method, response));
    tracing.within(span, next);
  };
}

function end(span: Span, method: string, response: LetheResponse): void {
  const { context } = response.req;
  const route = (response.req.route as { path?: string } | undefined)?.path;
  const { statusCode: status } = response;
  if (route !== undefined) span.updateName(`${method} ${route}`);
  span.setAttributes({
    'http.request.method': method,
    'http.route': route,
    'http.response.status_code': status,
    'lethe.request.id': UUID.test(context.id) ? context.id : undefined,
    'lethe.bot.id': context.caller?.botId,
    'lethe.answer.is_whole': response.writableFinished,
  });
  if (status >= 500) markFailed(span);
  span.end();
}

function namedBy(traceparent: string | string[] | undefined): LinkedSpan[] {
  const [, traceId, spanId] = TRACEPARENT.exec(String(traceparent)) ?? [];
  if (traceId === undefined || spanId === undefined) return [];
  return [{ traceId, spanId, traceFlags: 0, isRemote: true }];
}
