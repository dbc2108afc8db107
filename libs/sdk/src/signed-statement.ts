import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { bytes } from './base64url';
import { VerificationError } from './verification-error';

/** What `/.well-known/lethe-keys.json` answers. Keep it: it has to come from the service, not with the evidence. */
export interface KeySet {
  readonly keys: readonly (JsonWebKey & { readonly kid?: string })[];
}

export type Payload = Readonly<Record<string, unknown>>;

/**
 * Answers what a statement says, if one of the keys has signed it for this purpose (RFC 7515, RFC 8037).
 * @throws VerificationError for anything else.
 */
export function verifyStatement(jws: string, keySet: KeySet, typ: string): Payload {
  const [header = '', payload = '', signature = '', ...more] = jws.trim().split('.');
  const { alg, kid, typ: given } = json(header);
  if (more.length > 0 || signature === '') throw new VerificationError('this is no compact JWS');
  if (alg !== 'EdDSA' || given !== typ)
    throw new VerificationError(`this is no ${typ} but ${String(given)} (${String(alg)})`);
  const jwk = keySet.keys.find((key) => key.kid === kid);
  if (jwk?.kty !== 'OKP' || jwk.crv !== 'Ed25519')
    throw new VerificationError(`the key ${String(kid)} is not in the key set`);
  const key = createPublicKey({ key: { ...jwk }, format: 'jwk' });
  if (!verify(null, Buffer.from(`${header}.${payload}`), key, bytes(signature)))
    throw new VerificationError('the signature does not fit');
  return json(payload);
}

function json(part: string): Payload {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Payload;
  } catch {
    // Told below.
  }
  throw new VerificationError('this is no compact JWS');
}
