import { ApiError, internalError, OwnError, describeFault, logRequest } from '@app/kernel';
import type { LetheResponse } from './request-context';

/** The headers of every answer, in the flat form of `writeHead`. */
export function answerHeaders(
  response: LetheResponse,
  status: number,
  contentType = 'application/json; charset=utf-8',
): string[] {
  const { id, rate } = response.req.context;
  const headers = [
    'Content-Type',
    contentType,
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

/** Sends one whole JSON answer and logs it. Every answer that has a body and is not streamed is sent here. */
export function answer(response: LetheResponse, status: number, json: string): void {
  const headers = answerHeaders(response, status);
  headers.push('Content-Length', String(Buffer.byteLength(json)));
  const isCut = leavesLongBody(response.req);
  if (isCut) headers.push('Connection', 'close');
  response.writeHead(status, headers);
  if (isCut) endUnread(response, json);
  else response.end(json);
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
  context.meter.answered(method, route?.path, status, tookMs);
  logRequest(context.logger, {
    requestId: context.id,
    method,
    route: route?.path,
    status,
    botId: context.caller?.botId,
    durationMs: Math.round(tookMs * 100) / 100,
  });
}

/** A result that is already JSON text, such as stored values. It is put into the envelope unchanged. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** A result that is too large for one text. `writeTo` writes the JSON in pieces and awaits each. */
export class JsonStream {
  constructor(readonly writeTo: (write: (piece: string) => Promise<void>) => Promise<void>) {}
}

/** A document that is not JSON and has no envelope, written like a {@link JsonStream}. */
export class TextStream {
  constructor(
    readonly contentType: string,
    readonly writeTo: (write: (piece: string) => Promise<void>) => Promise<void>,
  ) {}
}

/** The envelope of a success. */
export function successEnvelope(data: unknown): string {
  return `{"success":true,"data":${data instanceof JsonText ? data.text : JSON.stringify(data ?? {})}}`;
}

/**
 * The time, in milliseconds, in which every reader must take something. A larger document may take longer at the same
 * pace. The snapshot behind the answer stays open until all is read.
 */
const STREAM_TIMEOUT_MS = 120_000;
const STREAM_CHARACTERS_PER_MS = 64;
/** The interval, in milliseconds, at which the pace of a reader is checked. */
const PACE_MS = 1_000;

/**
 * Sends a {@link JsonStream} in the success envelope, or a {@link TextStream} as it is, at the pace of its reader. A
 * fault before the first piece is answered as an error. A later fault cuts the connection, so that a reader never takes
 * a part for the whole.
 */
export async function answerStream(
  response: LetheResponse,
  status: number,
  stream: JsonStream | TextStream,
): Promise<void> {
  const [contentType, head, tail] =
    stream instanceof TextStream ? [stream.contentType, '', ''] : [undefined, '{"success":true,"data":', '}'];
  const begunMs = performance.now();
  let sent = 0;
  let sentMs = begunMs;
  const pace = setInterval(() => {
    const dueMs = Math.min(begunMs + sent / STREAM_CHARACTERS_PER_MS, sentMs) + STREAM_TIMEOUT_MS;
    if (performance.now() > dueMs) response.destroy();
  }, PACE_MS);
  try {
    await stream.writeTo(async (piece) => {
      if (response.destroyed) throw new OwnError('The reader went away');
      if (!response.headersSent) {
        response.writeHead(status, answerHeaders(response, status, contentType));
        response.write(head);
      }
      if (!response.write(piece)) await drained(response);
      sent += piece.length;
      sentMs = performance.now();
    });
    response.end(tail);
  } catch (error) {
    if (answerFault(response, error)) return;
  } finally {
    clearInterval(pace);
  }
  logAnswer(response, status);
}

/**
 * Ends a streamed answer after a fault. Returns true when the fault can still be answered as an error; otherwise the
 * connection is cut.
 */
export function answerFault(response: LetheResponse, error: unknown): boolean {
  const { logger, id: requestId } = response.req.context;
  const described = { requestId, ...describeFault(error) };
  if (!response.headersSent && !response.destroyed) {
    const fault = error instanceof ApiError ? error : internalError();
    logger.error(described, 'request failed');
    answer(response, fault.status, errorEnvelope(fault));
    return true;
  }
  logger.warn(described, 'answer was cut');
  response.destroy();
  return false;
}

/** The envelope of an error. */
export function errorEnvelope({
  code,
  message,
  details,
}: Pick<ApiError, 'code' | 'message' | 'details'>): string {
  return JSON.stringify({ success: false, error: { code, message, details } });
}

/** Resolves when the reader has taken the buffered data, or has closed the connection. */
export function drained(response: LetheResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
