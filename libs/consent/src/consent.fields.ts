import { field, matches, type Presence } from '@app/http';

const LANGUAGE_MAX = 35;

/**
 * The shape of a language tag (RFC 5646) in the case that its section 2.1.1 recommends: language in small letters, then
 * a script in title case, a region in capitals, variants in small letters.
 */
const LANGUAGE = /^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*$/;

/** A language tag (BCP 47). Tags are compared as text, so that only the recommended case is accepted. */
export const LanguageTag = (given?: Presence): PropertyDecorator =>
  field(
    {
      name: 'languageTag',
      check: (value) => typeof value === 'string' && value.length <= LANGUAGE_MAX && LANGUAGE.test(value),
      message: `must be a language tag in its usual case, for example de, pt-BR or zh-Hant, at most ${LANGUAGE_MAX} characters`,
      schema: { type: 'string', pattern: LANGUAGE.source, maxLength: LANGUAGE_MAX, example: 'de' },
    },
    given,
  );

const SOURCE = /^[a-z][a-z0-9_.:-]{0,63}$/;

/** The place of an act: a short name chosen by the bot, too short for personal data. */
export const ActSource = (given: Presence = {}): PropertyDecorator =>
  field(
    {
      name: 'actSource',
      check: matches(SOURCE),
      message: 'must be 1 to 64 small letters, digits and _ . : -, beginning with a letter',
      schema: { type: 'string', pattern: SOURCE.source, example: 'slash_command' },
    },
    { description: 'Where the user was asked or decided, never who it was; default `api`', ...given },
  );

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** SHA-256 of a text that is stored elsewhere. */
export const Digest = (given?: Presence): PropertyDecorator =>
  field(
    {
      name: 'digest',
      check: matches(DIGEST),
      message: 'must be sha256: and 64 hexadecimal digits',
      schema: { type: 'string', pattern: DIGEST.source },
    },
    given,
  );
