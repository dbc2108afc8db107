import { applyDecorators, HttpCode, Type } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { ErrorCode, ERRORS } from './errors';

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

/** Status and documentation of a route: the success envelope around `view`, and every error it can answer. */
export function Responds(
  status: 200 | 201,
  view: Type,
  errors: readonly ErrorCode[] = [],
  isPublic = false,
): MethodDecorator {
  const success = {
    type: 'object',
    required: ['success', 'data'],
    properties: { success: { type: 'boolean', enum: [true] }, data: { $ref: getSchemaPath(view) } },
  };
  return applyDecorators(
    HttpCode(status),
    ApiExtraModels(view),
    ApiResponse({ status, description: 'Success', headers: HEADERS, schema: success }),
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
