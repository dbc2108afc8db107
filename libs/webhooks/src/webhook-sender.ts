import type { LabelOf } from '@app/metrics';

/** One signed call, ready to be sent. */
export interface WebhookCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The outcome of an attempt, as the metrics list them; of an answer only its status and timing are kept besides. */
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
const RETRY_AFTER_MAX_MS = 86_400_000;

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
