import { escaped } from '@app/pages';
import { table } from './markdown';

/** What the document uses of JSON Schema. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly additionalProperties?: boolean | Schema;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly [limit: string]: unknown;
}

/** The limits that are shown, with words for them. */
const LIMITS: Readonly<Record<string, string>> = {
  format: 'format',
  pattern: 'pattern',
  minLength: 'at least, in characters:',
  maxLength: 'at most, in characters:',
  minimum: 'at least',
  maximum: 'at most',
  minItems: 'at least, in entries:',
  maxItems: 'at most, in entries:',
  minProperties: 'at least, in keys:',
  maxProperties: 'at most, in keys:',
  default: 'default',
};

export const code = (value: unknown): string =>
  `<code>${escaped(typeof value === 'string' ? value : JSON.stringify(value))}</code>`;

const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);

/** The id of the place that describes a named shape. */
export const shapeId = (name: string): string => `shape-${name}`;

/** Shapes as HTML: a named one is a link, and described once. */
export class Shapes {
  constructor(
    readonly named: Readonly<Record<string, Schema>>,
    private readonly prose: (markdown: string) => string,
  ) {}

  /** The named shape behind a reference, or the shape itself. */
  resolved(schema: Schema): Schema {
    return schema.$ref === undefined ? schema : (this.named[nameOf(schema.$ref)] ?? schema);
  }

  typeOf(schema: Schema): string {
    if (schema.$ref !== undefined) {
      const name = nameOf(schema.$ref);
      return `<a href="#${shapeId(name)}">${escaped(name)}</a>`;
    }
    for (const [list, word] of [
      [schema.anyOf ?? schema.oneOf, ' or '],
      [schema.allOf, ' and '],
    ] as const)
      if (list !== undefined) return list.map((each) => this.typeOf(each)).join(word);
    if (schema.items !== undefined) return `list of ${this.typeOf(schema.items)}`;
    const { type = 'any value', additionalProperties: further } = schema;
    const name = [type].flat().join(' or ');
    return typeof further === 'object' ? `${name} of ${this.typeOf(further)} by key` : name;
  }

  /** The fields of a shape as a table, with the fields of unnamed shapes within it. */
  fields(schema: Schema): string {
    const rows = this.rows(schema, '');
    if (rows.length === 0) return `<p>${this.typeOf(schema)}${this.notes(schema)}</p>`;
    return table(['Field', 'Type', 'Required', 'Meaning'], rows);
  }

  /** What is said about a value beside its type. */
  notes(schema: Schema): string {
    const limited = { ...schema.items, ...schema };
    const limits = Object.entries(LIMITS)
      .filter(([name]) => limited[name] !== undefined)
      .map(([name, words]) => `${words} ${code(limited[name])}`);
    const values = limited.enum?.map(code).join(', ');
    const facts = [...(values === undefined ? [] : [`one of ${values}`]), ...limits].join('; ');
    return `${this.prose(schema.description ?? '')}${facts === '' ? '' : `<p>${facts}</p>`}`;
  }

  private rows(schema: Schema, prefix: string): string[][] {
    const { properties = {}, required = [] } = schema;
    return Object.entries(properties).flatMap(([name, each]) => {
      const path = `${prefix}${name}`;
      const isRequired = required.includes(name) ? 'yes' : 'no';
      const inner = each.items?.properties === undefined ? each : each.items;
      const within = this.rows(inner, `${path}${inner === each ? '' : '[]'}.`);
      return [[code(path), this.typeOf(each), isRequired, this.notes(each)], ...within];
    });
  }
}
