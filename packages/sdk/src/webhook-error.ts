/** The reason why a call was refused. */
export type WebhookFault =
  | 'parsed_body'
  | 'bad_secret'
  | 'bad_keys'
  | 'missing_header'
  | 'clock'
  | 'wrong_signature'
  | 'not_json'
  | 'too_large';

/** A call that must not be processed. The message names the usual mistake. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';

  constructor(
    readonly fault: WebhookFault,
    message: string,
  ) {
    super(message);
  }
}
