import { createHmac } from 'node:crypto';

const MARK = '~';
/** 108 bits: no two are ever the same by chance, and they fit where an id stands. */
const LENGTH = 18;

/**
 * A digest in the place of an id. Whoever knows the id and the key finds what stands under it; whoever lacks the key
 * cannot try out the few ids that there are, which an unkeyed digest would allow.
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

/** Whether a digest stands in the place of an id. */
export function isDigest(id: string): boolean {
  return id.startsWith(MARK);
}
