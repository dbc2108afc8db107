import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtension, ApiOperation, ApiTags } from '@nestjs/swagger';

/** A request that can be sent unchanged, and the answer of a fresh service to it. */
interface Example {
  /** When to send this example. A route with several examples needs it. */
  readonly summary?: string;
  readonly body?: object;
  /** `data` of the answer, or the whole answer of a route without envelope. Without it, the recorded answer is shown. */
  readonly answer?: unknown;
}

type NamedExamples = Readonly<Record<string, Example>>;

/** The only example of a route, or its examples by name. The only one, and the first of several, is `canonical`. */
export type Examples = Example | NamedExamples;

/** The documentation of a route for readers. */
interface Description {
  /** One line without a full stop. */
  readonly summary: string;
  /**
   * Two to four sentences: what the call does, what it guarantees, which article it serves, and what a repeated call
   * does.
   */
  readonly description: string;
  /** Values of path and query parameters. A path parameter without one has the example of its name. */
  readonly parameters?: Readonly<Record<string, string | number>>;
  readonly examples?: Examples;
}

/**
 * The key under which an operation keeps the values of a {@link Description} until {@link withExamples} moves them to
 * their places.
 */
const DESCRIBED = 'x-lethe-described';

/** Summary, description and examples of a route, for its documentation. `@Responds` adds the answers. */
export function Describes({
  summary,
  description,
  parameters,
  examples = { body: undefined },
}: Description): MethodDecorator {
  const only = Object.hasOwn(examples, 'answer') || Object.hasOwn(examples, 'body');
  const values = { parameters, examples: only ? { canonical: examples } : examples };
  return applyDecorators(ApiOperation({ summary, description }), ApiExtension(DESCRIBED, values));
}

/** A decorator of a parameter that documents its route too, by the type of the parameter. */
export function documenting(
  parameter: ParameterDecorator,
  documented: (type: Type) => MethodDecorator,
): ParameterDecorator {
  return (controller, name, index) => {
    parameter(controller, name, index);
    if (name === undefined) return;
    const types = Reflect.getMetadata('design:paramtypes', controller, name) as readonly Type[];
    const route = Object.getOwnPropertyDescriptor(controller, name) as PropertyDescriptor;
    documented(types[index] as Type)(controller, name, route);
  };
}

/** The key under which an operation keeps its topic's description until {@link topicOf} removes it. */
const TOPIC = 'x-lethe-topic';

/**
 * The heading of a controller's routes in the documentation. If several controllers share a topic, one of them
 * describes it.
 */
export function Topic(name: string, description?: string): ClassDecorator {
  if (description === undefined) return ApiTags(name);
  return applyDecorators(ApiTags(name), ApiExtension(TOPIC, description));
}

type Content = Record<string, { schema?: object; example?: unknown; examples?: Record<string, object> }>;

/** The parts of an OpenAPI operation that examples belong to. */
export interface DescribedOperation {
  readonly operationId?: string;
  parameters?: {
    readonly name: string;
    readonly required?: boolean;
    in?: string;
    description?: string;
    schema?: {
      readonly type?: string;
      readonly minLength?: number;
      readonly maxLength?: number;
      example?: unknown;
    };
    example?: unknown;
  }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
  tags?: string[];
  [DESCRIBED]?: { readonly parameters?: Description['parameters']; readonly examples: NamedExamples };
  [TOPIC]?: string;
}

/** The topic that the operation's controller describes, with its description; undefined for other controllers. */
export function topicOf(operation: DescribedOperation): { name: string; description: string } | undefined {
  const { tags: [name] = [], [TOPIC]: description } = operation;
  delete operation[TOPIC];
  return name === undefined || description === undefined ? undefined : { name, description };
}

/** Answers by the names of their examples. */
export type Answers = Readonly<Record<string, unknown>>;

/** Puts the values of `@Describes` into the operation: parameters, request bodies, and answers, of which `recorded` has the others. */
export function withExamples(operation: DescribedOperation, recorded: Answers): void {
  const { parameters = {}, examples } = operation[DESCRIBED] ?? { examples: {} };
  delete operation[DESCRIBED];
  for (const parameter of operation.parameters ?? []) {
    const value =
      parameters[parameter.name] ?? (parameter.in === 'path' ? OF_PATHS[parameter.name] : undefined);
    if (value !== undefined) parameter.example = value;
    // Documentation pages send every example value. An optional parameter therefore has an example only where the route
    // gives one.
    if (value !== undefined || parameter.required !== true) delete parameter.schema?.example;
  }
  const bodies = named(examples, ({ body }) => body);
  const json = operation.requestBody?.content['application/json'];
  if (json !== undefined && bodies !== undefined) json.examples = bodies;
  for (const [status, { content = {} }] of Object.entries(operation.responses)) {
    if (!status.startsWith('2')) continue;
    for (const [type, media] of Object.entries(content)) {
      const answers = named(examples, ({ answer }, name) => inMedia(type, answer ?? recorded[name]));
      if (answers !== undefined) media.examples = answers;
    }
  }
}

function inMedia(type: string, answer: unknown): unknown {
  if (answer === undefined) return undefined;
  if (type === 'application/json')
    return typeof answer === 'string' ? undefined : { success: true, data: answer };
  if (type === 'application/x-ndjson') return answer;
  return typeof answer === 'string' ? answer : undefined;
}

function named(
  examples: NamedExamples,
  value: (example: Example, name: string) => unknown,
): Record<string, { summary: string | undefined; value: unknown }> | undefined {
  const entries = Object.entries(examples)
    .map(([name, example]) => [name, { summary: example.summary, value: value(example, name) }] as const)
    .filter(([, shown]) => shown.value !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Ids, names and times of every example: one bot and one user, so that each example can follow the one before it. */
export const EXAMPLE = {
  bot_id: '0198c0de-0000-7000-8000-000000000001',
  platform_bot_id: '987654321098765432',
  user_id: '123456789012345678',
  guild_id: '223456789012345678',
  consent_id: '0198c0de-0000-7000-8000-000000000002',
  request_id: '0198c0de-0000-7000-8000-000000000003',
  delivery_id: '0198c0de-0000-7000-8000-000000000004',
  event_id: '0198c0de-0000-7000-8000-000000000005',
  key_id: '0198c0de-0000-7000-8000-000000000006',
  link_id: '0198c0de-0000-7000-8000-000000000008',
  rotated_key_id: '0198c0de-0000-7000-8000-000000000007',
  category: 'profile',
  consent_version: '1.0',
  time: '2026-11-20T12:00:00.000Z',
  later: '2026-12-20T12:00:00.000Z',
  /** Base64url of 32 bytes. */
  hash: 'YvZ3sZyTq0M9mQ0rQb1m1c2n3o4p5q6r7s8t9u0v1w8',
  digest: 'sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  /** A compact JWS with a shortened signature. */
  jws: 'eyJhbGciOiJFZERTQSIsImtpZCI6IjAxOThjMGRlIn0.eyJ2ZXJzaW9uIjoxfQ.c2lnbmF0dXJl',
} as const;

const OF_PATHS: Readonly<Record<string, string>> = EXAMPLE;

/** The user and the guild of the examples. */
export const EXAMPLE_SUBJECT = { user_id: EXAMPLE.user_id, guild_id: EXAMPLE.guild_id } as const;
