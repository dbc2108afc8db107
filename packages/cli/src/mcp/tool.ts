import type { Lethe } from '@lethe/sdk';
import { wrongUsage } from '../failures';

/** The longest text of an argument; a cursor is shorter. */
const TEXT_MAX = 512;

/** What a human has answered, where one was asked. */
export type Confirmation = 'confirmed' | 'declined' | 'wrong phrase' | 'no answer' | 'busy';

/** What a tool works with. */
export interface ToolCall {
  readonly lethe: Lethe;
  /** Aborted once the client cancels the call or ends the connection. */
  readonly signal: AbortSignal;
  /** Whether the client shows questions of this server to its user (the capability `elicitation`). */
  readonly canAsk: boolean;
  /** Asks the user of the client to type the phrase. Neither the question nor the answer is in a result. */
  confirm(question: string, phrase: string): Promise<Confirmation>;
}

/** A schema of one argument or field, of the subset of JSON Schema that {@link checked} knows. */
export interface Schema {
  readonly type: 'string' | 'integer' | 'boolean' | 'object' | 'array' | readonly string[];
  /** Of an argument: what it must be. */
  readonly description?: string;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

export type Given = Readonly<Record<string, unknown>>;

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  /** The fields of its result that are always there. */
  readonly output: Readonly<Record<string, Schema>>;
  /** What a call leaves behind; without it nothing. */
  readonly effect?: 'records' | 'erases';
  run(given: Given, call: ToolCall): Promise<object>;
}

/** A result that is to be shown as a failure, with what is known. */
export class FailedResult extends Error {
  constructor(readonly content: object) {
    super('The tool has failed.');
  }
}

/** How `tools/list` shows a tool. */
export function described({ name, description, input, required, output, effect }: Tool): object {
  return {
    ...{ name, description },
    inputSchema: { type: 'object', properties: input, required, additionalProperties: false },
    outputSchema: { type: 'object', properties: output, required: Object.keys(output) },
    annotations: {
      readOnlyHint: effect === undefined,
      ...(effect !== undefined && { destructiveHint: effect === 'erases', idempotentHint: false }),
      openWorldHint: false,
    },
  };
}

/** The arguments of a call. @throws Failure of wrong usage that names each wrong one and what it must be */
export function checked({ name, input, required }: Tool, given: Given): Given {
  const faults = [
    ...required.filter((each) => given[each] === undefined).map((each) => `${each} is missing`),
    ...Object.entries(given).flatMap(([each, value]) => {
      if (!Object.hasOwn(input, each)) return [`${each} is no argument of ${name}`];
      const schema = input[each];
      return value === undefined || schema === undefined || fits(value, schema)
        ? []
        : [`${each} must be: ${schema.description}`];
    }),
  ];
  if (faults.length === 0) return given;
  const all = Object.entries(input).map(
    ([each, { description }]) => `${each}${required.includes(each) ? '' : ' (optional)'}: ${description}`,
  );
  throw wrongUsage(
    `${faults.join('; ')}.`,
    all.length === 0 ? `${name} takes no arguments.` : `${name} takes ${all.join('; ')}.`,
  );
}

function fits(value: unknown, schema: Schema): boolean {
  if (schema.type === 'string')
    return (
      typeof value === 'string' &&
      value.length <= TEXT_MAX &&
      (schema.enum?.includes(value) ?? true) &&
      new RegExp(schema.pattern ?? '', 'u').test(value)
    );
  if (schema.type === 'integer')
    return (
      Number.isSafeInteger(value) &&
      Number(value) >= (schema.minimum ?? -Infinity) &&
      Number(value) <= (schema.maximum ?? Infinity)
    );
  return typeof value === schema.type;
}

/** The arguments that tools share. */
export const USER: Schema = {
  ...{ type: 'string', pattern: '^\\d{17,20}$' },
  description: 'the id of the user at the platform, 17 to 20 digits as a string',
};
export const GUILD: Schema = {
  ...{ type: 'string', pattern: '^\\d{17,20}$' },
  description: 'the id of the guild, 17 to 20 digits as a string',
};
export const PAGE = {
  page_size: {
    type: 'integer',
    minimum: 1,
    maximum: 50,
    description: 'how many at most, from 1 to 50; 20 without it',
  },
  after: { type: 'string', description: '`next` of the page before' },
} as const satisfies Record<string, Schema>;
export const NEXT = { next: { type: ['string', 'null'] } } as const satisfies Record<string, Schema>;
