/** A verification failed: the message names the signature, hash or order that is wrong. */
export class VerificationError extends Error {
  override readonly name = 'VerificationError';

  constructor(
    message: string,
    /** The line of the export. */
    readonly line?: number,
  ) {
    super(line === undefined ? message : `line ${line}: ${message}`);
  }
}
