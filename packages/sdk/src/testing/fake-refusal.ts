import type { LetheCode } from '../errors';

const STATUSES: Partial<Record<LetheCode, number>> = {
  invalid_request: 400,
  unauthorized: 401,
  consent_required: 403,
  processing_refused: 403,
  suspended: 403,
  insufficient_scope: 403,
  not_found: 404,
  conflict: 409,
  payload_too_large: 413,
  rate_limit_exceeded: 429,
  service_unavailable: 503,
};

/** What the fake answers in place of a success. */
export class FakeRefusal extends Error {
  readonly status: number;

  constructor(
    readonly code: LetheCode,
    message: string,
    readonly details?: Readonly<Record<string, unknown>>,
  ) {
    super(message);
    this.status = STATUSES[code] ?? 500;
  }

  get error(): object {
    const { code, message, details } = this;
    return { code, message, ...(details !== undefined && { details }) };
  }
}

export const invalid = (field: string, message: string): FakeRefusal =>
  new FakeRefusal('invalid_request', `The request is malformed: ${field} ${message}`, {
    fields: [{ field, message }],
  });

export const notFound = (what: string, details?: Readonly<Record<string, unknown>>): FakeRefusal =>
  new FakeRefusal('not_found', `${what} not found`, details);
