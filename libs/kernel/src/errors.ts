import type { ConflictReason } from './conflict-reasons';
import { cutText } from './text';

/** Every error code of the API: its status, its meaning, and how a caller corrects it. */
export const ERRORS = {
  invalid_request: {
    status: 400,
    meaning: 'The request is malformed; `details.fields` names every bad field',
    mend: 'Correct each field of `details.fields` as its `message` says. The same request fails again.',
  },
  unauthorized: {
    status: 401,
    meaning: 'The API key is missing, malformed or unknown',
    mend: 'Send `Authorization: Bearer sk_live_…` with the key from the registration, or a further one. A deleted or expired key is void, and so is every key of a deleted bot.',
  },
  consent_required: {
    status: 403,
    meaning: 'The user has not consented, or not to this category',
    mend: 'Ask the user with `POST /consents/request` and record the answer with `POST /consents/accept`, then repeat the request.',
  },
  processing_refused: {
    status: 403,
    meaning:
      'The user has objected to the processing or restricted it; `details.reason` is `objection` or `restriction`',
    mend: 'Stop processing it. A restriction ends with `POST /data/unrestrict`, when the user ends it; an objection stays until the user is erased or the category is deleted.',
  },
  suspended: {
    status: 403,
    meaning:
      'The operator has suspended the bot: it can read, export, erase, record withdrawals, objections and restrictions, make privacy links, and answer the tasks of its holders; nothing else works',
    mend: 'Ask the operator. Nothing that is stored is lost, and the webhook calls of the bot are sent when it is resumed.',
  },
  insufficient_scope: {
    status: 403,
    meaning: 'The API key lacks a scope; `details.required` names it',
    mend: 'Use a key with this scope. A key of scope `admin` makes further ones with `POST /bots/{bot_id}/keys`.',
  },
  not_found: {
    status: 404,
    meaning: 'No such resource of this bot, or no such path',
    mend: 'Check the path, the method and the ids. A resource of another bot is answered like a missing one. A category has to be declared first: `POST /data/register`.',
  },
  conflict: {
    status: 409,
    meaning: 'The request contradicts the present state; `details.reason` names how',
    mend: 'Read `details.reason`; the table of reasons says what to do for each.',
  },
  payload_too_large: {
    status: 413,
    meaning: 'The body is larger than this service takes',
    mend: 'Send at most `details.limit_bytes` bytes. The operator sets the limits.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body is not plain `application/json`',
    mend: 'Send `Content-Type: application/json` in UTF-8, without `Content-Encoding`.',
  },
  misdirected_request: {
    status: 421,
    meaning: 'The `Host` is not one that this service answers to',
    mend: 'Call the service by a name that it serves. While it listens on loopback these are `localhost`, `127.0.0.1`, `[::1]`, and the `ALLOWED_HOSTS` of the operator.',
  },
  rate_limit_exceeded: {
    status: 429,
    meaning: 'Too many requests in this minute; `Retry-After` says how long to wait',
    mend: 'Wait for as many seconds as `Retry-After` says, then repeat the request.',
  },
  internal_error: {
    status: 500,
    meaning: 'A fault of the service; quote `X-Request-Id` to its operator',
    mend: 'Give the operator the `X-Request-Id`: the log of the service has the cause under this id.',
  },
  service_unavailable: {
    status: 503,
    meaning:
      'The service cannot do this now; try again. Nothing was changed, unless the message says otherwise',
    mend: 'Wait for as many seconds as `Retry-After` says and repeat the request. Read the message first: it says so when a part is done.',
  },
} as const satisfies Readonly<Record<string, ErrorDescription>>;

interface ErrorDescription {
  readonly status: number;
  readonly meaning: string;
  readonly mend: string;
}

export type ErrorCode = keyof typeof ERRORS;

/** One bad field of a request: its path (`fields[3].key`) and how to correct it. */
export interface FieldFault {
  readonly field: string;
  readonly message: string;
}

/** The maximum of listed faults, so that the answer to a very bad request stays small. */
const LISTED_FAULTS = 50;

/**
 * An error of Lethe with a message for the operator. The message holds no value, no id of a user or guild and no
 * secret, so it may be logged. Messages of other errors are not logged, since they can quote stored values.
 */
export class OwnError extends Error {}

/**
 * An error that is answered to the caller. Its message holds no value, path, query or secret. A fault of the caller has no
 * stack trace: nothing reads it, and it costs a tenth of the answer to a bad request.
 */
export class ApiError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details?: Readonly<Record<string, unknown>>,
  ) {
    const { stackTraceLimit } = Error;
    if (ERRORS[code].status < 500) Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
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
  const said =
    first === undefined ? 'The request is not valid' : `${shortened(first.field)} ${first.message}`;
  return new ApiError('invalid_request', said, { fields: listed, ...more });
}

/** A path can hold keys that the caller chose. Long paths are cut. */
function shortened(field: string): string {
  return cutText(field, 200);
}

/** 404, with the same words for a resource of another bot and for a missing one. */
export function notFound(what: string, details?: Readonly<Record<string, unknown>>): ApiError {
  return new ApiError('not_found', `${what} not found`, details);
}

/** Undefined for a 404; throws every other error. */
export function unlessMissing(error: unknown): undefined {
  if (error instanceof ApiError && error.code === 'not_found') return undefined;
  throw error;
}

/** 409 with its machine-readable reason. */
export function conflict(
  reason: ConflictReason,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): ApiError {
  return new ApiError('conflict', message, { reason, ...details });
}

/** @throws ApiError 413 for a JSON text of more than `limitBytes`. */
export function requireBytes(what: string, json: string, limitBytes: number): void {
  if (Buffer.byteLength(json) <= limitBytes) return;
  throw new ApiError('payload_too_large', `${what} may be at most ${limitBytes} bytes long as JSON`, {
    limit_bytes: limitBytes,
  });
}

/** An unforeseen fault. Only the log says what it was. */
export function internalError(): ApiError {
  return new ApiError('internal_error', 'The service made a mistake; quote X-Request-Id to its operator');
}

/** The service cannot start. Only the message is printed: it gives the operator the cause and the remedy. */
export class StartError extends OwnError {}
