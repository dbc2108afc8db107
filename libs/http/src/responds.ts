import { applyDecorators, HttpCode, Type } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { CONFLICT_REASONS, type ConflictReason, type ErrorCode, ERRORS } from '@app/kernel';
import { documentedAccess, OPERATOR_ROUTE, PUBLIC_ROUTE, type ScopedOperation } from './scopes';
import { type Answers, type DescribedOperation, withExamples } from './describes';

/** An error that not all routes have: its code, or the reason of a conflict. */
export type DocumentedError = Exclude<ErrorCode, 'conflict'> | ConflictReason;

const EVERYWHERE: readonly ErrorCode[] = [
  'invalid_request',
  'misdirected_request',
  'rate_limit_exceeded',
  'internal_error',
  'service_unavailable',
];

const OF_BODIES: readonly ErrorCode[] = ['payload_too_large', 'unsupported_media_type'];

const HEADERS = Object.fromEntries(
  ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'].map((name) => [
    name,
    { $ref: `#/components/headers/${name}` },
  ]),
);

/** Marks a route that takes an `Idempotency-Key` in the documentation. */
export const IDEMPOTENT_ROUTE_EXTENSION = 'x-lethe-idempotent';

const IDEMPOTENCY_REASONS: readonly ConflictReason[] = [
  'idempotency_key_reused',
  'idempotency_in_progress',
  'idempotency_answer_erased',
];

/** The headers of single statuses, in addition to the headers of every answer. */
const HEADERS_OF_STATUS: Readonly<Record<number, string>> = {
  401: 'WWW-Authenticate',
  429: 'Retry-After',
  503: 'Retry-After',
};

/**
 * The status and documentation of a route: the success envelope around `view`, or around one of several views, and the
 * errors that only this route answers. {@link completeOperation} adds the errors of every route, of routes with a body
 * and of routes with a key. `documents` are further content types, without envelope, that a caller can request.
 */
export function Responds(
  status: 200 | 201,
  view: Type | readonly Type[],
  refusals: readonly DocumentedError[] = [],
  documents: readonly string[] = [],
): MethodDecorator {
  const views = Array.isArray(view) ? (view as readonly Type[]) : [view as Type];
  const [first, ...further] = views.map((each) => ({ $ref: getSchemaPath(each) }));
  const data = further.length === 0 ? first : { oneOf: [first, ...further] };
  const success = {
    type: 'object',
    required: ['success', 'data'],
    properties: { success: { type: 'boolean', enum: [true] }, data },
  };
  const texts = documents.map((type) => [type, { schema: { type: 'string' } }] as const);
  const content: Record<string, { schema: object }> = {
    'application/json': { schema: success },
    ...Object.fromEntries(texts),
  };
  return applyDecorators(
    HttpCode(status),
    ApiExtraModels(...views),
    ApiResponse({ status, description: 'Success', headers: HEADERS, content }),
    ...refused(refusals),
  );
}

/** {@link Responds} for a route that answers lines of JSON without the envelope. Each line is a `view`. */
export function RespondsLines(view: Type): MethodDecorator {
  // The `type` of a line determines its further fields.
  const schema = { allOf: [{ $ref: getSchemaPath(view) }], additionalProperties: true };
  const content = { 'application/x-ndjson': { schema } };
  return applyDecorators(
    ApiExtraModels(view),
    ApiResponse({ status: 200, description: 'Success', headers: HEADERS, content }),
    ...refused([]),
  );
}

/** The name of the security scheme of API keys. Its roles in the document are the scopes of a key. */
export const API_KEY_SCHEME = 'apiKey';

/** The name of the security scheme of the operator's token. */
export const OPERATOR_SCHEME = 'operatorToken';

/** The parts of an OpenAPI operation that {@link completeOperation} adds to. */
export interface DocumentedOperation extends DescribedOperation, ScopedOperation {
  security?: object[];
  [PUBLIC_ROUTE]?: boolean;
  [OPERATOR_ROUTE]?: boolean;
  [IDEMPOTENT_ROUTE_EXTENSION]?: boolean;
}

/** Adds what follows from the route itself: its security, the errors that it does not declare, and its examples. */
export function completeOperation(operation: DocumentedOperation, method: string, recorded: Answers): void {
  const isPublic = operation[PUBLIC_ROUTE] === true;
  delete operation[PUBLIC_ROUTE];
  const isOfOperator = operation[OPERATOR_ROUTE] === true;
  delete operation[OPERATOR_ROUTE];
  const { scopes, whileSuspended } = documentedAccess(operation, method);
  const ofBots = isPublic ? [] : scopes.map((scope) => ({ [API_KEY_SCHEME]: [scope] }));
  operation.security = isOfOperator ? [{ [OPERATOR_SCHEME]: [] }] : ofBots;
  if (operation[IDEMPOTENT_ROUTE_EXTENSION] === true) takeIdempotencyKey(operation);
  delete operation[IDEMPOTENT_ROUTE_EXTENSION];
  const implied = [
    ...EVERYWHERE,
    ...(isPublic ? [] : (['unauthorized'] as const)),
    ...(isOfOperator ? (['not_found'] as const) : []),
    ...(['post', 'put'].includes(method) ? OF_BODIES : []),
  ];
  for (const code of implied) operation.responses[ERRORS[code].status] ??= refusal(code);
  if (!isPublic && !isOfOperator) operation.responses[403] = forbidden(operation, scopes, whileSuspended);
  withExamples(operation, recorded);
}

/** Documents the `Idempotency-Key` of a route, its refusals, and the header of a replayed answer. */
function takeIdempotencyKey(operation: DocumentedOperation): void {
  (operation.parameters ??= []).push({
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  });
  const own = operation.responses[ERRORS.conflict.status] as ReturnType<typeof conflictOf> | undefined;
  operation.responses[ERRORS.conflict.status] = conflictOf([...reasonsOf(own), ...IDEMPOTENCY_REASONS]);
  for (const [status, response] of Object.entries(operation.responses) as [string, { headers?: object }][])
    if (status.startsWith('2'))
      response.headers = {
        ...response.headers,
        'Idempotent-Replayed': { $ref: '#/components/headers/Idempotent-Replayed' },
      };
}

/** The reasons of a documented 409, which has an example for each. */
function reasonsOf(conflict: ReturnType<typeof conflictOf> | undefined): ConflictReason[] {
  const { examples = {} } = (conflict?.content['application/json'] ?? {}) as { examples?: object };
  return Object.keys(examples) as ConflictReason[];
}

/** The 403 of a route with a key: the refusal that the route declares, and the refusals of the key and of the bot. */
function forbidden(
  { responses }: DocumentedOperation,
  scopes: readonly string[],
  whileSuspended: boolean,
): DocumentedOperation['responses'][string] {
  const own = responses[403]?.content?.['application/json'] as
    { example?: Failure; examples?: Record<string, { value: Failure }> } | undefined;
  const errors = [
    ...(own?.example === undefined ? [] : [own.example.error]),
    ...Object.values(own?.examples ?? {}).map(({ value }) => value.error),
    { code: 'insufficient_scope', details: { required: scopes[0] } } as const,
    ...(whileSuspended ? [] : [{ code: 'suspended' } as const]),
  ];
  const examples = errors.map((error) => {
    const { meaning } = ERRORS[error.code];
    return [
      error.code,
      { summary: meaning, value: { success: false, error: { message: meaning, ...error } } },
    ];
  });
  const needed = `The key needs the scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}`;
  const meanings = errors.map(({ code }) => `\`${code}\`: ${ERRORS[code].meaning}`);
  return answer(403, [...meanings, needed].join('. '), { examples: Object.fromEntries(examples) as object });
}

interface Failure {
  readonly error: { readonly code: ErrorCode; readonly details?: object };
}

function refused(refusals: readonly DocumentedError[]): MethodDecorator[] {
  const reasons = refusals.filter((each): each is ConflictReason => each in CONFLICT_REASONS);
  const codes = refusals.filter((each): each is Exclude<DocumentedError, ConflictReason> => each in ERRORS);
  const alike = (code: ErrorCode) => codes.filter((each) => ERRORS[each].status === ERRORS[code].status);
  return [
    ...codes.filter((code) => alike(code)[0] === code).map((code) => ApiResponse(refusalOf(alike(code)))),
    ...(reasons.length === 0
      ? []
      : [ApiResponse({ status: ERRORS.conflict.status, ...conflictOf(reasons) })]),
  ];
}

function refusal(code: ErrorCode) {
  const { status, meaning } = ERRORS[code];
  return answer(status, meaning, { example: failureOf(code) });
}

function failureOf(code: ErrorCode) {
  return { success: false, error: { code, message: ERRORS[code].meaning, ...DETAILS[code] } };
}

/** One refusal, or several of one status with an example for each. */
function refusalOf(codes: readonly Exclude<DocumentedError, ConflictReason>[]) {
  const [code = 'not_found'] = codes;
  const { status, meaning } = ERRORS[code];
  if (codes.length === 1) return { status, ...refusal(code) };
  const examples = codes.map((each) => [each, { value: failureOf(each) }]);
  return { status, ...answer(status, meaning, { examples: Object.fromEntries(examples) as object }) };
}

/** The 409 of a route, with an example for each of its reasons. */
function conflictOf(reasons: readonly ConflictReason[]) {
  const examples = reasons.map((reason) => {
    const { meaning } = CONFLICT_REASONS[reason];
    const error = { code: 'conflict', message: meaning, details: { reason } };
    return [reason, { summary: meaning, value: { success: false, error } }] as const;
  });
  const meanings = reasons.map((reason) => `\`${reason}\`: ${CONFLICT_REASONS[reason].meaning}`).join('. ');
  const schema = conflictSchema(reasons);
  return answer(ERRORS.conflict.status, meanings, { schema, examples: Object.fromEntries(examples) });
}

/** The error of a 409, whose `details.reason` is one of `reasons`. */
function conflictSchema(reasons: readonly ConflictReason[]) {
  const only = (name: string, schema: object, others: object = {}) => ({
    type: 'object',
    required: [name],
    properties: { ...others, [name]: schema },
  });
  const reason = only('reason', { type: 'string', enum: [...reasons] });
  const beside = { code: { type: 'string', enum: ['conflict'] }, message: { type: 'string' } };
  return { allOf: [ERROR_SCHEMA, only('error', only('details', reason, beside))] };
}

/** The `details` of errors whose `details` are the same on every route. */
const DETAILS: Partial<Record<ErrorCode, { readonly details: object }>> = {
  invalid_request: {
    details: { fields: [{ field: 'user_id', message: 'must be a string of 17 to 20 digits' }] },
  },
  payload_too_large: { details: { limit_bytes: 65_536 } },
  processing_refused: { details: { reason: 'restriction' } },
};

const ERROR_SCHEMA = { $ref: '#/components/schemas/Error' };

function answer(status: number, description: string, media: object) {
  const own = HEADERS_OF_STATUS[status];
  const headers =
    own === undefined ? HEADERS : { ...HEADERS, [own]: { $ref: `#/components/headers/${own}` } };
  return { description, headers, content: { 'application/json': { schema: ERROR_SCHEMA, ...media } } };
}
