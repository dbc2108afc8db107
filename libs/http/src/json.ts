import { ApiError, type FieldFault, invalidRequest, isCleanText } from '@app/kernel';
import type { LetheRequest } from './request-context';

const decoder = new TextDecoder('utf-8', { fatal: true });

type Body = LetheRequest['body'];

/** Whether the routes of the method of a request wait for its body. */
export function takesBody({ method }: LetheRequest): boolean {
  return method === 'POST' || method === 'PUT';
}

/**
 * Reads the body of a request by `parse`. A fault is returned. For a client that closes its connection before the end the
 * promise stays open, so that nothing more runs for its request.
 */
export function readBody(
  request: LetheRequest,
  limitBytes: number,
  parse: (bytes: Buffer) => Body | Promise<Body>,
  mediaType = 'application/json',
): Promise<Body> {
  const fault = refusedByHeaders(request, limitBytes, mediaType);
  // Only its end says that a body without a length is empty.
  if (fault !== undefined && request.headers['transfer-encoding'] === undefined)
    return Promise.resolve(fault);
  return new Promise((resolve) => {
    let held: Buffer = EMPTY;
    let length = 0;
    let settled = false;
    const settle = (body: Body | Promise<Body>): void => {
      if (!settled) resolve(body);
      settled = true;
    };
    request.on('data', (chunk: Buffer) => {
      if (fault !== undefined) return settle(fault);
      const from = length;
      length += chunk.length;
      if (length <= limitBytes) held = appended(held, from, chunk, limitBytes);
      else {
        held = EMPTY;
        settle(bodyTooLarge(limitBytes));
      }
    });
    request.on('end', () => {
      if (!settled) settle(parse(held.subarray(0, length)));
    });
    request.on('error', () => (settled = true));
  });
}

function refusedByHeaders(
  { headers }: LetheRequest,
  limitBytes: number,
  mediaType: string,
): ApiError | undefined {
  const { 'content-type': type, 'content-length': length, 'content-encoding': coding } = headers;
  // The headers of an empty body say nothing about it: curl sends a type with `-d ''`.
  if (headers['transfer-encoding'] === undefined && Number(length ?? 0) === 0) return undefined;
  if (!isOfType(type ?? '', mediaType)) {
    return new ApiError('unsupported_media_type', `Send the body as ${mediaType}`);
  }
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    return new ApiError('unsupported_media_type', 'Send the body uncompressed, without Content-Encoding');
  }
  return Number(length ?? 0) > limitBytes ? bodyTooLarge(limitBytes) : undefined;
}

/** Whether a `Content-Type` names the type, with parameters or without. */
function isOfType(header: string, mediaType: string): boolean {
  return header === mediaType || header.split(';', 1)[0]?.trimEnd().toLowerCase() === mediaType;
}

export function bodyTooLarge(limitBytes: number): ApiError {
  return new ApiError('payload_too_large', `The body may be at most ${limitBytes} bytes long`, {
    limit_bytes: limitBytes,
  });
}

const EMPTY = Buffer.alloc(0);
const GROWS_FROM_BYTES = 4096;

/**
 * The first `length` bytes of `held` with `chunk` behind them. A chunk of one byte takes hundreds in memory, so that only the
 * one chunk that most bodies are is held as it is. Its memory is full: the next one is copied with it into a buffer that grows.
 */
function appended(held: Buffer, length: number, chunk: Buffer, limitBytes: number): Buffer {
  if (length === 0) return chunk;
  const needed = length + chunk.length;
  let into = held;
  if (needed > held.length) {
    into = Buffer.allocUnsafe(Math.min(limitBytes, Math.max(2 * held.length, needed, GROWS_FROM_BYTES)));
    held.copy(into, 0, 0, length);
  }
  chunk.copy(into, length);
  return into;
}

/** The JSON object in `bytes`; undefined for no bytes; an ApiError for a fault. */
export function parseJsonObject(
  bytes: Buffer,
  depthLimit: number,
): Record<string, unknown> | ApiError | undefined {
  if (bytes.length === 0) return undefined;
  const shape = scan(bytes);
  if (shape.depth > depthLimit) return badBody(`may be nested at most ${depthLimit} deep`);
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(bytes));
  } catch {
    return MALFORMED;
  }
  if (!isObject(value)) return badBody('must be a JSON object');
  // First of the two: the paths of the other faults hold keys, which may have half of a pair.
  if (shape.escapes) {
    const path = pathOfBadText(value, '');
    if (path !== undefined)
      return invalidRequest([{ field: path || 'body', message: 'must not hold NUL or lone surrogates' }]);
  }
  if (shape.longNumbers) {
    const faults: FieldFault[] = [];
    addNumberFaults(value, '', faults, longNumberFault);
    if (faults.length > 0) return invalidRequest(faults);
  }
  return value;
}

function badBody(message: string): ApiError {
  return invalidRequest([{ field: 'body', message }]);
}

/** The fault of a body that is no JSON. */
export const MALFORMED = badBody('must be valid JSON in UTF-8');

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** After JSON.parse, a whole number of this many digits is no longer distinguishable from one with an exponent. */
const LONG_DIGITS = 22;

/**
 * Finds the depth of nesting, and whether a `\u` escape or a whole number of {@link LONG_DIGITS} occurs, in one pass. It
 * runs before JSON.parse, which deep nesting could make exhaust the stack.
 */
function scan(bytes: Buffer): { depth: number; escapes: boolean; longNumbers: boolean } {
  let depth = 0;
  let deepest = 0;
  let escapes = false;
  let longNumbers = false;
  let digits = 0;
  let inText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inText) {
      if (byte === BACKSLASH) {
        at++;
        if (bytes[at] === 0x75) escapes = true;
      } else if (byte === QUOTE) inText = false;
      continue;
    }
    if (byte !== undefined && byte >= 0x30 && byte <= 0x39) {
      digits++;
      continue;
    }
    // A number with an exponent is kept as it is written, and digits after a point do not count.
    if (digits >= LONG_DIGITS && byte !== 0x65 && byte !== 0x45) longNumbers = true;
    digits = byte === 0x2e ? -bytes.length : 0;
    if (byte === QUOTE) inText = true;
    else if (byte === 0x7b || byte === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return { depth: deepest, escapes, longNumbers };
}

/** The path of a text or key with NUL or a lone surrogate. Only escapes can produce one. */
function pathOfBadText(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') return isCleanText(value) ? undefined : path;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    if (!isCleanText(key)) return path || 'body';
    const found = pathOfBadText(inner, entryPath(value, path, key));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Adds the fault that `faultOf` finds in each number of `value`. */
export function addNumberFaults(
  value: unknown,
  path: string,
  faults: FieldFault[],
  faultOf = numberFault,
): void {
  if (typeof value === 'number') {
    const message = faultOf(value);
    if (message !== undefined) faults.push({ field: path, message });
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value))
      addNumberFaults(inner, entryPath(value, path, key), faults, faultOf);
  }
}

/** The path of an entry of the object or list at `path`. */
function entryPath(parent: object, path: string, key: string): string {
  if (Array.isArray(parent)) return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** Larger numbers are written with an exponent. */
export const EXPONENT_FROM = 1e21;

const LOSES_DIGITS =
  'must be at most 2^53 - 1 in size: send larger numbers as a string, so that they keep their digits';

/**
 * The reason why a JSON number cannot be kept exactly; undefined for a number that can. 1e400 is read as Infinity and
 * written as null, and integers above 2^53 lose digits (RFC 8259, section 6).
 */
export function numberFault(value: number): string | undefined {
  if (!Number.isFinite(value)) return 'must be a finite number';
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < EXPONENT_FROM) {
    return LOSES_DIGITS;
  }
  return undefined;
}

/** The fault of a number from 1e21 on that was written without an exponent. With one it is kept as it is written. */
function longNumberFault(value: number): string | undefined {
  return Math.abs(value) >= EXPONENT_FROM ? LOSES_DIGITS : undefined;
}

/**
 * Applies `patch` to `target` (RFC 7396): `null` removes a key, objects are merged, every other value replaces. New
 * objects have no prototype, so that keys like `__proto__` are ordinary keys.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = Object.create(null) as Record<string, unknown>;
  if (isObject(target)) for (const [key, value] of Object.entries(target)) merged[key] = value;
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
