import { applyDecorators, HttpCode, Type } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { ErrorCode, ERRORS } from '@app/kernel';

const ALWAYS: readonly ErrorCode[] = [
  'invalid_request',
  'rate_limit_exceeded',
  'internal_error',
  'service_unavailable',
];

const HEADERS = Object.fromEntries(
  ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'].map((name) => [
    name,
    { $ref: `#/components/headers/${name}` },
  ]),
);

/**
 * Status and documentation of a route: the success envelope around `view`, or around one of several, and every error it
 * can answer. `documents` are further types of content, without envelope, that a caller can ask for.
 */
export function Responds(
  status: 200 | 201,
  view: Type | readonly Type[],
  errors: readonly ErrorCode[] = [],
  isPublic = false,
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
  return applyDecorators(
    HttpCode(status),
    ApiExtraModels(...views),
    ApiResponse({
      status,
      description: 'Success',
      headers: HEADERS,
      ...(documents.length === 0 ? { schema: success } : { content: contentOf(success, documents) }),
    }),
    ...refusals([...(isPublic ? [] : (['unauthorized'] as const)), ...errors]),
  );
}

/** {@link Responds} of a route that answers lines of JSON without the envelope, each a `view`. */
export function RespondsLines(view: Type, errors: readonly ErrorCode[] = []): MethodDecorator {
  const content = { 'application/x-ndjson': { schema: { $ref: getSchemaPath(view) } } };
  return applyDecorators(
    ApiExtraModels(view),
    ApiResponse({ status: 200, description: 'Success', headers: HEADERS, content }),
    ...refusals(['unauthorized', ...errors]),
  );
}

function refusals(codes: readonly ErrorCode[]): MethodDecorator[] {
  return [...new Set([...ALWAYS, ...codes])].map((code) =>
    ApiResponse({
      status: ERRORS[code].status,
      description: ERRORS[code].meaning,
      headers: HEADERS,
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Error' },
          example: { success: false, error: { code, message: ERRORS[code].meaning } },
        },
      },
    }),
  );
}

function contentOf(success: object, documents: readonly string[]): Record<string, { schema: object }> {
  const texts = documents.map((type) => [type, { schema: { type: 'string' } }] as const);
  return { 'application/json': { schema: success }, ...Object.fromEntries(texts) };
}
