import { createHmac } from 'node:crypto';

const MARK = '~';
/** 108 bits: two ids never have the same digest by chance, and a digest fits into a column of ids. */
const LENGTH = 18;

/**
 * A digest in the place of an id. With the id and the key the rows under the digest can be found. Without the key the
 * ids cannot be guessed by trial, which a digest without a key would allow.
 */
export function keyedDigest(
  key: Buffer,
  botId: string,
  kind: 'user' | 'guild' | 'subject',
  value: string,
): string {
  const digest = createHmac('sha256', key).update(`${kind}/${botId}/${value}`);
  return MARK + digest.digest('base64url').slice(0, LENGTH);
}

/** Whether `id` is a digest in the place of an id. */
export function isDigest(id: string): boolean {
  return id.startsWith(MARK);
}
