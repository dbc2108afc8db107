import { CONFLICT_REASONS, ERRORS } from '@app/kernel';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import Ajv, { type ValidateFunction } from 'ajv/dist/2020';
import { openApiDocument } from '../../apps/api/src/openapi';
import { useServiceInProcess } from '../support/service';

const ROOT = join(__dirname, '../..');

/** Part 4 of the specification: the statuses of every route, with 400 for every route with input. */
const CONTRACT: Readonly<Record<string, readonly number[]>> = {
  'POST /api/v1/bots/register': [201, 400, 409],
  'GET /api/v1/bots/{bot_id}': [200, 400, 401, 404, 429],
  'PUT /api/v1/bots/{bot_id}': [200, 400, 401, 404, 429],
  'DELETE /api/v1/bots/{bot_id}': [200, 400, 401, 404, 429],
  'POST /api/v1/servers/register': [201, 400, 401, 429],
  'POST /api/v1/data/register': [201, 400, 401, 409, 429],
  'GET /api/v1/data/categories': [200, 400, 401, 429],
  'POST /api/v1/consents/request': [201, 400, 401, 429],
  'POST /api/v1/consents/accept': [200, 400, 401, 404, 429],
  'POST /api/v1/consents/revoke': [200, 400, 401, 404, 429],
  'GET /api/v1/consents/status': [200, 400, 401, 429],
  'POST /api/v1/data/submit': [200, 400, 401, 403, 404, 429],
  'GET /api/v1/data/export/{user_id}': [200, 400, 401, 404, 429],
  'POST /api/v1/gdpr/forget-user': [200, 400, 401, 409, 429],
  'GET /api/v1/gdpr/forget-status/{id}': [200, 400, 401, 404, 429],
  'POST /api/v1/audit/event': [201, 400, 401, 429],
  'GET /api/v1/audit/events': [200, 400, 401, 429],
};

interface Media {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly schema: { readonly enum?: string[] } }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<
    Record<string, { readonly headers?: object; readonly content?: Readonly<Record<string, Media>> }>
  >;
}

interface ErrorSchema {
  readonly properties: {
    error: { properties: { details: { properties: { reason: { enum: string[] } } } } };
  };
}

describe('openapi.json', () => {
  const service = useServiceInProcess();
  let document: OpenAPIObject;
  let operations: [route: string, operation: Operation][];

  beforeAll(async () => {
    document = JSON.parse(JSON.stringify(await openApiDocument(service.app))) as OpenAPIObject;
    operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]): [string, Operation] => [
        `${method.toUpperCase()} ${path}`,
        operation as Operation,
      ]),
    );
  });

  it('is what this code describes (else: npm run openapi)', () => {
    const committed: unknown = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8'));
    expect(committed).toEqual(document);
  });

  it('is a valid OpenAPI 3.1 document', () => {
    // An ES module, which Jest cannot load on Node 20.
    const validator = join(ROOT, 'node_modules/@seriousme/openapi-schema-validator/bin/validate-api-cli.js');
    const { status, stdout } = spawnSync(process.execPath, [validator, join(ROOT, 'openapi.json')], {
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.any(String) });
    expect(document.openapi).toBe('3.1.0');
  });

  it('is served as it is, whatever the Host header says', async () => {
    const served = await fetch(`${service.url}/docs-json`, {
      headers: { 'X-Forwarded-Host': 'evil.example' },
    });
    expect(await served.json()).toEqual(document);
  });

  it.each(Object.entries(CONTRACT))('documents %s with every status of the contract', (route, statuses) => {
    const operation = Object.fromEntries(operations)[route];
    expect(Object.keys(operation?.responses ?? {})).toEqual(expect.arrayContaining(statuses.map(String)));
  });

  it.each(Object.keys(CONTRACT))('shows a request for %s if it takes a body', (route) => {
    const json = Object.fromEntries(operations)[route]?.requestBody?.content['application/json'];
    if (json !== undefined)
      expect(json.examples).toEqual(expect.objectContaining({ canonical: expect.anything() }));
  });

  it('says what every operation does: a line, two to four sentences, and a topic that is described (@Describes, @Topic)', () => {
    const topics = new Set(
      (document.tags ?? []).filter(({ description }) => description).map(({ name }) => name),
    );
    const lacking = operations.filter(([, { summary, description = '', tags = [] }]) => {
      const sentences = description.split(/[.](?= |$)/).length - 1;
      return !summary || sentences < 1 || sentences > 5 || !tags.some((tag) => topics.has(tag));
    });
    expect(lacking.map(([route]) => route)).toEqual([]);
  });

  it('names beside a filter by status only filters and their values', () => {
    const filtered = operations.filter(([, { parameters = [] }]) =>
      parameters.some(({ name, schema }) => name === 'status' && schema.enum !== undefined),
    );
    expect(filtered.map(([route]) => route)).toContain('GET /api/v1/webhooks/deliveries');
    for (const [route, { description = '', parameters = [] }] of filtered) {
      const known = [...parameters.flatMap(({ name, schema }) => [name, ...(schema.enum ?? [])]), 'next'];
      const named = [...description.matchAll(/`([a-z_]+)`/g)].map(([, word]) => word);
      expect({ route, unknown: named.filter((word) => !known.includes(word ?? '')) }).toEqual({
        route,
        unknown: [],
      });
    }
  });

  it('shows a request and an answer for every operation, and each fits its schema', () => {
    // A check runs a few times: its code is not worth to be made faster.
    const ajv = new Ajv({ strict: false, validateFormats: false, code: { optimize: false } });
    ajv.addSchema({ $id: 'document', components: document.components });
    // Most answers share their schema, which Ajv would compile for each.
    const compiled = new Map<string, ValidateFunction>();
    const checkOf = (schema: object): ValidateFunction => {
      const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
      const check = compiled.get(text) ?? ajv.compile(JSON.parse(text) as object);
      compiled.set(text, check);
      return check;
    };
    const faults: string[] = [];
    for (const [route, { requestBody, responses }] of operations) {
      const answers = Object.entries(responses);
      const contents = [requestBody?.content, ...answers.map(([, { content }]) => content)];
      for (const media of contents.flatMap((content) => Object.values(content ?? {}))) {
        const values = Object.values(media.examples ?? {}).map(({ value }) => value);
        if (media.example !== undefined) values.push(media.example);
        if (values.length === 0) continue;
        const check = checkOf(media.schema);
        for (const value of values)
          if (!check(value))
            faults.push(`${route}: ${ajv.errorsText(check.errors)} ${JSON.stringify(value)}`);
      }
      const [, { content = {} }] = answers[0] ?? ['', {}];
      if (!Object.values(content).some(({ examples }) => examples !== undefined))
        faults.push(`${route}: no answer`);
    }
    expect(faults).toEqual([]);
  });

  it('names every reason of a conflict, where it can occur', () => {
    const named = operations.flatMap(([, { responses }]) =>
      Object.keys(responses['409']?.content?.['application/json']?.examples ?? {}),
    );
    // Only an item of a batch has it, in an answer of 200.
    expect([...new Set([...named, 'superseded'])].sort()).toEqual(Object.keys(CONFLICT_REASONS).sort());
    const schemas = document.components?.schemas as unknown as Record<'Error', ErrorSchema>;
    const { reason } = schemas.Error.properties.error.properties.details.properties;
    expect(reason.enum).toEqual([...Object.keys(CONFLICT_REASONS), 'objection', 'restriction']);
  });

  it('limits details.reason of each 409 to the reasons of its operation', () => {
    const conflicts = operations.flatMap(([route, { responses }]) => {
      const { schema, examples = {} } = responses['409']?.content?.['application/json'] ?? {};
      return schema === undefined ? [] : [{ route, schema, reasons: Object.keys(examples) }];
    });
    expect(conflicts.length).toBeGreaterThan(15);
    for (const { route, schema, reasons } of conflicts) {
      const [error, own] = (schema as { allOf: [object, ErrorSchema] }).allOf;
      expect([route, error]).toEqual([route, { $ref: '#/components/schemas/Error' }]);
      const { details } = own.properties.error.properties;
      expect([route, details.properties.reason.enum]).toEqual([route, reasons]);
    }
  });

  it('wants the key everywhere but at the registration', () => {
    expect(document.security).toEqual([{ apiKey: [] }]);
    const open = operations.filter(([, { security }]) => security?.length === 0).map(([route]) => route);
    expect(open).toEqual(['POST /api/v1/bots/register']);
  });

  it('shows the 403 of the scope, and of a suspended bot where that is refused, beside the one of the route', () => {
    const refusals = (route: string): string[] => {
      const { content = {} } = Object.fromEntries(operations)[route]?.responses['403'] ?? {};
      return Object.keys(content['application/json']?.examples ?? {});
    };
    expect(refusals('POST /api/v1/bots/register')).toEqual([]);
    expect(refusals('GET /api/v1/servers')).toEqual(['insufficient_scope']);
    expect(refusals('POST /api/v1/consents/revoke')).toEqual(['insufficient_scope']);
    expect(refusals('POST /api/v1/data/submit')).toEqual([
      ...['consent_required', 'processing_refused', 'insufficient_scope', 'suspended'],
    ]);
  });

  it('says that every answer carries the request id and the limiter headers', () => {
    for (const [route, { responses }] of operations) {
      for (const [status, { headers }] of Object.entries(responses)) {
        expect([route, status, Object.keys(headers ?? {})]).toEqual([
          route,
          status,
          expect.arrayContaining([
            'X-Request-Id',
            'X-RateLimit-Limit',
            'X-RateLimit-Remaining',
            'X-RateLimit-Reset',
          ]),
        ]);
      }
    }
  });

  it('documents every error code, and no other', () => {
    const schemas = document.components?.schemas as unknown as Record<
      string,
      { properties: { error: { properties: { code: { enum: string[] } } } } }
    >;
    expect(schemas['Error']?.properties.error.properties.code.enum).toEqual(Object.keys(ERRORS));
  });

  it('describes the webhooks with their signature headers', () => {
    const webhooks = document.webhooks as Record<string, { post: { parameters: { name: string }[] } }>;
    expect(Object.keys(webhooks).sort()).toEqual([
      ...['consent_revoked', 'data_corrected', 'holder_task', 'user_forgotten'],
    ]);
    for (const { post } of Object.values(webhooks))
      expect(post.parameters.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['X-GDPR-Signature', 'X-GDPR-Event']),
      );
  });
});
