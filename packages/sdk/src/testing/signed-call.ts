import { gdprSignature, standardSignature } from '../signature';
import { newUuid } from '../web-crypto';
import type { WebhookEvent } from '../webhook-event';

export interface SignCall {
  readonly event: WebhookEvent;
  readonly secret: string;
  /** The next secret during a rotation. */
  readonly nextSecret?: string;
  readonly id?: string;
  readonly sentAt?: Date;
}

export interface SignedCall {
  readonly rawBody: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes a call like the ones of the service, for the tests of your receiver. */
export async function signedCall({ event, secret, nextSecret, ...given }: SignCall): Promise<SignedCall> {
  const { id = await newUuid(), sentAt = new Date() } = given;
  const rawBody = JSON.stringify(event);
  const timestamp = String(Math.floor(sentAt.getTime() / 1000));
  const secrets = nextSecret === undefined ? [secret] : [secret, nextSecret];
  const signatures = secrets.map((one) => standardSignature(one, id, timestamp, rawBody));
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'x-gdpr-event': event.event,
    'x-gdpr-signature': await gdprSignature(secret, rawBody),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': (await Promise.all(signatures)).join(' '),
  };
  if (nextSecret !== undefined) headers['x-gdpr-signature-next'] = await gdprSignature(nextSecret, rawBody);
  return { rawBody, headers };
}
