import type { FieldFault, LetheCode } from '../errors';

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

type Fault = (value: unknown) => string | undefined;

/** What `faultOf` finds in a value and within it, each with its path. */
function faultsIn(value: unknown, path: string, faultOf: Fault): FieldFault[] {
  const message = faultOf(value);
  if (message !== undefined) return [{ field: path || 'body', message }];
  if (typeof value !== 'object' || value === null) return [];
  const pathOf = (key: string): string => (path === '' ? key : `${path}.${key}`);
  return Object.entries(value).flatMap(([key, inner]) =>
    faultsIn(inner, Array.isArray(value) ? `${path}[${key}]` : pathOf(key), faultOf),
  );
}

/** The numbers that JSON readers would change. */
export const numberFaultsIn = (value: unknown, path: string): FieldFault[] =>
  faultsIn(value, path, (one) =>
    Number.isInteger(one) && !Number.isSafeInteger(one) && Math.abs(Number(one)) < 1e21
      ? 'must be at most 2^53 - 1 in size: send larger numbers as a string, so that they keep their digits'
      : undefined,
  );

/** @throws FakeRefusal 400 for a text or a key with NUL or a lone surrogate */
export function requireCleanTexts(given: Readonly<Record<string, unknown>>): void {
  const isUnclean = (text: unknown): boolean => typeof text === 'string' && /\p{Cs}|\u{0}/u.test(text);
  const [first] = faultsIn(given, '', (one) =>
    (isObject(one) ? Object.keys(one) : [one]).some(isUnclean)
      ? 'must not hold NUL or lone surrogates'
      : undefined,
  );
  if (first !== undefined) throw invalid(first.field, first.message);
}
