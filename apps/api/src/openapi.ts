import type { INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import {
  API_KEY_SCHEME,
  completeOperation,
  type DocumentedOperation,
  guideSchemas,
  OPERATOR_SCHEME,
  topicOf,
  withEitherShape,
} from '@app/http';
import { CONFLICT_REASONS, ERRORS, Turns } from '@app/kernel';
import { REFUSAL_KINDS } from '@app/user-data';
import recorded from './openapi.answers.json';
import { samplesOf } from './openapi.samples';
import { WEBHOOK_SCHEMAS, WEBHOOKS } from './openapi.webhooks';

/** The version of the interface (specification, Part 9). The version of the software is another. */
const INTERFACE_VERSION = '1.0.0';

/** The answers that `npm run openapi` has recorded, by operation and example (decision 216). */
const ANSWERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = recorded;

const METHODS = ['get', 'post', 'put', 'delete'] as const;

const integer = (description: string) => ({ description, schema: { type: 'integer' } });

const HEADERS = {
  'X-Request-Id': {
    description: 'The id of this request in the log of the service',
    schema: { type: 'string' },
  },
  'X-RateLimit-Limit': integer('Requests per minute'),
  'X-RateLimit-Remaining': integer('Requests left in this minute'),
  'X-RateLimit-Reset': integer('Unix time in seconds at which the minute ends'),
  'Idempotent-Replayed': {
    description:
      'Sent with an answer that repeats the one to an earlier request with the same `Idempotency-Key`',
    schema: { type: 'string', enum: ['true'] },
  },
  'Retry-After': integer('Seconds to wait'),
  'WWW-Authenticate': { description: 'The scheme to use', schema: { type: 'string', enum: ['Bearer'] } },
};

const REASON_SCHEMA = {
  type: 'string',
  enum: [...Object.keys(CONFLICT_REASONS), ...REFUSAL_KINDS],
  description: [
    'Why a 403 `processing_refused` is answered: `objection` or `restriction`. Why a 409:',
    '',
    ...Object.entries(CONFLICT_REASONS).map(([reason, { meaning }]) => `- \`${reason}\`: ${meaning}`),
  ].join('\n'),
};

const ERROR_SCHEMA = {
  type: 'object',
  required: ['success', 'error'],
  properties: {
    success: { type: 'boolean', enum: [false] },
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string', enum: Object.keys(ERRORS) },
        message: { type: 'string', description: 'For people; may change' },
        details: {
          type: 'object',
          description: 'For programs; a 400 lists every bad field in `fields`, a 409 says why in `reason`',
          properties: { reason: REASON_SCHEMA },
          additionalProperties: true,
        },
      },
    },
  },
};

const DESCRIPTION = `Consent, storage per category, export, erasure, audit log and signed webhooks for the bots of a chat platform.

Register a bot, then send its key with every call: \`Authorization: Bearer sk_live_…\`. The examples follow from each other:
register, declare a category, request and accept a consent, submit, export, forget.

Only data stored through this interface is covered by its exports and erasures. Snowflakes are strings: a JSON number
of that size has already lost digits. Unknown fields are ignored. Every answer carries \`X-Request-Id\` and the three
\`X-RateLimit-*\` headers.

\`security\` of an operation names the scopes of which its key needs one. The key of a registration has all.

Beside this interface, without a key: the probes \`/health/live\` and \`/health/ready\`, and the public keys that verify
every statement at [/.well-known/lethe-keys.json](/.well-known/lethe-keys.json), and every webhook call to a bot at
\`/.well-known/lethe-webhook-keys/{bot_id}\`.`;

/**
 * The OpenAPI 3.1 document of a running application, with the routes of all its modules and the webhooks. It is made in turns
 * of the event loop, a module in each.
 */
export async function openApiDocument(app: INestApplication, turns = new Turns()): Promise<OpenAPIObject> {
  const { openapi, ...config } = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Lethe')
    .setDescription(DESCRIPTION)
    .setVersion(INTERFACE_VERSION)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/', 'The service that serves this document')
    .addBearerAuth(
      { type: 'http', description: 'The API key from the registration, `sk_live_…`' },
      API_KEY_SCHEME,
    )
    .addBearerAuth(
      { type: 'http', description: 'The token of `OPERATOR_TOKEN`, for the operator alone' },
      OPERATOR_SCHEME,
    )
    .addSecurityRequirements(API_KEY_SCHEME)
    .build();
  const paths: OpenAPIObject['paths'] = {};
  const schemas: Record<string, object> = {};
  const guides: Record<string, object> = {};
  const topics = new Map<string, string>();
  const modules = [...app.get(ModulesContainer).values()].filter(({ controllers }) => controllers.size > 0);
  for (const { metatype } of modules) {
    await turns.next();
    const part = SwaggerModule.createDocument(
      app,
      { openapi, ...config },
      { operationIdFactory, include: [metatype] },
    );
    completePaths(part.paths, topics);
    // Two modules can have routes of one path.
    for (const [path, item] of Object.entries(part.paths)) paths[path] = { ...paths[path], ...item };
    Object.assign(schemas, part.components?.schemas);
    Object.assign(guides, guideSchemas(part.paths, part.components?.schemas ?? {}));
  }
  return {
    openapi,
    paths,
    ...config,
    tags: [...topics].map(([name, description]) => ({ name, description })),
    components: {
      ...config.components,
      schemas: { ...schemas, ...guides, Error: ERROR_SCHEMA, ...WEBHOOK_SCHEMAS },
      headers: HEADERS,
    },
    webhooks: WEBHOOKS as never,
  };
}

/** Adds to each operation what its decorators leave out, and to `topics` the topics of the operations. */
function completePaths(paths: OpenAPIObject['paths'], topics: Map<string, string>): void {
  for (const [path, item] of Object.entries(paths)) {
    for (const method of METHODS) {
      const operation = item[method] as DocumentedOperation | undefined;
      if (operation === undefined) continue;
      const topic = topicOf(operation);
      if (topic !== undefined) topics.set(topic.name, topic.description);
      withEitherShape(operation);
      completeOperation(operation, method, ANSWERS[operation.operationId ?? ''] ?? {});
      Object.assign(operation, { 'x-codeSamples': samplesOf(method, path, operation) });
    }
  }
}

function operationIdFactory(controller: string, method: string): string {
  const resource = controller.replace(/Controller$/, '');
  return (
    resource.charAt(0).toLowerCase() + resource.slice(1) + method.charAt(0).toUpperCase() + method.slice(1)
  );
}
