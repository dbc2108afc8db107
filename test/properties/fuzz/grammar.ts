import fc from '../../support/fast-check';
import document from '../../../openapi.json';
import { BOT_WIDE } from '../../support/snowflakes';
import { type Node, nodeOf } from './json-text';

/** A word of every text that is sent: a log line never has it. */
export const MARKER = 'Zebra';
export const USERS = ['323456789012345671', '323456789012345672'] as const;
export const GUILDS = ['423456789012345671', '423456789012345672', BOT_WIDE] as const;
/** The first one is declared by every tenant, with these fields. */
export const CATEGORIES = ['profile', '__proto__', 'pets'] as const;
export const FIELDS = { word: 'string', size: 'number', flag: 'boolean', day: 'date', more: 'json' } as const;

interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

interface Parameter {
  readonly in: 'path' | 'query';
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface Operation {
  readonly method: string;
  readonly template: string;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | undefined;
  readonly isOfOperator: boolean;
  /** The declared statuses. */
  readonly statuses: readonly number[];
  /** Its name in the report of a failure. */
  readonly [fc.toStringMethod]: () => string;
}

interface Declared {
  readonly parameters?: readonly Parameter[];
  readonly security: readonly object[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
  readonly responses: Readonly<Record<string, object>>;
}

const paths = document.paths as unknown as Readonly<Record<string, Readonly<Record<string, Declared>>>>;

/** Every operation of openapi.json. */
export const OPERATIONS: readonly Operation[] = Object.entries(paths).flatMap(([template, item]) =>
  Object.entries(item).map(([method, { parameters = [], requestBody, responses, security }]) => ({
    method: method.toUpperCase(),
    template,
    parameters,
    body: requestBody?.content['application/json'].schema,
    isOfOperator: security.some((each) => 'operatorToken' in each),
    statuses: Object.keys(responses).map(Number),
    [fc.toStringMethod]: () => template,
  })),
);

/** The first value, which a tenant has, in two of three cases. */
function mostlyFirst(values: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof({ weight: 2, arbitrary: fc.constant(values[0] ?? '') }, fc.constantFrom(...values));
}

function mostly(usual: unknown, other: unknown): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 7, arbitrary: fc.constant(usual) }, fc.constant(other));
}

const jsonValue = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) => JSON.parse(JSON.stringify(value).replace(/\\u0000/g, '')) as unknown);
const word = fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => MARKER + text);
const VALUES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  string: word,
  number: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
  boolean: fc.boolean(),
  date: fc.constantFrom('2000-02-29', '2026-11-20', '1970-01-01T00:00:00Z'),
  json: jsonValue,
};
const data = fc.record(
  Object.fromEntries(
    Object.entries(FIELDS).map(([name, type]) => [name, fc.option(VALUES[type] ?? word, { freq: 5 })]),
  ),
  { requiredKeys: [] },
);
const categories = fc.uniqueArray(mostlyFirst(CATEGORIES), { minLength: 1, maxLength: 3 });
const aField = fc.record({
  key: fc.oneof(fc.constantFrom(...Object.keys(FIELDS)), fc.constantFrom('a', 'constructor', 'b_2')),
  type: fc.constantFrom(...Object.values(FIELDS)),
  ...{ label_de: word, label_en: word },
});

const time = fc.constantFrom('2026-01-01T00:00:00Z', '2026-11-20T15:39:19.279Z', '2030-01-01T00:00:00+02:00');
/** Values that a schema does not describe well enough to be accepted now and then. */
const NAMED: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  user_id: mostlyFirst(USERS),
  guild_id: mostlyFirst(GUILDS),
  bot_id: fc.constantFrom('zzBOTzz', 'zzBOTzz', 'zzPLATFORMzz'),
  platform_bot_id: fc.constant('zzNEWzz'),
  consent_id: fc.constantFrom('zzCONSENTzz'),
  event_id: fc.constantFrom('zzEVENTzz'),
  key_id: fc.constant('zzREADERzz'),
  digest: fc.constant('zzTEXTzz'),
  category: mostlyFirst(CATEGORIES),
  key: mostlyFirst(CATEGORIES),
  name: fc.oneof(word, fc.constantFrom(...CATEGORIES)),
  tier: fc.constantFrom('free', 'high', 'default', 'zebra'),
  data,
  details: fc.option(fc.dictionary(word, jsonValue, { maxKeys: 4 })),
  fields: fc.uniqueArray(aField, { minLength: 1, maxLength: 5, selector: ({ key }) => key }),
  consent_version: mostlyFirst(['1', '2', 'v-1.0+a']),
  language: fc.constantFrom('de', 'en', 'zh-Hant-TW'),
  source: fc.constantFrom('button', 'slash_command', 'a'),
  webhook_url: fc.option(
    fc.constantFrom('https://receiver.invalid/a', 'https://receiver.invalid:8443/?a=b#c'),
  ),
  privacy_notice: fc.constant('https://receiver.invalid/notice'),
  privacy_contact: fc.option(fc.constantFrom('zebra@receiver.invalid', 'z+e@receiver.invalid')),
  ...{ since: time, from: time, to: time },
  task_id: fc.constant('zzDELETIONzz'),
  public_key: fc.constant(null),
  // Each is refused without the others.
  ...{
    requires_consent: mostly(true, false),
    reason_de: mostly(null, MARKER),
    reason_en: mostly(null, MARKER),
  },
  page: fc.constantFrom(1, 2, 1000, 999_999_999_999_999),
};
/** Lists under the same name as a list of slugs hold objects in these schemas. */
const OBJECT_LISTS = 'categories';

function named(name: string, schema: Schema): fc.Arbitrary<unknown> | undefined {
  if (name === OBJECT_LISTS && schema.items?.$ref === undefined) return categories;
  return NAMED[name];
}

/** A value that a schema accepts. */
function valueOf(schema: Schema, name: string): fc.Arbitrary<unknown> {
  const { $ref, anyOf, oneOf, type } = schema;
  if ($ref !== undefined) return valueOf(schemaAt($ref), name);
  const variants = anyOf ?? oneOf;
  if (variants !== undefined) return fc.oneof(...variants.map((one) => valueOf(one, name)));
  const known = named(name, schema);
  if (known !== undefined) return known;
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (Array.isArray(type))
    return fc.option(valueOf({ ...schema, type: type[0] as string }, name), { freq: 4 });
  if (type === 'object') return objectOf(schema);
  if (type === 'array') return fc.array(valueOf(schema.items ?? {}, ''), { minLength: 1, maxLength: 3 });
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer')
    return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 100, 10_000) });
  return fc.oneof(
    { weight: 9, arbitrary: word },
    { weight: 1, arbitrary: fc.constant('Z'.repeat(schema.maxLength ?? 20)) },
  );
}

function objectOf({ properties = {}, required = [] }: Schema): fc.Arbitrary<object> {
  const values = Object.entries(properties).map(([name, schema]) => [name, valueOf(schema, name)] as const);
  return fc.record(Object.fromEntries(values), { requiredKeys: [...required] });
}

function schemaAt(reference: string): Schema {
  const name = reference.slice(reference.lastIndexOf('/') + 1);
  return (document.components.schemas as unknown as Readonly<Record<string, Schema>>)[name] ?? {};
}

/** The body of an operation, as its schema describes it. */
export function bodyOf({ body }: Operation): fc.Arbitrary<Node | undefined> {
  return body === undefined ? fc.constant(undefined) : valueOf(body, '').map(nodeOf);
}

const IDS: Readonly<Record<string, string>> = {
  gdpr: 'zzDELETIONzz',
  webhooks: 'zzDELIVERYzz',
  'privacy-links': 'zzLINKzz',
  operator: 'zzBOTzz',
};

/** A value of a parameter as text, not encoded yet; undefined where a query leaves it out. */
export function parameterOf(
  operation: Operation,
  { name, schema, required = false }: Parameter,
): fc.Arbitrary<string | undefined> {
  const value =
    name === 'id' ? fc.constant(IDS[operation.template.split('/')[3] ?? '']) : valueOf(schema, name);
  return fc.option(value.map(String), { nil: undefined, freq: required ? 1_000_000 : 2 });
}
