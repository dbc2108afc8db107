import { field, matches, type Presence } from '@app/http';
import { getSchemaPath } from '@nestjs/swagger';

const SOURCE = /^[a-z][a-z0-9_.:-]{0,63}$/;

/** Names that only the service gives, to what a user has done on its own pages: a receipt repeats them. */
const RESERVED = ['privacy_page', 'console'];

/** The place of an act: a short name chosen by the bot, too short for personal data. */
export const ActSource = (given: Presence = {}): PropertyDecorator =>
  field(
    {
      check: (value) => matches(SOURCE)(value) && !RESERVED.includes(value as string),
      message: `must be 1 to 64 small letters, digits and _ . : -, beginning with a letter, and none of ${RESERVED.join(', ')}: these are for what users do on pages of the service`,
      schema: { type: 'string', pattern: SOURCE.source, example: 'slash_command' },
    },
    { description: 'Where the user was asked or decided, never who it was; default `api`', ...given },
  );

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** SHA-256 of a text that is stored elsewhere. */
export const Digest = (given?: Presence): PropertyDecorator =>
  field(
    {
      check: matches(DIGEST),
      message: 'must be sha256: and 64 hexadecimal digits',
      schema: { type: 'string', pattern: DIGEST.source },
    },
    given,
  );

/** An optional object of `type` by language tag. Its reader checks what is in it. */
export const ByLanguage =
  (type: () => new () => object, description: string): PropertyDecorator =>
  (target, property) =>
    field(
      {
        check: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
        message: 'must be an object of texts by language tag',
        schema: { type: 'object', additionalProperties: { $ref: getSchemaPath(type().name) } },
      },
      { optional: true, description },
    )(target, property);
