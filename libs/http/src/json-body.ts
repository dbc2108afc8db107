import { ApiError, type FieldFault, invalidRequest, isCleanText } from '@app/kernel';
import { addLongNumberFaults } from './json-value';
import type { LetheRequest } from './request-context';

export interface JsonLimits {
  readonly bodyLimitBytes: number;
  readonly jsonDepthLimit: number;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

type Body = LetheRequest['body'];

/**
 * Reads the JSON object of a request by `parse`. A fault is answered as a value, and the validation pipe throws it. Nothing
 * is answered for a client that closes its connection before the end.
 */
export function readJsonBody(
  request: LetheRequest,
  limitBytes: number,
  parse: (bytes: Buffer) => Body | Promise<Body>,
  type: BodyType = JSON_TYPE,
): Promise<Body> {
  return new Promise((resolve) => receive({ request, limitBytes, parse, type }, resolve));
}

/** The media type of a body. */
export interface BodyType {
  readonly name: string;
  readonly matches: (header: string) => boolean;
}

const JSON_TYPE: BodyType = { name: 'application/json', matches: isJsonType };

interface Expected {
  readonly request: LetheRequest;
  readonly limitBytes: number;
  readonly parse: (bytes: Buffer) => Body | Promise<Body>;
  readonly type: BodyType;
}

function refusedByHeaders({ request, limitBytes, type: expected }: Expected): ApiError | undefined {
  const { 'content-type': type, 'content-length': length, 'content-encoding': coding } = request.headers;
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
  if (type === undefined ? hasBody : !expected.matches(type)) {
    return new ApiError('unsupported_media_type', `Send the body as ${expected.name}`);
  }
  if (coding !== undefined && coding !== 'identity') {
    return new ApiError('unsupported_media_type', 'Send the body uncompressed, without Content-Encoding');
  }
  return Number(length ?? 0) > limitBytes ? bodyTooLarge(limitBytes) : undefined;
}

function isJsonType(type: string): boolean {
  return type === 'application/json' || /^application\/json\s*(;|$)/i.test(type);
}

export function bodyTooLarge(limitBytes: number): ApiError {
  return new ApiError('payload_too_large', `The body may be at most ${limitBytes} bytes long`, {
    limit_bytes: limitBytes,
  });
}

function receive(expected: Expected, done: (body: Body | Promise<Body>) => void): void {
  const { request, limitBytes, parse } = expected;
  const fault = refusedByHeaders(expected);
  if (fault !== undefined) return done(fault);
  const chunks: Buffer[] = [];
  let length = 0;
  let settled = false;
  const settle = (body: Body | Promise<Body>): void => {
    if (!settled) done(body);
    settled = true;
  };
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > limitBytes) settle(bodyTooLarge(limitBytes));
    else chunks.push(chunk);
  });
  request.on('end', () => {
    if (!settled) settle(parse(joined(chunks)));
  });
  // A client that closed its connection gets no answer, and nothing more runs for its request.
  request.on('error', () => (settled = true));
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
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
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return badBody('must be a JSON object');
  if (shape.longNumbers) {
    const faults: FieldFault[] = [];
    addLongNumberFaults(value, '', faults);
    if (faults.length > 0) return invalidRequest(faults);
  }
  if (shape.escapes) {
    const path = pathOfBadText(value, '');
    if (path !== undefined)
      return invalidRequest([{ field: path || 'body', message: 'must not hold NUL or lone surrogates' }]);
  }
  return value as Record<string, unknown>;
}

function badBody(message: string): ApiError {
  return invalidRequest([{ field: 'body', message }]);
}

/** The fault of a body that is no JSON. */
export const MALFORMED = badBody('must be valid JSON in UTF-8');

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** A whole number of so many digits is read as one that is written with an exponent: what it was cannot be seen any more. */
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
    // With an exponent a number is kept as it is written, and the digits of a fraction are none of a whole number.
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
    const found = pathOfBadText(
      inner,
      Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`,
    );
    if (found !== undefined) return found;
  }
  return undefined;
}
