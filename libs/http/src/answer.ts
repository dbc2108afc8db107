import { ApiError, describeFault, internalError, logRequest } from '@app/kernel';
import { ArgumentsHost, Catch, ExceptionFilter, HttpException } from '@nestjs/common';
import { rateLimitExceeded } from './rate-limit.guard';
import type { RateDecision } from './rate-limit.store';
import type { LetheResponse } from './request-context';
import { requestSpan } from './request-span';

/** The headers of every answer, in the flat form of `writeHead`. */
export function answerHeaders(
  response: LetheResponse,
  status: number,
  contentType = 'application/json; charset=utf-8',
  caching = 'no-store',
): string[] {
  const { id, rate, isReplayed } = response.req.context;
  const headers = [
    'Content-Type',
    contentType,
    'X-Request-Id',
    id,
    'Cache-Control',
    caching,
    'X-Content-Type-Options',
    'nosniff',
  ];
  if (rate !== undefined) {
    for (const [name, value] of rateHeaders(rate)) headers.push(name, value);
    if (status === 429) headers.push('Retry-After', String(rate.retryAfterSeconds));
  }
  if (isReplayed && status < 300) headers.push('Idempotent-Replayed', 'true');
  if (status === 401) headers.push('WWW-Authenticate', 'Bearer');
  if (status === 503) headers.push('Retry-After', '1');
  return headers;
}

/** The headers that describe the bucket of a caller. */
export function rateHeaders({ limit, remaining, resetSeconds }: RateDecision): [string, string][] {
  return [
    ['X-RateLimit-Limit', String(limit)],
    ['X-RateLimit-Remaining', String(remaining)],
    ['X-RateLimit-Reset', String(resetSeconds)],
  ];
}

/** The largest unread body, in bytes, that is read and dropped to keep the connection open for the next request. */
const SWALLOWED_MAX_BYTES = 65_536;

/**
 * Whether the request has a long body that is still unread. A request without body can also be incomplete at this time,
 * so the headers decide.
 */
function leavesLongBody({ complete, headers }: LetheResponse['req']): boolean {
  if (complete) return false;
  return (
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > SWALLOWED_MAX_BYTES
  );
}

/** Sends one whole JSON answer and logs it. */
export function answer(response: LetheResponse, status: number, json: string): void {
  sendWhole(response, status, answerHeaders(response, status), json);
}

/** Sends one whole answer with these headers and logs it. */
function sendWhole(response: LetheResponse, status: number, headers: string[], text: string): void {
  // The length of a 304 would be that of the page that the reader has (RFC 9110, section 8.6).
  if (status !== 304) headers.push('Content-Length', String(Buffer.byteLength(text)));
  const isCut = leavesLongBody(response.req);
  if (isCut) headers.push('Connection', 'close');
  response.writeHead(status, headers);
  if (isCut) endUnread(response, text);
  else response.end(text);
  logAnswer(response, status);
}

/** How long, in milliseconds, the rest of a refused body is read and dropped before the connection is closed. */
const DISCARD_MS = 1_000;

/**
 * Ends an answer that was given before its body was read. Closing at once would reset the connection while the client
 * sends, and the client could lose the answer (RFC 9112, section 9.6).
 */
function endUnread(response: LetheResponse, json: string): void {
  response.write(json);
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, DISCARD_MS);
  response.req.once('end', end).once('close', end).resume();
}

/**
 * Counts the answer and logs one line with the declared route. The address is not logged, since it holds ids of users.
 */
export function logAnswer(response: LetheResponse, status: number): void {
  const { method, context } = response.req;
  const route = response.req.route as { path?: string } | undefined;
  const tookMs = performance.now() - context.startedMs;
  context.onAnswered?.();
  context.meter.answered(method, route?.path, status, tookMs);
  context.spans.receive?.(requestSpan(response.req, route?.path, status, tookMs));
  logRequest(context.logger, {
    requestId: context.id,
    method,
    route: route?.path ?? null,
    status,
    botId: context.caller?.botId,
    durationMs: Math.round(tookMs * 100) / 100,
  });
}

/** A result that is already JSON text, such as stored values. It is put into the envelope unchanged. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** The JSON text of a result or of a part of one. */
export function jsonOf(value: object): string {
  return value instanceof JsonText ? value.text : JSON.stringify(value);
}

/** The envelope of a success. */
export function successEnvelope(data: unknown): string {
  return `{"success":true,"data":${data instanceof JsonText ? data.text : JSON.stringify(data ?? {})}}`;
}

/** The envelope of an error. */
export function errorEnvelope(error: Pick<ApiError, 'code' | 'message' | 'details'>): string {
  const { code, message, details } = error;
  return JSON.stringify({ success: false, error: { code, message, details } });
}

/**
 * Answers every error of every layer, such as parser, router, guards and services, in the error envelope or as `send` does it.
 * No internal detail is disclosed.
 */
export function answerError(
  response: LetheResponse,
  exception: unknown,
  send = (error: ApiError): void => answer(response, error.status, errorEnvelope(error)),
): void {
  const { logger, id: requestId, rate } = response.req.context;
  // Guards do not run for unknown paths, so a caller over the limit is refused here.
  const error = rate?.exceeded ? rateLimitExceeded() : toApiError(exception);
  if (error.status >= 500) logger.error({ requestId, ...describeFault(exception) }, 'request failed');
  if (response.headersSent) response.destroy();
  else send(error);
}

/** A page for people, a file to keep, or a document in a standard format: sent as it is, without the envelope. */
export class WebPage {
  constructor(
    readonly content: string,
    readonly headers: Readonly<Record<string, string>>,
    readonly status = 200,
  ) {}
}

export function answerPage(response: LetheResponse, { content, headers, status }: WebPage): void {
  const { 'Content-Type': type = 'text/html; charset=utf-8', 'Cache-Control': caching, ...further } = headers;
  const all = [...answerHeaders(response, status, type, caching), ...Object.entries(further).flat()];
  sendWhole(response, status, all, content);
}

@Catch()
export class ApiExceptionFilter implements ExceptionFilter {
  catch(exception: unknown, host: ArgumentsHost): void {
    answerError(host.switchToHttp().getResponse(), exception);
  }
}

/** The error that a caller gets for any thrown value. */
export function toApiError(exception: unknown): ApiError {
  if (exception instanceof ApiError) return exception;
  if (exception instanceof HttpException) {
    const status = exception.getStatus();
    if (status === 404)
      return new ApiError('not_found', 'There is no such path and method: /docs lists them all');
    if (status < 500) return new ApiError('invalid_request', 'The request is not valid');
  }
  if (exception instanceof URIError) return new ApiError('invalid_request', 'The path is not valid');
  return internalError();
}
