import { codePoints, isReadableText } from '@app/kernel';
import { field, fieldOf, type Given, presenceOf } from './fields';
import { isObject } from './json';

/** The length of a text that only the size of its record limits, which is 413 `payload_too_large`. */
export const DECLARED_TEXT_MAX = Infinity;

const isLimited = (max: number): boolean => max !== DECLARED_TEXT_MAX;
const lengths = (max: number): string =>
  isLimited(max) ? `of 1 to ${max} characters` : 'of at least 1 character';
const schemaOf = (max: number) => ({
  type: 'string' as const,
  minLength: 1,
  ...(isLimited(max) && { maxLength: max }),
});

/** A text of at most `max` code points that has something to read. */
export function isText(value: unknown, max: number): boolean {
  return typeof value === 'string' && codePoints(value) <= max && isReadableText(value);
}

/** A text of 1 to `max` code points that has something to read. */
export const Text = (max: number, given?: Given): PropertyDecorator =>
  field(
    {
      check: (value) => isText(value, max),
      message: `must be a text ${lengths(max)}, not of blanks or invisible ones alone`,
      schema: schemaOf(max),
    },
    given,
  );

/** A text of at most `max` code points, which may be empty. */
export const OptionalText = (max: number, given?: Given): PropertyDecorator =>
  field(
    {
      check: (value) => value === '' || isText(value, max),
      message: isLimited(max)
        ? `must be a text of at most ${max} characters, not of blanks or invisible ones alone`
        : 'must be a text, not of blanks or invisible characters alone',
      schema: { type: 'string', ...(isLimited(max) && { maxLength: max }) },
    },
    { optional: true, ...presenceOf(given) },
  );

/** A text that the contract calls a string and nothing more: blanks alone are one too. */
export const AnyText = fieldOf({
  check: (value) => typeof value === 'string',
  message: 'must be a text',
  schema: { type: 'string' },
});

/** A list of {@link Text}. */
export const Texts = (max: number, maxItems: number, given?: Given): PropertyDecorator =>
  field(
    {
      check: (value) =>
        Array.isArray(value) &&
        value.length >= 1 &&
        value.length <= maxItems &&
        value.every((text) => isText(text, max)),
      message: `must be a list of 1 to ${maxItems} texts ${lengths(max)}`,
      schema: {
        type: 'array',
        items: schemaOf(max),
        minItems: 1,
        maxItems,
      },
    },
    given,
  );

const LANGUAGE_MAX = 35;

/**
 * The shape of a language tag (RFC 5646) in the case that its section 2.1.1 recommends: language in small letters, then
 * a script in title case, a region in capitals, variants in small letters.
 */
const LANGUAGE = /^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*$/;

const isTag = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= LANGUAGE_MAX && LANGUAGE.test(value);

/** A language tag (BCP 47). Tags are compared as text, so that only the recommended case is accepted. */
export const LanguageTag = fieldOf({
  check: isTag,
  message: `must be a language tag in its usual case, for example de, pt-BR or zh-Hant, at most ${LANGUAGE_MAX} characters`,
  schema: { type: 'string', pattern: LANGUAGE.source, maxLength: LANGUAGE_MAX, example: 'de' },
});

/** Labels, or other texts, by language tag, beside the German and the English one. */
export type Labels = Readonly<Record<string, string>>;

const LABELS_MAX = 50;

/** {@link Labels} of at most `max` code points each. */
export const LabelsByLanguage = (max: number, given?: Given): PropertyDecorator =>
  field(
    {
      check: (value) => {
        if (!isObject(value)) return false;
        const entries = Object.entries(value);
        return (
          entries.length >= 1 &&
          entries.length <= LABELS_MAX &&
          entries.every(([tag, label]) => isTag(tag) && tag !== 'de' && tag !== 'en' && isText(label, max))
        );
      },
      message: `must be an object of 1 to ${LABELS_MAX} texts ${lengths(max)} by language tag, for example pt-BR, without de and en, which have a name of their own`,
      schema: {
        type: 'object',
        additionalProperties: schemaOf(max),
        minProperties: 1,
        maxProperties: LABELS_MAX,
        example: { fr: 'Profil', 'pt-BR': 'Perfil' },
      },
    },
    { description: 'Labels in further languages, by language tag (BCP 47)', ...presenceOf(given) },
  );

/**
 * The offered tag that serves `language` best: the same one, else one with fewer parts (RFC 4647, section 3.4: `pt` for
 * `pt-BR`); undefined if there is none.
 */
export function languageFor(language: string, offered: Iterable<string>): string | undefined {
  const tags = new Set(offered);
  for (let tag = language; tag !== ''; tag = tag.slice(0, Math.max(tag.lastIndexOf('-'), 0)))
    if (tags.has(tag)) return tag;
  return undefined;
}
