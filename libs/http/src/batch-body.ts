import { SetMetadata } from '@nestjs/common';
import { ApiError } from '@app/kernel';
import { BATCH_MAX, inTurns } from './batch';
import { bodyTooLarge, type JsonLimits, MALFORMED, parseJsonObject } from './json-body';

/** The name of the list of a batch. */
const ITEMS = 'items';

/** The longest JSON text of {@link ITEMS}: every letter is escaped. */
const NAME_MAX_BYTES = 2 + 6 * ITEMS.length;
/** The white space of JSON. */
const BLANK = /^[ \t\n\r]*$/;

export const BATCH_BODY = 'lethe:batch-body';

/**
 * Marks a route whose body has `items`, each like a body of its own. The limit of the body is `BATCH_BODY_LIMIT_BYTES`. A
 * faulty item is replaced by its ApiError: one that is too long or too deep, has bad texts, or is no object.
 */
export const BatchBody = (): MethodDecorator => SetMetadata(BATCH_BODY, true);

/** Reads the body of a {@link BatchBody} in turns of the event loop. Malformed JSON is a fault of the whole. */
export async function parseBatch(
  bytes: Buffer,
  { bodyLimitBytes, jsonDepthLimit }: JsonLimits,
): Promise<Record<string, unknown> | ApiError | undefined> {
  const begunMs = performance.now();
  const { frame, places } = split(bytes);
  if (frame.length > bodyLimitBytes) return bodyTooLarge(bodyLimitBytes);
  const body = parseJsonObject(frame, jsonDepthLimit);
  if (body === undefined || body instanceof ApiError || !Array.isArray(body[ITEMS])) return body;
  if (places.length === 1 && BLANK.test(bytes.toString('latin1', ...places[0]!))) return body;
  const parse = ([from, to]: Place) =>
    to - from > bodyLimitBytes
      ? bodyTooLarge(bodyLimitBytes)
      : (parseJsonObject(bytes.subarray(from, to), jsonDepthLimit) ?? MALFORMED);
  const items = await inTurns(places, parse, begunMs);
  return items.includes(MALFORMED) ? MALFORMED : { ...body, [ITEMS]: items };
}

type Place = readonly [from: number, to: number];

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * The body with an empty list in the place of its items, and the places of the items, one more than {@link BATCH_MAX} at
 * most. Of several lists of this name the last counts. Both parts together are JSON exactly where the body is.
 */
function split(bytes: Buffer): { readonly frame: Buffer; readonly places: readonly Place[] } {
  const kept: Buffer[] = [];
  let places: Place[] = [];
  let [depth, copied, itemFrom] = [0, 0, -1];
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
      if (byte === OPEN_LIST && isItems(bytes, name)) {
        [places, itemFrom] = [[], at + 1];
        kept.push(bytes.subarray(copied, at + 1));
      }
      name = undefined;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (depth === 2 && itemFrom >= 0) {
        endItem(at);
        [copied, itemFrom] = [at, -1];
      }
      depth--;
    } else if (byte === COMMA && depth === 2 && itemFrom >= 0) endItem(at);
  }
  if (itemFrom < 0) kept.push(bytes.subarray(copied));
  return { frame: Buffer.concat(kept), places };
}

/** Behind the text that begins at `from`. */
function endOfText(bytes: Buffer, from: number): number {
  let at = from + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

function isItems(bytes: Buffer, name: Place | undefined): boolean {
  if (name === undefined || name[1] - name[0] > NAME_MAX_BYTES) return false;
  try {
    return JSON.parse(bytes.toString('utf8', ...name)) === ITEMS;
  } catch {
    return false;
  }
}
