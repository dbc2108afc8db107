import { applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiOperation, ApiTags } from '@nestjs/swagger';

/** A request that can be sent as it is, and what a fresh service answers to it. */
export interface Example {
  /** When to send this one; needed where a route has several. */
  readonly summary?: string;
  readonly body?: object;
  /** `data` of the answer, or the whole answer where there is no envelope. */
  readonly answer?: unknown;
}

/** The examples of a route by name; `canonical` is the first. */
export type Examples = Readonly<Record<string, Example>>;

/** What people read about a route. */
export interface Description {
  /** One line without a full stop. */
  readonly summary: string;
  /** Two to four sentences: what the call does, what it guarantees, which article it serves, what a repeat does. */
  readonly description: string;
  /** Values of path and query parameters. */
  readonly parameters?: Readonly<Record<string, string | number>>;
  readonly examples?: Examples;
}

/** The place of a {@link Description}'s values in an operation until {@link withExamples} has put them in. */
const DESCRIBED = 'x-lethe-described';

/** Summary, description and examples of a route, for its documentation. `@Responds` adds the answers. */
export function Describes({ summary, description, ...values }: Description): MethodDecorator {
  return applyDecorators(ApiOperation({ summary, description }), ApiExtension(DESCRIBED, values));
}

/** The place of a topic's description in an operation until {@link topicOf} has taken it. */
const TOPIC = 'x-lethe-topic';

/** The heading that the routes of a controller stand under in the documentation; one controller of it describes it. */
export function Topic(name: string, description?: string): ClassDecorator {
  if (description === undefined) return ApiTags(name);
  return applyDecorators(ApiTags(name), ApiExtension(TOPIC, description));
}

type Content = Record<string, { schema?: object; example?: unknown; examples?: Record<string, object> }>;

/** The parts of an OpenAPI operation that examples belong to. */
export interface DescribedOperation {
  parameters?: {
    readonly name: string;
    readonly required?: boolean;
    schema?: { example?: unknown };
    example?: unknown;
  }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
  tags?: string[];
  [DESCRIBED]?: Pick<Description, 'parameters' | 'examples'>;
  [TOPIC]?: string;
}

/** The topic that the operation's controller describes. */
export function topicOf(operation: DescribedOperation): { name: string; description: string } | undefined {
  const { tags: [name] = [], [TOPIC]: description } = operation;
  delete operation[TOPIC];
  return name === undefined || description === undefined ? undefined : { name, description };
}

/** Puts the values of `@Describes` into the operation: parameters, request bodies and answers. */
export function withExamples(operation: DescribedOperation): void {
  const { parameters = {}, examples = {} } = operation[DESCRIBED] ?? {};
  delete operation[DESCRIBED];
  for (const parameter of operation.parameters ?? []) {
    const value = parameters[parameter.name];
    if (value !== undefined) parameter.example = value;
    // Pages for people fill in every example: an optional parameter is left out unless the route names a value.
    if (value !== undefined || parameter.required !== true) delete parameter.schema?.example;
  }
  const bodies = named(examples, ({ body }) => body);
  const json = operation.requestBody?.content['application/json'];
  if (json !== undefined && bodies !== undefined) json.examples = bodies;
  for (const [status, { content = {} }] of Object.entries(operation.responses)) {
    if (!status.startsWith('2')) continue;
    for (const [type, media] of Object.entries(content)) {
      const answers = named(examples, ({ answer }) => inMedia(type, answer));
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
  examples: Examples,
  value: (example: Example) => unknown,
): Record<string, { summary?: string; value: unknown }> | undefined {
  const entries = Object.entries(examples).flatMap(([name, example]) => {
    const given = value(example);
    const { summary } = example;
    return given === undefined
      ? []
      : [[name, { ...(summary !== undefined && { summary }), value: given }] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
