/** A stored text was changed, moved to another place, or encrypted with a key that this process does not have. */
export class UnreadableSecretError extends Error {
  override readonly name = 'UnreadableSecretError';
  /** The reason in the log: the id of the missing master key. Ids of keys are not secret. */
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
