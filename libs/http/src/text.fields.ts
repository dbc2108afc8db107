import { codePoints, isReadableText } from '@app/kernel';
import { field, type Presence } from './field-rule';

function isText(value: unknown, max: number): boolean {
  return typeof value === 'string' && codePoints(value) <= max && isReadableText(value);
}

/** A text of 1 to `max` code points that has something to read. */
export const Text = (max: number, given?: Presence): PropertyDecorator =>
  field(
    {
      name: 'text',
      check: (value) => isText(value, max),
      message: `must be a text of 1 to ${max} characters, not of blanks or invisible ones alone`,
      schema: { type: 'string', minLength: 1, maxLength: max },
    },
    given,
  );

/** A text of at most `max` code points that says nothing where it is empty. */
export const OptionalText = (max: number, given: Presence = {}): PropertyDecorator =>
  field(
    {
      name: 'optionalText',
      check: (value) => value === '' || isText(value, max),
      message: `must be a text of at most ${max} characters, not of blanks or invisible ones alone`,
      schema: { type: 'string', maxLength: max },
    },
    { optional: true, ...given },
  );

/** A list of texts. Each satisfies `pattern`. */
export const Texts = (max: number, maxItems: number, given: Presence = {}): PropertyDecorator => {
  return field(
    {
      name: 'texts',
      check: (value) =>
        Array.isArray(value) &&
        value.length >= 1 &&
        value.length <= maxItems &&
        value.every((text) => isText(text, max)),
      message: `must be a list of 1 to ${maxItems} texts of 1 to ${max} characters`,
      schema: {
        type: 'array',
        items: { type: 'string', minLength: 1, maxLength: max },
        minItems: 1,
        maxItems,
      },
    },
    given,
  );
};
