import { createPublicKey, verify } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '@app/http';
import { invalidRequest, momentMs } from '@app/kernel';

/** What the statement of a holder says beside the time `at` of its act. */
interface StatedAnswer {
  readonly bot_id: string;
  readonly holder: string;
  readonly task_id: string;
  readonly result: string;
  readonly counts: object | null;
  readonly kept: object | null;
  /** SHA-256 of the stated data as `JSON.stringify` writes it, in base64url; left out without data. */
  readonly data_digest?: string;
}

const HEADER = { alg: 'EdDSA', typ: 'lethe-holder-answer+jwt' };

/**
 * Checks the statement of a holder: a compact JWS (RFC 7515) over its answer, signed by its own Ed25519 key (RFC 8037).
 * @throws ApiError 400 that names the wrong part; also for a holder with a key without a statement, and for one without a key with one
 */
export function requireStatement(
  statement: string | null,
  publicKey: string | null,
  answer: StatedAnswer,
): void {
  const message =
    publicKey === null
      ? statement === null
        ? undefined
        : 'must be left out: the holder has no public_key by which it could be verified'
      : statement === null
        ? 'is required: the holder has a public_key, and signs each answer'
        : faultOf(statement, publicKey, answer);
  if (message !== undefined) throw invalidRequest([{ field: 'statement', message }]);
}

function faultOf(statement: string, publicKey: string, answer: StatedAnswer): string | undefined {
  const [header = '', payload = '', signature = '', ...further] = statement.split('.');
  if (signature === '' || further.length > 0)
    return 'must be a compact JWS: header, payload and signature in base64url, with dots between them';
  if (!isDeepStrictEqual(decoded(header), HEADER))
    return `must have exactly the header ${JSON.stringify(HEADER)}`;
  const stated = decoded(payload);
  if (stated === undefined) return 'must have a payload that is a JSON object with each name once';
  const names = [...Object.keys(answer), 'at'];
  if (!isDeepStrictEqual(Object.keys(stated).sort(), names.sort()))
    return `must have a payload of exactly ${Object.keys(answer).join(', ')} and at`;
  const wrong = Object.entries(answer).find(([name, value]) => !isDeepStrictEqual(stated[name], value));
  if (wrong !== undefined)
    return `must have the ${wrong[0]} of this answer in its payload, with null for what the answer leaves out`;
  if (momentMs(stated['at']) === undefined)
    return 'must have at in its payload: an ISO 8601 time with its zone';
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
  const bytes = Buffer.from(signature, 'base64url');
  const isSigned =
    // The last digit has unused bits, so a changed text can have the same bytes.
    bytes.toString('base64url') === signature &&
    verify(null, Buffer.from(`${header}.${payload}`), key, bytes);
  return isSigned
    ? undefined
    : 'must have a signature by the public_key of the holder over header and payload';
}

/** What a statement says that its holder keeps, without a check of its signature; undefined for a text that says nothing. */
export function statedKept(statement: string): Record<string, unknown> | undefined {
  const kept = decoded(statement.split('.')[1] ?? '')?.['kept'];
  return isObject(kept) ? kept : undefined;
}

/** A string of a JSON text, with the colon behind it if it is a name. */
const STRING = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

/** Only what every verifier reads alike: base64url in its only notation, UTF-8, and each name once in its object. */
function decoded(part: string): Record<string, unknown> | undefined {
  const bytes = Buffer.from(part, 'base64url');
  if (bytes.toString('base64url') !== part) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    let read = 0;
    const value: unknown = JSON.parse(text, function (this: unknown, _: string, each: unknown) {
      if (!Array.isArray(this)) read += 1;
      return each;
    });
    // The whole value is read under a name too.
    const written = 1 + [...text.matchAll(STRING)].filter(([, colon]) => colon !== undefined).length;
    return isObject(value) && written === read ? value : undefined;
  } catch {
    return undefined;
  }
}
