import type { WebhookTarget } from '@app/bots';
import { gdprSignature, publicSignature, standardSignature } from '@app/crypto';
import type { LabelOf } from '@app/kernel';
import type { KeyObject } from 'node:crypto';
import type { StoredDelivery } from './delivery-texts';
import type { Place } from './due-queue';
import type { DeliveryEvent } from './webhook-events';

/** A delivery whose `payload` is the decrypted body of the call. */
export interface DeliveryToSend extends StoredDelivery {
  readonly event: DeliveryEvent;
  readonly request_id: string | null;
  readonly attempts: number;
  readonly retries: number;
  readonly give_up_at: string;
  /** Failed calls to the receiver in a row, up to this lease. */
  readonly failures: number;
}

/** The right to make one attempt until the lease ends. */
export interface LeasedDelivery {
  readonly botId: string;
  readonly lease: string;
  readonly startedAt: string;
  readonly delivery: DeliveryToSend;
  readonly target: WebhookTarget & { readonly url: string };
}

/** What a look for due deliveries finds for one bot: a delivery to attempt, the place at which it has to wait, or neither; and the time of the next look. */
export interface Found {
  readonly botId: string;
  readonly leased?: LeasedDelivery;
  readonly busy?: Place;
  readonly nextDueMs?: number;
}

/** One signed call, ready to be sent. */
export interface WebhookCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The outcome of an attempt, as the metrics list them. Nothing else of an answer is kept but its status and timing. */
export type Outcome = LabelOf<'webhookAttempts'>;

export interface CallResult {
  readonly outcome: Outcome;
  /** Absent without an answer. */
  readonly status?: number;
  readonly durationMs: number;
  /** The pause that the receiver asked for. */
  readonly retryAfterMs?: number;
}

/** Sends one call to its receiver; tests replace it to simulate receivers and time. */
export abstract class WebhookSender {
  /** Never rejects. Resolves within the configured time, or soon after `signal` with `interrupted`. */
  abstract send(call: WebhookCall, signal: AbortSignal): Promise<CallResult>;
}

/** Longest pause that a receiver can request. */
export const RETRY_AFTER_MAX_MS = 86_400_000;

/** `Retry-After` (RFC 9110) in milliseconds; undefined for an invalid value. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const seconds = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : undefined;
  const pauseMs = seconds ?? (/[a-z]/i.test(header) ? Date.parse(header) - nowMs : NaN);
  if (Number.isNaN(pauseMs)) return undefined;
  return Math.min(Math.max(pauseMs, 0), RETRY_AFTER_MAX_MS);
}

/** The outcome of an answer's status: any 2xx confirms, 410 ends the delivery, a redirect is not followed. */
export function outcomeOf(status: number): Outcome {
  if (status >= 200 && status < 300) return 'confirmed';
  if (status === 410) return 'gone';
  return status >= 300 && status < 400 ? 'redirected' : 'refused';
}

/**
 * The call of one attempt. Body, id and `X-GDPR-Signature` are equal in every attempt; the headers of Standard Webhooks
 * carry the time of this one. During a rotation both secrets sign. The signature by the webhook key of the bot is the last one.
 */
export function webhookCall(
  { delivery, target }: LeasedDelivery,
  nowMs: number,
  webhookKey?: KeyObject,
): WebhookCall {
  const { id, event, payload: body } = delivery;
  const [present, next] = target.secrets;
  const seconds = Math.floor(nowMs / 1000);
  const standard = [present, ...(next === undefined ? [] : [next])].map((secret) =>
    standardSignature(secret, id, seconds, body),
  );
  if (webhookKey !== undefined) standard.push(publicSignature(webhookKey, id, seconds, body));
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Lethe-Webhooks/1',
    'X-GDPR-Event': event,
    'X-GDPR-Signature': gdprSignature(present, body),
    ...(next !== undefined && { 'X-GDPR-Signature-Next': gdprSignature(next, body) }),
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': standard.join(' '),
  };
  return { url: target.url, headers, body };
}
