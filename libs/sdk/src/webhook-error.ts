/** Why a call was not accepted. */
export type WebhookFault =
  'parsed_body' | 'bad_secret' | 'missing_header' | 'clock' | 'wrong_signature' | 'not_json';

/** A call that must not be acted upon; the message names the usual mistake behind it. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';

  constructor(
    readonly fault: WebhookFault,
    message: string,
  ) {
    super(message);
  }
}
