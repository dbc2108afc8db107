/** How an event's commitment was salted, and so how it can be computed again. */
export const SALTED_BY = {
  /** By the subject's key, while that lives. */
  subject: 0,
  /** By the installation's key: there were no details. */
  service: 1,
  /** By the installation's key, over digests: the subject was erased before. */
  erased: 2,
  /** By chance: nobody could read the details any more. */
  nobody: 3,
} as const;

export type SaltedBy = (typeof SALTED_BY)[keyof typeof SALTED_BY];

/** What a batch keeps of one event. */
export interface Entry {
  readonly commitment: Buffer;
  readonly saltedBy: SaltedBy;
  /** Beginning of its leaf, by which a damaged batch tells which of its events it is. */
  readonly hint: Buffer;
}

const COMMITMENT_BYTES = 32;
export const HINT_BYTES = 7;
const ENTRY_BYTES = COMMITMENT_BYTES + 1 + HINT_BYTES;

export function packed(entries: readonly Entry[]): string {
  const bytes = entries.flatMap(({ commitment, saltedBy, hint }) => [commitment, Buffer.of(saltedBy), hint]);
  return Buffer.concat(bytes).toString('base64url');
}

/** Undefined for what nobody has packed. */
export function unpacked(text: string): Entry[] | undefined {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length % ENTRY_BYTES !== 0 || bytes.toString('base64url') !== text) return undefined;
  return Array.from({ length: bytes.length / ENTRY_BYTES }, (_, at) => {
    const entry = bytes.subarray(at * ENTRY_BYTES, (at + 1) * ENTRY_BYTES);
    return {
      commitment: entry.subarray(0, COMMITMENT_BYTES),
      saltedBy: entry.readUInt8(COMMITMENT_BYTES) as SaltedBy,
      hint: entry.subarray(COMMITMENT_BYTES + 1),
    };
  });
}
