import { applyDecorators } from '@nestjs/common';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ValidateNested } from 'class-validator';
import 'reflect-metadata';
import { documented, field, type Given, type Rule } from './fields';
import { isObject } from './json';

type Dto = new () => object;

const NESTED_TYPE = 'lethe:nested-type';

/** The DTO class of an {@link ObjectOf} field, or of the items of a {@link ListOf} field. */
export function nestedTypeOf(prototype: object, property: string): unknown {
  return (Reflect.getMetadata(NESTED_TYPE, prototype, property) as (() => Dto) | undefined)?.();
}

const nested = (dto: () => Dto, rule: Rule, each: boolean, given: Given | undefined): PropertyDecorator =>
  applyDecorators(
    field(rule, given),
    ValidateNested({ each }),
    Type(dto),
    Reflect.metadata(NESTED_TYPE, dto),
  );

/** A list of nested DTOs. Faults are named by path, `fields[3].key`. */
export const ListOf = (item: () => Dto, min: number, max: number, given?: Given): PropertyDecorator => {
  const rule = {
    check: (value: unknown) => Array.isArray(value) && value.length >= min && value.length <= max,
    message: `must be a list of ${min} to ${max} objects`,
    schema: { type: () => [item()], minItems: min, maxItems: max } as ApiPropertyOptions,
  };
  return nested(item, rule, true, given);
};

/** A nested DTO. Faults are named by path, `notice.controller_name`. */
export const ObjectOf = (dto: () => Dto, given?: Given): PropertyDecorator => {
  const schema = { type: () => dto() } as ApiPropertyOptions;
  return nested(dto, { check: isObject, message: 'must be a JSON object', schema }, false, given);
};

/** A field of an answer: a DTO, a value, or a list of them. It is documented and not checked. */
export const Of = (type: Dto | readonly [Dto] | 'integer', given?: Given): PropertyDecorator =>
  documented({ type } as ApiPropertyOptions, given);
