import type { KeySet } from '../key-set';
import { bytes, decoded, utf8 } from './base64url';
import { type Check, isSigned } from './check';
import { VerificationError } from './verification-error';

/** A process signs with its copy of a key for up to 30 seconds after its retirement, and clocks differ by seconds. */
const RETIRING_MS = 60_000;

export type Payload = Readonly<Record<string, unknown>>;

/**
 * The payload of a statement that one of the keys has signed for this purpose (RFC 7515, RFC 8037).
 * @internal
 * @throws VerificationError for anything else.
 */
export function* checkStatement(jws: unknown, keySet: KeySet, typ: string): Check<Payload> {
  const [header = '', payload = '', signature = '', ...more] =
    typeof jws === 'string' ? jws.trim().split('.') : [];
  const { alg, kid, typ: given } = json(header);
  if (more.length > 0 || signature === '') throw new VerificationError('this is not a compact JWS');
  if (alg !== 'EdDSA' || given !== typ)
    throw new VerificationError(`this is not ${typ} but ${String(given)} (${String(alg)})`);
  const jwk = keySet.keys.find((key) => key.kid === kid);
  if (jwk?.kty !== 'OKP' || jwk.crv !== 'Ed25519')
    throw new VerificationError(`the key ${String(kid)} is not in the key set`);
  if (!(yield* isSigned(jwk, utf8(`${header}.${payload}`), bytes(signature))))
    throw new VerificationError('the signature does not fit');
  const statement = json(payload);
  // A time that cannot be read is not before the retirement.
  if (jwk.retired_at !== undefined && !(timeOf(statement) <= Date.parse(jwk.retired_at) + RETIRING_MS))
    throw new VerificationError(`the key ${String(kid)} was retired before the time of the statement`);
  return statement;
}

/** When the statement says that it was signed, in milliseconds; NaN where it says nothing. */
function timeOf({ iat, ...times }: Payload): number {
  if (typeof iat === 'number') return iat * 1000;
  const named = ['sealed_at', 'exported_at', 'pruned_at', 'issued_at'].find((name) => name in times);
  return Date.parse(String(times[named ?? '']));
}

/**
 * The JSON object of a part of a compact JWS.
 * @internal
 * @throws VerificationError for anything else.
 */
export function json(part: string): Payload {
  try {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(decoded(part));
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Payload;
  } catch {
    // The error follows below.
  }
  throw new VerificationError('this is not a compact JWS');
}
