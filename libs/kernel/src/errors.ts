/** Every error code of the interface with its status and meaning; README and openapi.json are made from this table. */
export const ERRORS = {
  invalid_request: {
    status: 400,
    meaning: 'The request is malformed; `details.fields` names every bad field',
  },
  unauthorized: { status: 401, meaning: 'The API key is missing, malformed or unknown' },
  consent_required: { status: 403, meaning: 'The user has not consented, or not to this category' },
  not_found: { status: 404, meaning: 'No such resource of this bot, or no such path' },
  conflict: { status: 409, meaning: 'The request contradicts the present state; `details.reason` names how' },
  payload_too_large: { status: 413, meaning: 'The body is larger than this service takes' },
  unsupported_media_type: { status: 415, meaning: 'The body is not plain `application/json`' },
  rate_limit_exceeded: {
    status: 429,
    meaning: 'Too many requests in this minute; `Retry-After` says how long to wait',
  },
  internal_error: { status: 500, meaning: 'A fault of the service; quote `X-Request-Id` to its operator' },
  service_unavailable: {
    status: 503,
    meaning:
      'The service cannot do this now; try again. Nothing was changed, unless the message says otherwise',
  },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** Why a 409: the values of `details.reason`. */
export type ConflictReason =
  | 'bot_exists'
  | 'category_exists'
  | 'deletion_in_progress'
  | 'deletion_not_completed'
  | 'no_certificate'
  | 'category_in_use'
  | 'rotation_in_progress'
  | 'report_in_progress'
  | 'no_webhook_url'
  | 'text_exists'
  | 'too_many_languages'
  | 'nothing_scheduled';

/** One bad field of a request: its path (`fields[3].key`) and how to mend it. */
export interface FieldFault {
  readonly field: string;
  readonly message: string;
}

/** At most this many faults are listed, so that an answer stays small however bad the request. */
const LISTED_FAULTS = 50;

/** An error that is answered to the caller; its message holds no value, path, query or secret. */
export class ApiError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details?: Readonly<Record<string, unknown>>,
  ) {
    super(message);
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** 400 that names every bad field. */
export function invalidRequest(faults: readonly FieldFault[]): ApiError {
  const first = faults[0];
  const listed = faults
    .slice(0, LISTED_FAULTS)
    .map(({ field, message }) => ({ field: shortened(field), message }));
  const more = faults.length > LISTED_FAULTS ? { more: faults.length - LISTED_FAULTS } : {};
  const message =
    first === undefined ? 'The request is not valid' : `${shortened(first.field)} ${first.message}`;
  return new ApiError('invalid_request', message, { fields: listed, ...more });
}

/** A path can hold the caller's own keys: long ones are cut. */
function shortened(field: string): string {
  return field.length > 200 ? `${field.slice(0, 200)}…` : field;
}

/** 404; the same words for a foreign resource and for none at all. */
export function notFound(what: string, details?: Readonly<Record<string, unknown>>): ApiError {
  return new ApiError('not_found', `${what} not found`, details);
}

/** 409 with its machine-readable reason. */
export function conflict(reason: ConflictReason, message: string): ApiError {
  return new ApiError('conflict', message, { reason });
}

/** A fault that nobody foresaw; what it was is told to the log alone. */
export function internalError(): ApiError {
  return new ApiError('internal_error', 'The service made a mistake; quote X-Request-Id to its operator');
}
