import { applyDecorators, HttpCode, Type } from '@nestjs/common';
import { ApiExtension, ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
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

/** The key under which an operation keeps the errors that its route declares, until {@link completeOperation} documents them. */
const REFUSALS = 'x-lethe-refusals';

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
    ApiExtension(REFUSALS, refusals),
    ApiResponse({ status, description: 'Success', headers: HEADERS, content }),
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
  [REFUSALS]?: readonly DocumentedError[];
}

/** Adds what follows from the route itself: its security, the errors that it does not declare, and its examples. */
export function completeOperation(operation: DocumentedOperation, method: string, recorded: Answers): void {
  const { [PUBLIC_ROUTE]: isPublic, [OPERATOR_ROUTE]: isOfOperator, [REFUSALS]: declared = [] } = operation;
  const isIdempotent = operation[IDEMPOTENT_ROUTE_EXTENSION] === true;
  for (const name of [PUBLIC_ROUTE, OPERATOR_ROUTE, IDEMPOTENT_ROUTE_EXTENSION, REFUSALS] as const)
    delete operation[name];
  const { scopes, whileSuspended } = documentedAccess(operation, method);
  const ofBots = isPublic ? [] : scopes.map((scope) => ({ [API_KEY_SCHEME]: [scope] }));
  operation.security = isOfOperator ? [{ [OPERATOR_SCHEME]: [] }] : ofBots;
  if (isIdempotent) takeIdempotencyKey(operation);
  const own = declared.filter((each): each is Exclude<DocumentedError, ConflictReason> => each in ERRORS);
  const reasons = declared.filter((each): each is ConflictReason => each in CONFLICT_REASONS);
  if (isIdempotent) reasons.push(...IDEMPOTENCY_REASONS);
  const { responses } = operation;
  if (reasons.length > 0) responses[ERRORS.conflict.status] = conflictOf(reasons);
  const alike = (status: number): ErrorCode[] => own.filter((each) => ERRORS[each].status === status);
  const implied = [
    ...own,
    ...EVERYWHERE,
    ...(isPublic ? [] : (['unauthorized'] as const)),
    ...(isOfOperator ? (['not_found'] as const) : []),
    ...(['post', 'put'].includes(method) ? OF_BODIES : []),
  ];
  for (const code of implied) responses[ERRORS[code].status] ??= refusal(code, alike(ERRORS[code].status));
  if (!isPublic && !isOfOperator) responses[403] = forbidden(alike(403), scopes, whileSuspended);
  withExamples(operation, recorded);
}

/** Documents the `Idempotency-Key` of a route, and the header of a replayed answer. */
function takeIdempotencyKey(operation: DocumentedOperation): void {
  (operation.parameters ??= []).push({
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  });
  for (const [status, response] of Object.entries(operation.responses) as [string, { headers?: object }][])
    if (status.startsWith('2'))
      response.headers = {
        ...response.headers,
        'Idempotent-Replayed': { $ref: '#/components/headers/Idempotent-Replayed' },
      };
}

/** The 403 of a route with a key: the refusals that the route declares, and the refusals of the key and of the bot. */
function forbidden(own: readonly ErrorCode[], scopes: readonly string[], whileSuspended: boolean) {
  const errors = [
    ...own.map((code) => ({ code, ...DETAILS[code] })),
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

/** One refusal, or several of one status with an example for each. */
function refusal(code: ErrorCode, alike: readonly ErrorCode[]) {
  const { status, meaning } = ERRORS[code];
  if (alike.length < 2) return answer(status, meaning, { example: failureOf(code) });
  const examples = alike.map((each) => [each, { value: failureOf(each) }]);
  return answer(status, meaning, { examples: Object.fromEntries(examples) as object });
}

function failureOf(code: ErrorCode) {
  return { success: false, error: { code, message: ERRORS[code].meaning, ...DETAILS[code] } };
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
