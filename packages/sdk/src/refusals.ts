import {
  ConflictError,
  ConsentRequiredError,
  type Fault,
  InsufficientScopeError,
  InvalidRequestError,
  type LetheCode,
  LetheError,
  NotFoundError,
  ProcessingRefusedError,
  RateLimitedError,
  SuspendedError,
  UnauthorizedError,
  UnavailableError,
} from './errors';
import type { Schemas } from './routes';

const CLASSES: Partial<Record<LetheCode, typeof LetheError>> = {
  invalid_request: InvalidRequestError,
  unauthorized: UnauthorizedError,
  consent_required: ConsentRequiredError,
  processing_refused: ProcessingRefusedError,
  suspended: SuspendedError,
  insufficient_scope: InsufficientScopeError,
  not_found: NotFoundError,
  conflict: ConflictError,
  rate_limit_exceeded: RateLimitedError,
  service_unavailable: UnavailableError,
};

const FROM_PROXIES = [502, 503, 504];

/** The error of an answer that is no success. */
export function refusalOf({ status, headers }: Response, text: string): LetheError {
  const requestId = headers.get('x-request-id') ?? undefined;
  const retryAfterSeconds = secondsUntilNext(headers);
  const left = headers.get('x-ratelimit-remaining') ?? '';
  const remaining = /^\d+$/.test(left) ? Number(left) : undefined;
  const known = { status, requestId, retryAfterSeconds, remaining };
  const error = envelopeOf(text)?.error as Partial<Schemas['Error']['error']> | undefined;
  if (typeof error?.code === 'string' && typeof error.message === 'string')
    return refusal(error.message, { ...known, code: error.code, details: error.details });
  if (status === 429)
    return refusal('A proxy limits the requests.', { ...known, code: 'rate_limit_exceeded' });
  if (FROM_PROXIES.includes(status))
    return refusal(`A proxy answered ${status}.`, { ...known, code: 'service_unavailable' });
  return unexpected(status, requestId);
}

/** The error of a code, of the class that belongs to it. */
export function refusal(message: string, fault: Fault): LetheError {
  return new (CLASSES[fault.code] ?? LetheError)(message, fault);
}

export function unexpected(status: number, requestId?: string): LetheError {
  return new LetheError(
    `This is no answer of Lethe (status ${status || 'of a redirect'}). Is the url right, with https where it is needed?`,
    { status, code: 'unexpected_answer', requestId },
  );
}

/** The JSON object of a text, or undefined. */
export function envelopeOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function secondsUntilNext(headers: Headers): number | undefined {
  const after = headers.get('retry-after');
  if (after === null) return undefined;
  const seconds = /^\d+$/.test(after) ? Number(after) : (Date.parse(after) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
