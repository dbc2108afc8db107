import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { INestApplication } from '@nestjs/common';
import { ERRORS } from '@app/kernel';
import { OPERATIONS } from './openapi.operations';
import { WEBHOOK_SCHEMAS, WEBHOOKS } from './openapi.webhooks';

/** The version of the interface (specification, Part 9), which is not that of the software. */
const INTERFACE_VERSION = '1.0.0';

const API_KEY = 'apiKey';

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
  'Retry-After': integer('Seconds to wait'),
  'WWW-Authenticate': { description: 'The scheme to use', schema: { type: 'string', enum: ['Bearer'] } },
};

/** What single statuses answer beside the headers of every answer. */
const HEADERS_OF_STATUS: Readonly<Record<string, keyof typeof HEADERS>> = {
  401: 'WWW-Authenticate',
  429: 'Retry-After',
  503: 'Retry-After',
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
          additionalProperties: true,
        },
      },
    },
  },
};

const DESCRIPTION = `Consent, storage per category, export, erasure, audit log and signed webhooks for the bots of a chat platform.

Only data stored through this interface is covered by its exports and erasures. Snowflakes are strings: a JSON number
of that size has already lost digits. Unknown fields are ignored. Every answer carries \`X-Request-Id\` and the three
\`X-RateLimit-*\` headers.`;

/** The OpenAPI 3.1 document of a running application: its routes, whichever module brought them, and both webhooks. */
export function openApiDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Lethe')
    .setDescription(DESCRIPTION)
    .setVersion(INTERFACE_VERSION)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/', 'The service that serves this document')
    .addBearerAuth({ type: 'http', description: 'The API key from the registration, `sk_live_…`' }, API_KEY)
    .addSecurityRequirements(API_KEY)
    .build();
  const document = SwaggerModule.createDocument(
    app,
    { ...config, webhooks: WEBHOOKS as never },
    { operationIdFactory },
  );
  document.components = {
    ...document.components,
    schemas: { ...document.components?.schemas, Error: ERROR_SCHEMA, ...WEBHOOK_SCHEMAS },
    headers: HEADERS,
  };
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      if (item[method]) complete(item[method] as unknown as Operation, `${method.toUpperCase()} ${path}`);
    }
  }
  return document;
}

function operationIdFactory(controller: string, method: string): string {
  const resource = controller.replace(/Controller$/, '');
  return (
    resource.charAt(0).toLowerCase() + resource.slice(1) + method.charAt(0).toUpperCase() + method.slice(1)
  );
}

interface Operation {
  summary?: string;
  security?: object[];
  requestBody?: { content: Record<string, { examples?: object }> };
  responses: Record<string, { headers?: Record<string, object> }>;
}

/** What no decorator says: summary and examples, the open routes, the headers of single statuses. */
function complete(operation: Operation, route: string): void {
  const described = OPERATIONS[route];
  operation.summary ??= described?.summary;
  const json = operation.requestBody?.content['application/json'];
  if (json !== undefined && described?.examples !== undefined) json.examples = described.examples;
  // Every route that wants a key says that it answers 401.
  if (operation.responses['401'] === undefined) operation.security = [];
  for (const [status, name] of Object.entries(HEADERS_OF_STATUS)) {
    const response = operation.responses[status];
    if (response !== undefined)
      response.headers = { ...response.headers, [name]: { $ref: `#/components/headers/${name}` } };
  }
}
