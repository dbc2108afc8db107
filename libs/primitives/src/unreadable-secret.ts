/** The stored text was sealed with a key that is not at hand, in another place, or was changed. */
export class UnreadableSecretError extends Error {
  override readonly name = 'UnreadableSecretError';
  /** What the log tells of it: which master key is missing. Ids of keys are no secrets. */
  readonly code: string | undefined;

  constructor(missingKeyId?: string) {
    super(
      missingKeyId === undefined
        ? 'A stored secret cannot be decrypted with the keys at hand'
        : `A stored secret was encrypted with the master key ${missingKeyId}, which this process does not have: ` +
            'add it to LETHE_MASTER_KEY behind a comma, or restore the key file as it was',
    );
    this.code = missingKeyId === undefined ? undefined : `master key ${missingKeyId} is missing`;
  }
}
