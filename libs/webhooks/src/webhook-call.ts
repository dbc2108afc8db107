import { gdprSignature, standardSignature } from '@app/crypto';
import type { Claim } from './delivery-leases';
import type { WebhookCall } from './webhook-sender';

/**
 * The call of one attempt. Body, id and `X-GDPR-Signature` are equal in every attempt; the headers of Standard Webhooks
 * carry the time of this one. During a rotation both secrets sign.
 */
export function webhookCall({ delivery, target }: Claim, nowMs: number): WebhookCall {
  const { id, event, payload: body } = delivery;
  const [present, next] = target.secrets;
  const seconds = Math.floor(nowMs / 1000);
  const standard = [present, ...(next === undefined ? [] : [next])]
    .map((secret) => standardSignature(secret, id, seconds, body))
    .join(' ');
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Lethe-Webhooks/1',
    'X-GDPR-Event': event,
    'X-GDPR-Signature': gdprSignature(present, body),
    ...(next !== undefined && { 'X-GDPR-Signature-Next': gdprSignature(next, body) }),
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': standard,
  };
  return { url: target.url, headers, body };
}
