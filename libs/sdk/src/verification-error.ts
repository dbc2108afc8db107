/** Evidence that does not hold: a signature, a hash or an order is not what it should be; the message says which. */
export class VerificationError extends Error {
  override readonly name = 'VerificationError';

  constructor(
    message: string,
    /** The line of an export. */
    readonly line?: number,
  ) {
    super(line === undefined ? message : `line ${line}: ${message}`);
  }
}
