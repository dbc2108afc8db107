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

export interface Check {
  readonly field: string;
  readonly isRight: boolean;
  readonly message: string;
}

/** @throws FakeRefusal 400 that names each field that is wrong */
export function requireAll(...checks: readonly Check[]): void {
  const fields = checks.flatMap(({ isRight, field, message }) => (isRight ? [] : [{ field, message }]));
  if (fields.length > 0) throw new FakeRefusal('invalid_request', 'The request is malformed', { fields });
}

/** A text that has something to read. */
export const isText = (value: unknown, max = Infinity): value is string =>
  typeof value === 'string' && value.trim() !== '' && [...value].length <= max;

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @throws FakeRefusal 400 for categories of a call that are no list of texts; they may be absent */
export function requireKeys({ categories }: Readonly<Record<string, unknown>>): void {
  const isList = Array.isArray(categories) && categories.length > 0 && categories.length <= 50;
  const isRight = categories === undefined || (isList && categories.every((key) => isText(key, 100)));
  requireAll({ field: 'categories', isRight, message: 'must be a list of 1 to 50 texts' });
}
