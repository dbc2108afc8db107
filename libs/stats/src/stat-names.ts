/** The ends of deliveries and attempts that are counted. */
export const WEBHOOK_ENDS = ['delivered', 'failed', 'exhausted'] as const;
export type WebhookEnd = (typeof WEBHOOK_ENDS)[number];

const WEBHOOK = 'webhook:';
const ERASURE = 'erasure:';

// No audit event type has a colon.

export function webhookName(end: WebhookEnd): string {
  return WEBHOOK + end;
}

export function erasureName(step: number): string {
  return ERASURE + String(step);
}

/** The end that a name counts; undefined for another name. */
export function webhookEndOf(name: string): WebhookEnd | undefined {
  return WEBHOOK_ENDS.find((end) => webhookName(end) === name);
}

/** The longest duration of an erasure in milliseconds: the greatest number counts, not the sum. */
export const LONGEST = `${ERASURE}longest`;

/** The step of durations that a name counts; undefined for another name. */
export function stepNamed(name: string): number | undefined {
  return name.startsWith(ERASURE) && name !== LONGEST ? Number(name.slice(ERASURE.length)) : undefined;
}
