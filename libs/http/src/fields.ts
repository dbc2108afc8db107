import { isReadableText, momentMs } from '@app/kernel';
import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptions } from '@nestjs/swagger';
import { isEmail, ValidateBy, ValidateIf, ValidationOptions } from 'class-validator';
import { EXAMPLE } from './describes';
import { isObject } from './json';

/** The presence of a field: required, optional, or replaced by the field that `unless` names. */
export interface Presence {
  readonly optional?: boolean;
  readonly unless?: string;
  /** Texts are not read, since clients of the contract may send them under this name. */
  readonly ignoresText?: boolean;
  /** For the documentation: the table adds "or null". */
  readonly nullable?: boolean;
  readonly description?: string;
}

/** The presence of a field; a text is its description alone. */
export type Given = Presence | string;

export const presenceOf = (given: Given = {}): Presence =>
  typeof given === 'string' ? { description: given } : given;

/** One check of one field, with its message and its documentation. */
export interface Rule {
  readonly check: (value: unknown) => boolean;
  /** Completes "FIELD …" and says how to correct the value. */
  readonly message: string | ((value: unknown) => string);
  readonly schema: ApiPropertyOptions;
}

/** The condition under which a field is checked. */
export function presence({ optional, unless, ignoresText }: Presence): PropertyDecorator[] {
  if (ignoresText) return [ValidateIf((_body, value) => value != null && typeof value !== 'string')];
  if (unless !== undefined)
    return [ValidateIf((body: Record<string, unknown>, value) => value != null || body[unless] == null)];
  return optional ? [ValidateIf((_body, value) => value !== undefined && value !== null)] : [];
}

/** The field in openapi.json. */
export function documented(schema: ApiPropertyOptions, given?: Given): PropertyDecorator {
  const { optional, unless, nullable, description } = presenceOf(given);
  return ApiProperty({
    ...schema,
    required: !optional && unless === undefined,
    ...(nullable && { nullable }),
    ...(description && { description }),
  } as ApiPropertyOptions);
}

/** Declares one field of a DTO: its check, its message and its documentation. */
export function field({ check, message, schema }: Rule, given?: Given): PropertyDecorator {
  const said = presenceOf(given);
  const options: ValidationOptions = {
    message: ({ value }: { value: unknown }) => {
      const text = typeof message === 'string' ? message : message(value);
      return value == null && said.unless ? `${text}, or give ${said.unless} in its place` : text;
    },
  };
  return applyDecorators(
    ...presence(said),
    ValidateBy({ name: 'rule', validator: { validate: check } }, options),
    documented(schema, said),
  );
}

/** The decorator of fields with the same rule. */
export const fieldOf =
  (rule: Rule) =>
  (given?: Given): PropertyDecorator =>
    field(rule, given);

/** A check for a text that satisfies `pattern`. */
export function matches(pattern: RegExp): Rule['check'] {
  return (value) => typeof value === 'string' && pattern.test(value);
}

const SNOWFLAKE = /^\d{17,20}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const KEY = /^[a-z_][a-z0-9_]*$/;
/** The maximum length of a slug, in characters. The contract sets none; an index row needs one. */
export const KEY_MAX = 100;
const VERSION = /^[A-Za-z0-9._+:-]{1,64}$/;

/** The same name has the same id in every example. */
const EXAMPLE_IDS: Readonly<Record<string | symbol, string>> = {
  guild_id: EXAMPLE.guild_id,
  guildId: EXAMPLE.guild_id,
  platform_bot_id: EXAMPLE.platform_bot_id,
};

/** A platform id. A JSON number is refused with a remedy, since it has already lost digits. */
export const Snowflake =
  (given?: Given): PropertyDecorator =>
  (target, property) => {
    const example = EXAMPLE_IDS[property] ?? EXAMPLE.user_id;
    const rule = {
      check: matches(SNOWFLAKE),
      message: (value: unknown) =>
        typeof value === 'number'
          ? 'must be sent as a string of 17 to 20 digits, for example str(user.id): a JSON number loses digits'
          : 'must be a string of 17 to 20 digits',
      schema: { type: 'string', pattern: SNOWFLAKE.source, example } as const,
    };
    field(rule, given)(target, property);
  };

export const Uuid = fieldOf({
  check: matches(UUID),
  message: 'must be a UUID',
  schema: { type: 'string', format: 'uuid' },
});

/** The slug of a category or of one of its fields. */
export const Slug = fieldOf({
  check: (value) => typeof value === 'string' && value.length <= KEY_MAX && KEY.test(value),
  message: `must be lower-case letters, digits and _, not starting with a digit, at most ${KEY_MAX} characters`,
  schema: { type: 'string', pattern: KEY.source, maxLength: KEY_MAX },
});

export const ConsentVersion = fieldOf({
  check: matches(VERSION),
  message: 'must be 1 to 64 letters, digits and . _ + : -',
  schema: { type: 'string', pattern: VERSION.source, example: '1.0' },
});

const BLANK = /[\s\p{Cc}]/u;

/** An address with a dot in its domain, and without white space or control characters, also between quotes. */
const isAddress = (text: string): boolean =>
  !BLANK.test(text) && text.includes('.', text.lastIndexOf('@')) && isEmail(text, { require_tld: false });

export const Email = fieldOf({
  check: (value) =>
    typeof value === 'string' && value.length <= 254 && isReadableText(value) && isAddress(value),
  message: 'must be an e-mail address',
  schema: { type: 'string', format: 'email', maxLength: 254 },
});

const URL_MAX = 2048;
const ENCODED = '; white space and \\ < > " ^ ` { | } must be percent-encoded';

/** Signs that no URI has. A parser drops or encodes them, so that the stored text would be another one than the called. */
const NO_SIGN_OF_A_URI = /[\s\p{Cc}\p{Cs}\\<>"^`{|}]/u;

/** An absolute URL whose beginning `scheme` matches. Letters of all languages are accepted. */
const url = (scheme: RegExp, what: string, isAllowed: (text: string) => boolean = () => true): Rule => ({
  check: (value) =>
    typeof value === 'string' &&
    value.length <= URL_MAX &&
    scheme.test(value) &&
    !NO_SIGN_OF_A_URI.test(value) &&
    URL.canParse(value) &&
    isAllowed(value),
  message: (value) =>
    `must be an absolute ${what}${typeof value === 'string' && NO_SIGN_OF_A_URI.test(value) ? ENCODED : ''}`,
  schema: { type: 'string', format: 'uri', maxLength: URL_MAX },
});

/** An http or https address. The EgressPolicy decides which targets are allowed. */
export const WebUrl = fieldOf(url(/^https?:\/\/[^/]/i, `http or https URL of at most ${URL_MAX} characters`));

/** An https address that people follow from a page. */
export const HttpsUrl = fieldOf(
  url(
    /^https:\/\/[^/]/,
    `https URL of at most ${URL_MAX} characters, without a user name or password`,
    (text) => new URL(text).username + new URL(text).password === '',
  ),
);

export const OneOf = (values: readonly string[], given?: Given): PropertyDecorator =>
  field(
    {
      check: (value) => typeof value === 'string' && values.includes(value),
      message: `must be one of ${values.join(', ')}`,
      schema: { type: 'string', enum: [...values] },
    },
    given,
  );

/** A list of some of these values: at least one, none named twice. */
export const SomeOf = (values: readonly string[], given?: Given): PropertyDecorator =>
  field(
    {
      check: (value) =>
        Array.isArray(value) &&
        value.length > 0 &&
        new Set(value).size === value.length &&
        value.every((one) => values.includes(one as string)),
      message: `must be a list of at least one of ${values.join(', ')}, each once`,
      schema: { type: 'array', items: { type: 'string', enum: [...values] }, minItems: 1, uniqueItems: true },
    },
    given,
  );

export const Integer = (min: number, max: number, given?: Given): PropertyDecorator =>
  field(
    {
      check: (value) => Number.isInteger(value) && (value as number) >= min && (value as number) <= max,
      message: `must be a whole number from ${min} to ${max}`,
      schema: { type: 'integer', minimum: min, maximum: max },
    },
    given,
  );

/** How many there are. */
export const Count = (given?: Given): PropertyDecorator => Integer(0, Number.MAX_SAFE_INTEGER, given);

/** A whole number in a query. The DTO keeps it as text, and Page reads it. */
export const QueryInteger = (min: number, max: number, fallback: number): PropertyDecorator => {
  const isBounded = max < Number.MAX_SAFE_INTEGER;
  return field(
    {
      check: (value) =>
        typeof value === 'string' &&
        /^[0-9]{1,16}$/.test(value) &&
        Number(value) >= min &&
        Number(value) <= max,
      // The bound of exact numbers is named only to a number above it.
      message: (value) =>
        `must be a whole number from ${min}${isBounded || Number(value) > max ? ` to ${max}` : ''}`,
      schema: { type: 'integer', minimum: min, default: fallback, ...(isBounded && { maximum: max }) },
    },
    { optional: true },
  );
};

export const Flag = fieldOf({
  check: (value) => typeof value === 'boolean',
  message: 'must be true or false',
  schema: { type: 'boolean' },
});

/** A moment: an ISO 8601 date-time with its zone. */
export const Timestamp = fieldOf({
  check: (value) => momentMs(value) !== undefined,
  message: 'must be an ISO 8601 time of a day that exists, with its zone, for example 2026-01-31T08:00:00Z',
  schema: { type: 'string', format: 'date-time' },
});

/** A JSON object with keys that the caller chooses. class-transformer does not process it. */
export const JsonObject = fieldOf({
  check: isObject,
  message: 'must be a JSON object',
  schema: { type: 'object', additionalProperties: true },
});
