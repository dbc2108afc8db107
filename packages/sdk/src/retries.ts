import { ConflictError, LetheError, NetworkError, RateLimitedError, UnavailableError } from './errors';

const BACKOFF_MS = 250;
const BACKOFF_MAX_MS = 8_000;
/** Spreads the calls that wait for the same reset. */
const RESET_SPREAD_MS = 500;

/** Codes of Node.js for a connection that was never made. */
const NEVER_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

/** POSTs that take no `Idempotency-Key`. */
export const WITHOUT_KEY: readonly string[] = [
  'POST /bots/register',
  'POST /consents/status/batch',
  'POST /operator/bots/{id}/suspend',
  'POST /operator/bots/{id}/resume',
];
/** What may happen twice though no key makes it one. */
export const HARMLESS_TWICE: readonly string[] = WITHOUT_KEY.slice(1);

/** What an earlier attempt of a call may have left behind. */
interface Before {
  readonly route: string;
  readonly attempt: number;
  /** Whether an earlier attempt may have been carried out. */
  readonly mayRun: boolean;
}

/**
 * Whether an earlier attempt of this call is still running, though its connection was lost. An erasure gets the answer of that attempt,
 * with the salts that no other call answers.
 */
export const isRunning = (error: LetheError, { route, mayRun }: Omit<Before, 'attempt'>): boolean =>
  error instanceof ConflictError &&
  (error.reason === 'idempotency_in_progress' ||
    (route === 'POST /gdpr/forget-user' && mayRun && error.reason === 'deletion_in_progress'));

/** Whether the request may have been carried out. One that the limiter refuses was not. */
export const mayBeDone = (error: LetheError): boolean =>
  !(error instanceof RateLimitedError) && !wasNeverSent(error);

/** The guilds that an erasure of all guilds has completed before it failed, with their salts. */
export class Completed {
  private readonly requests = new Map<unknown, unknown>();
  private last: LetheError | undefined;

  /** Notes those of an attempt. Its error, which may be the last one, has those of the earlier attempts too. */
  noteIn(error: LetheError): void {
    const { requests } = error.details;
    if (Array.isArray(requests))
      for (const one of requests as { readonly request_id?: unknown }[])
        this.requests.set(one.request_id, one);
    if (this.requests.size === 0) return;
    const details = { ...error.details, requests: [...this.requests.values()] };
    this.last = Object.assign(error, { details });
  }

  /** What a call ends with that its caller ends: the last error with the salts, whose cause is the reason of the caller. */
  endOf(reason: unknown): unknown {
    if (!(reason instanceof LetheError))
      return this.last ? Object.assign(this.last, { cause: reason }) : reason;
    this.noteIn(reason);
    return reason;
  }
}

/** How long to wait before the same request is sent again; undefined if it must not be. */
export function waitMsAfter(
  error: LetheError,
  before: Before,
  isRepeatable: boolean,
  random: () => number = Math.random,
): number | undefined {
  const backoffMs = random() * Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** before.attempt);
  const { retryAfterSeconds } = error;
  const askedMs =
    retryAfterSeconds === undefined ? backoffMs : retryAfterSeconds * 1000 + random() * RESET_SPREAD_MS;
  if (error instanceof RateLimitedError) return askedMs;
  if (wasNeverSent(error)) return backoffMs;
  if (!isRepeatable) return undefined;
  if (error instanceof UnavailableError) return askedMs;
  return isRunning(error, before) || error instanceof NetworkError ? backoffMs : undefined;
}

function wasNeverSent(error: LetheError): boolean {
  const { cause: inner } = (error.cause ?? {}) as { cause?: { code?: string } };
  return error instanceof NetworkError && NEVER_SENT.includes(inner?.code ?? '');
}
