import { applyDecorators } from '@nestjs/common';
import { ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { ApiError, OwnError, Turns } from '@app/kernel';
import { validated } from './dto.pipe';
import { JsonObject } from './fields';
import { Form } from './form';

/** The maximum of items in one batch. */
export const BATCH_MAX = 100;
/** Work on the items of a batch gives other work its turn of the event loop after this time, in milliseconds. */
const TURN_MS = 5;

const turns = new Turns();

/**
 * The results of `work` for each item. Between the items other requests have their turn. `begunMs` is when the work of this
 * turn began.
 */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  work: (item: Item, at: number) => Result,
  begunMs = performance.now(),
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [at, item] of items.entries()) {
    if (performance.now() - begunMs > TURN_MS) {
      await turns.next();
      begunMs = performance.now();
    }
    results.push(work(item, at));
  }
  return results;
}

/** The items of a batch. They are documented as `schema` and not checked: each has an answer of its own. */
export const Items = (schema: object, what: string): PropertyDecorator =>
  applyDecorators(
    ValidateBy(
      {
        name: 'items',
        validator: {
          validate: (value) => Array.isArray(value) && value.length >= 1 && value.length <= BATCH_MAX,
        },
      },
      { message: `must be a list of 1 to ${BATCH_MAX} ${what}` },
    ),
    ApiProperty({ type: 'array', items: schema, minItems: 1, maxItems: BATCH_MAX }),
  );

/** The item of a batch as the DTO that its single request has. @throws ApiError as for the single request */
export function itemOf<Dto extends object>(type: new () => Dto, item: unknown): Dto {
  const form = Form.of(type);
  if (form === undefined) throw new OwnError(`${type.name} declares no field`);
  return validated(form, item) as Dto;
}

/** The result of `work`, or the error of the API that it throws. */
export function attempt<Result>(work: () => Result): Result | ApiError {
  try {
    return work();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** The refusal of one item: the `error` of its single request. */
export class ItemErrorView {
  @ApiProperty({ description: 'As in an error of a single request' }) code: string;
  @ApiProperty() message: string;
  @JsonObject({ optional: true })
  details?: Readonly<Record<string, unknown>>;
}

/** What became of one item of a batch. */
export type ItemResult<View> =
  { readonly ok: true; readonly data: View } | { readonly ok: false; readonly error: ItemErrorView };

/** Documents the results of a batch, one for each item in the order of the items. */
export const Results = (view: new () => object): PropertyDecorator => {
  const shape = (ok: boolean, name: string, type: new () => object) => ({
    type: 'object',
    required: ['ok', name],
    properties: { ok: { type: 'boolean', enum: [ok] }, [name]: { $ref: getSchemaPath(type) } },
  });
  const items = { oneOf: [shape(true, 'data', view), shape(false, 'error', ItemErrorView)] };
  return ApiProperty({ type: 'array', items, minItems: 1, maxItems: BATCH_MAX });
};

export function done<View>(data: View): ItemResult<View> {
  return { ok: true, data };
}

export function refused({ code, message, details }: ApiError): ItemResult<never> {
  return { ok: false, error: { code, message, ...(details !== undefined && { details }) } };
}
