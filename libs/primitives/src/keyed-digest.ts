import { createHmac } from 'node:crypto';

/** A keyed digest in the place of an id. */
export type Digest = string & { readonly digest: unique symbol };

/** 120 bits: two ids never have the same digest by chance. */
const LENGTH = 20;

/**
 * A digest in the place of an id. With the id and the key the rows under the digest can be found. Without the key the
 * ids cannot be guessed by trial, which a digest without a key would allow.
 */
export function keyedDigest(
  key: Buffer,
  botId: string,
  kind: 'user' | 'guild' | 'installation',
  value: string,
): Digest {
  const digest = createHmac('sha256', key).update(`${kind}/${botId}/${value}`);
  return digest.digest('base64url').slice(0, LENGTH) as Digest;
}
