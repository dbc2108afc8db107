/** The source of an event's salts, by which the commitment can be computed again. */
export const SALTED_BY = {
  /** The subject key, while it exists. */
  subject: 0,
  /** The installation key, over digests: the event is about an erasure. */
  installation: 1,
  /** Random: the details could not be decrypted. */
  nobody: 2,
} as const;

export type SaltedBy = (typeof SALTED_BY)[keyof typeof SALTED_BY];

/** What a batch keeps of one event. */
export interface Entry {
  readonly commitment: Buffer;
  readonly saltedBy: SaltedBy;
  /** First bytes of the leaf, by which the changed event of a damaged batch is found. */
  readonly hint: Buffer;
}

const COMMITMENT_BYTES = 32;
export const HINT_BYTES = 7;
const ENTRY_BYTES = COMMITMENT_BYTES + 1 + HINT_BYTES;

export function packed(entries: readonly Entry[]): string {
  const bytes = entries.flatMap(({ commitment, saltedBy, hint }) => [commitment, Buffer.of(saltedBy), hint]);
  return Buffer.concat(bytes).toString('base64url');
}

/** Undefined for a text that is not a list of packed entries. */
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
