import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptions } from '@nestjs/swagger';
import { ValidateBy, ValidateIf, ValidationOptions } from 'class-validator';

/** The presence of a field: required, optional, or replaced by the field that `unless` names. */
export interface Presence {
  readonly optional?: boolean;
  readonly unless?: string;
  /** For the documentation: the table adds "or null". */
  readonly nullable?: boolean;
  readonly description?: string;
}

/** One check of one field, with its message and its documentation. */
export interface Rule {
  readonly check: (value: unknown) => boolean;
  /** Completes "FIELD …" and says how to correct the value. */
  readonly message: string | ((value: unknown) => string);
  readonly schema: ApiPropertyOptions;
}

/** The condition under which a field is checked. */
export function presence({ optional, unless }: Presence): PropertyDecorator[] {
  if (unless !== undefined) {
    return [ValidateIf((body: Record<string, unknown>, value) => value != null || body[unless] == null)];
  }
  return optional ? [ValidateIf((_body, value) => value !== undefined && value !== null)] : [];
}

/** The field in openapi.json. */
export function documented(
  schema: ApiPropertyOptions,
  { optional, unless, nullable, description }: Presence,
): PropertyDecorator {
  const required = !optional && unless === undefined;
  return ApiProperty({
    ...schema,
    required,
    ...(nullable && { nullable }),
    ...(description && { description }),
  } as ApiPropertyOptions);
}

/** Declares one field of a DTO: its check, its message and its documentation. */
export function field(rule: Rule, given: Presence = {}): PropertyDecorator {
  const { message } = rule;
  const options: ValidationOptions = {
    message: ({ value }: { value: unknown }) => {
      const text = typeof message === 'string' ? message : message(value);
      return value == null && given.unless !== undefined
        ? `${text}, or give ${given.unless} in its place`
        : text;
    },
  };
  return applyDecorators(
    ...presence(given),
    ValidateBy({ name: 'rule', validator: { validate: rule.check } }, options),
    documented(rule.schema, given),
  );
}

/** The decorator of fields with the same rule. */
export const fieldOf =
  (rule: Rule) =>
  (given?: Presence): PropertyDecorator =>
    field(rule, given);

/** A check for a text that satisfies `pattern`. */
export function matches(pattern: RegExp): Rule['check'] {
  return (value) => typeof value === 'string' && pattern.test(value);
}
