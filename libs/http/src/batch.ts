import { SetMetadata } from '@nestjs/common';
import { ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { ApiError, type Config, Turns } from '@app/kernel';
import { field, JsonObject } from './fields';
import { Of } from './nested.fields';
import { bodyTooLarge, MALFORMED, parseJsonObject } from './json';

/** The maximum of items in one batch. */
export const BATCH_MAX = 100;

/** The batches of all requests take turns, some items in each. */
export const batchTurns = new Turns();

/** The items of a batch. They are documented as `schema` and not checked: each has an answer of its own. */
export const Items = (schema: object, what: string): PropertyDecorator =>
  field({
    check: (value) => Array.isArray(value) && value.length >= 1 && value.length <= BATCH_MAX,
    message: `must be a list of 1 to ${BATCH_MAX} ${what}`,
    schema: { type: 'array', items: schema, minItems: 1, maxItems: BATCH_MAX },
  });

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
  @Of(String, 'As in an error of a single request') code: string;
  @Of(String) message: string;
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

/** The name of the list of a batch. */
const LIST_NAME = 'items';

/** The longest JSON text of {@link LIST_NAME}: every letter is escaped. */
const NAME_MAX_BYTES = 2 + 6 * LIST_NAME.length;
/** The white space of JSON. */
const BLANK = /^[ \t\n\r]*$/;

export const BATCH_BODY = 'lethe:batch-body';

/**
 * Marks a route whose body has `items`, each like a body of its own. The limit of the body is `BATCH_BODY_LIMIT_BYTES`. A
 * faulty item is replaced by its ApiError: one that is too long or too deep, has bad texts, or is no object.
 */
export const BatchBody = (): MethodDecorator => SetMetadata(BATCH_BODY, true);

/** Reads the body of a {@link BatchBody} in turns of the event loop. Malformed JSON is a fault of the whole body. */
export async function parseBatch(
  bytes: Buffer,
  { bodyLimitBytes, jsonDepthLimit }: Pick<Config, 'bodyLimitBytes' | 'jsonDepthLimit'>,
): Promise<Record<string, unknown> | ApiError | undefined> {
  const begunMs = performance.now();
  const { frame, places } = split(bytes);
  if (frame.length > bodyLimitBytes) return bodyTooLarge(bodyLimitBytes);
  const body = parseJsonObject(frame, jsonDepthLimit);
  if (body === undefined || body instanceof ApiError) return body;
  if (places.length === 1 && BLANK.test(bytes.toString('latin1', ...places[0]!))) return body;
  const parse = ([from, to]: Place) =>
    to - from > bodyLimitBytes
      ? bodyTooLarge(bodyLimitBytes)
      : (parseJsonObject(bytes.subarray(from, to), jsonDepthLimit) ?? MALFORMED);
  const items = await batchTurns.map(places, parse, begunMs);
  if (items.includes(MALFORMED)) return MALFORMED;
  return Array.isArray(body[LIST_NAME]) ? { ...body, [LIST_NAME]: items } : body;
}

type Place = readonly [from: number, to: number];

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * The frame, which is the body with an empty list in place of its items, and the places of the items, at most one more
 * than {@link BATCH_MAX}. If several lists have this name, the last one counts, and the frame holds the others. The body is
 * valid JSON if and only if the frame and all items are.
 */
function split(bytes: Buffer): { readonly frame: Buffer; readonly places: readonly Place[] } {
  let places: Place[] = [];
  let [depth, listFrom, restFrom, itemFrom] = [0, 0, 0, -1];
  /** The last text directly in the body, which may be the name of a list. */
  let name: Place | undefined;
  const endItem = (at: number): void => {
    if (places.length <= BATCH_MAX) places.push([itemFrom, at]);
    itemFrom = at + 1;
  };
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = endOfText(bytes, at);
      if (depth === 1) name = [at, end];
      at = end - 1;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth++;
      if (depth !== 2) continue;
      if (byte === OPEN_LIST && isItems(bytes, name))
        [places, listFrom, restFrom, itemFrom] = [[], at + 1, bytes.length, at + 1];
      name = undefined;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (depth === 2 && itemFrom >= 0) {
        endItem(at);
        [restFrom, itemFrom] = [at, -1];
      }
      depth--;
    } else if (byte === COMMA && depth === 2 && itemFrom >= 0) endItem(at);
  }
  return { frame: Buffer.concat([bytes.subarray(0, listFrom), bytes.subarray(restFrom)]), places };
}

/** The place after the text that begins at `from`. */
function endOfText(bytes: Buffer, from: number): number {
  let at = from + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

function isItems(bytes: Buffer, name: Place | undefined): boolean {
  if (name === undefined || name[1] - name[0] > NAME_MAX_BYTES) return false;
  try {
    return JSON.parse(bytes.toString('utf8', ...name)) === LIST_NAME;
  } catch {
    return false;
  }
}
