import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import type { ApiError, PrometheusMetrics, Spans } from '@app/kernel';
import type { RateDecision, RateLimitStore } from './rate-limit.store';

/**
 * Who does an act, as the audit log names it in `details.actor`: `key:` and the visible beginning of an API key, `console`,
 * `privacy_page` or `job`.
 */
export type Actor = string;

/** A job of the service, which acts without a caller. */
export const JOB: Actor = 'job';

/** For which bot an act is done, and by whom. */
export interface Acting {
  readonly botId: string;
  readonly actor: Actor;
}

/** The authenticated bot of a request, and what its key allows. */
export class Caller implements Acting {
  constructor(
    readonly botId: string,
    readonly platformBotId: string,
    /** Requests per minute of the bot's tier. */
    readonly limit: number,
    readonly keyId: string,
    /** The bits of the key's scopes. */
    readonly scopes: number,
    /** Whether the operator has suspended the bot. */
    readonly isSuspended: boolean,
    readonly actor: Actor,
  ) {}

  /** The same caller in a session of the console. */
  inConsole(): Caller {
    const { botId, platformBotId, limit, keyId, scopes, isSuspended } = this;
    return new Caller(botId, platformBotId, limit, keyId, scopes, isSuspended, 'console');
  }
}

/** Who asks for a route of the operator: `off` without an operator token, `known` for a caller who sends it. */
type OperatorStanding = 'off' | 'unknown' | 'known';

/** The facts of one request, kept from its first middleware to its log line. */
export class RequestContext {
  caller: Caller | undefined = undefined;
  /** The caller as the keys are by now; {@link caller} itself while what was read is still valid, undefined for a key that is void. */
  callerNow: (() => Caller | undefined | Promise<Caller | undefined>) | undefined = undefined;
  operator: OperatorStanding = 'off';
  /** Undefined too where the store has failed. */
  rate: RateDecision | undefined = undefined;
  /** Whether the request is counted, or its store has failed: from then on its faults are answered. */
  isCounted = false;
  /** Where the request is counted. */
  counts: RateLimitStore | undefined = undefined;
  /** Requests per minute of the console, on a request of a session: it is counted apart from the requests of its bot. */
  consoleLimit: number | undefined = undefined;
  /** Whether the session of the console has ended since the request began. */
  hasSessionEnded: (() => boolean) | undefined = undefined;
  /** The fault that kept the caller from being identified. The guard throws it, so that the answer has its limits. */
  identityFault: Error | undefined = undefined;
  /** Whether the answer repeats the one to an earlier request with the same `Idempotency-Key`. */
  isReplayed = false;
  /** Called once the request has its answer, even if its client has closed the connection. */
  onAnswered: (() => void) | undefined = undefined;

  constructor(
    readonly id: string,
    readonly startedMs: number,
    readonly logger: Logger,
    readonly meter: PrometheusMetrics,
    readonly spans: Spans,
  ) {}
}

export interface LetheRequest extends Request {
  context: RequestContext;
  /** Why the request is no valid HTTP, if it is none: it is refused once it is counted. */
  fault?: ApiError;
  /** The parsed JSON object or form, the fault of a form, or undefined for a request without body. */
  body: Record<string, unknown> | ApiError | undefined;
}

export interface LetheResponse extends Response {
  req: LetheRequest;
}
