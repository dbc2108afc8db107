import type { Schemas } from './routes';

/** The codes of the service, and those of a call without a usable answer. */
export type LetheCode = Schemas['Error']['error']['code'] | 'network_error' | 'timeout' | 'unexpected_answer';
/** Why a call was answered with 409, or with 403 `processing_refused`. */
export type ConflictReason = NonNullable<NonNullable<Schemas['Error']['error']['details']>['reason']>;

export interface FieldFault {
  readonly field: string;
  readonly message: string;
}

export interface Fault {
  readonly status?: number;
  readonly code: LetheCode;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly requestId?: string;
  readonly retryAfterSeconds?: number;
  readonly remaining?: number;
  readonly cause?: unknown;
}

/** Every failure of a call, but that of a signal of the caller. */
export class LetheError extends Error {
  override readonly name: string = 'LetheError';
  /** The status of the answer; undefined where none came. */
  readonly status: number | undefined;
  readonly code: LetheCode;
  readonly details: Readonly<Record<string, unknown>>;
  /** The operator finds the request in the log of the service by it. */
  readonly requestId: string | undefined;
  /** When the service wants the next request, where it says so. */
  readonly retryAfterSeconds: number | undefined;
  /** How many requests the bot may still make in this minute, where the service says so. */
  readonly remaining: number | undefined;

  constructor(message: string, { cause, ...fault }: Fault) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = fault.status;
    this.code = fault.code;
    this.details = fault.details ?? {};
    this.requestId = fault.requestId;
    this.retryAfterSeconds = fault.retryAfterSeconds;
    this.remaining = fault.remaining;
  }

  /** Why the state refuses the request, of a conflict and of `processing_refused`. */
  get reason(): ConflictReason | undefined {
    return this.details['reason'] as ConflictReason | undefined;
  }

  /** Every bad field of an invalid request. */
  get fields(): readonly FieldFault[] {
    return (this.details['fields'] as readonly FieldFault[] | undefined) ?? [];
  }

  /** Where the package explains this error and what to do. */
  get docs(): string | undefined {
    if (this.status === undefined || this.code === 'unexpected_answer') return undefined;
    // Only the reasons of a conflict have headings.
    const reason = this.code === 'conflict' ? this.reason : undefined;
    return `@lethe/sdk/errors.md#${reason ?? `${this.status}-${this.code}`}`;
  }
}

/** 400: `fields` names every bad field. */
export class InvalidRequestError extends LetheError {
  override readonly name = 'InvalidRequestError';
}

/** 401: the key is missing, unknown, expired, or its bot is deleted. */
export class UnauthorizedError extends LetheError {
  override readonly name = 'UnauthorizedError';
}

/** 403: the user has not consented, or not to this category. */
export class ConsentRequiredError extends LetheError {
  override readonly name = 'ConsentRequiredError';

  get currentStatus(): Schemas['ConsentStatusView']['status'] | undefined {
    return this.details['current_status'] as Schemas['ConsentStatusView']['status'] | undefined;
  }
}

/** 403: the user has objected to the processing (GDPR Art. 21) or restricted it (Art. 18). Consent does not end either. */
export class ProcessingRefusedError extends LetheError {
  override readonly name = 'ProcessingRefusedError';

  /** An objection lasts until the user is erased or its category deleted, a restriction until it is ended. */
  override get reason(): 'objection' | 'restriction' | undefined {
    return this.details['reason'] as 'objection' | 'restriction' | undefined;
  }
}

/** 403: the operator has suspended the bot. */
export class SuspendedError extends LetheError {
  override readonly name = 'SuspendedError';
}

/** 403: the key lacks the scope `required`. */
export class InsufficientScopeError extends LetheError {
  override readonly name = 'InsufficientScopeError';

  get required(): string {
    return String(this.details['required']);
  }
}

/** 404: no such resource of this bot. */
export class NotFoundError extends LetheError {
  override readonly name = 'NotFoundError';
}

/** 409: the state refuses the request; `reason` says why. */
export class ConflictError extends LetheError {
  override readonly name = 'ConflictError';
}

/** 429: the limit of the bot is used up for `retryAfterSeconds`. */
export class RateLimitedError extends LetheError {
  override readonly name = 'RateLimitedError';
}

/** 503, or a proxy that does not reach the service. */
export class UnavailableError extends LetheError {
  override readonly name = 'UnavailableError';
}

/** No complete answer came. Whether the act was done is unknown. */
export class NetworkError extends LetheError {
  override readonly name = 'NetworkError';
}

/** The time of the call was over. Whether the act was done is unknown, unless the message says that nothing was sent. */
export class TimeoutError extends LetheError {
  override readonly name = 'TimeoutError';
}
