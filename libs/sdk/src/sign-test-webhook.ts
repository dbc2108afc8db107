import { randomUUID } from 'node:crypto';
import { gdprSignature, standardSignature } from './signature';
import type { WebhookEvent } from './webhook-event';

export interface SignTestWebhook {
  readonly event: WebhookEvent;
  readonly secret: string;
  /** The next secret during a rotation. */
  readonly nextSecret?: string;
  readonly id?: string;
  readonly sentAt?: Date;
}

export interface SignedWebhook {
  readonly rawBody: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes a call like the ones of the service, for the tests of your receiver. */
export function signTestWebhook({ event, secret, nextSecret, ...given }: SignTestWebhook): SignedWebhook {
  const { id = randomUUID(), sentAt = new Date() } = given;
  const rawBody = JSON.stringify(event);
  const timestamp = String(Math.floor(sentAt.getTime() / 1000));
  const secrets = nextSecret === undefined ? [secret] : [secret, nextSecret];
  const headers = {
    'content-type': 'application/json',
    'x-gdpr-event': event.event,
    'x-gdpr-signature': gdprSignature(secret, rawBody),
    ...(nextSecret !== undefined && { 'x-gdpr-signature-next': gdprSignature(nextSecret, rawBody) }),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((one) => standardSignature(one, id, timestamp, rawBody)).join(' '),
  };
  return { rawBody, headers };
}
