/** The ends of deliveries and attempts that are counted. */
export const WEBHOOK_ENDS = ['delivered', 'failed', 'exhausted'] as const;
export type WebhookEnd = (typeof WEBHOOK_ENDS)[number];

/** What takes time: an erasure, and a delivery until its first confirmation. */
export const TIMED = ['erasure', 'latency'] as const;
export type Timed = (typeof TIMED)[number];

const WEBHOOK = 'webhook:';

// No audit event type has a colon.

export function webhookName(end: WebhookEnd): string {
  return WEBHOOK + end;
}

export function stepName(timed: Timed, step: number): string {
  return `${timed}:${step}`;
}

/** The longest duration in milliseconds: the greatest number counts, not the sum. */
export function longestName(timed: Timed): string {
  return `${timed}:longest`;
}

const LONGEST: readonly string[] = TIMED.map(longestName);

export function isLongest(name: string): boolean {
  return LONGEST.includes(name);
}

/** True of the names of {@link isLongest}, in SQL. */
export const IS_LONGEST = `IN (${LONGEST.map((name) => `'${name}'`).join(', ')})`;

/** The end that a name counts; undefined for another name. */
export function webhookEndOf(name: string): WebhookEnd | undefined {
  return WEBHOOK_ENDS.find((end) => webhookName(end) === name);
}

/** What a name measures, and the step that it counts or `longest`; undefined for another name. */
export function durationNamed(
  name: string,
): { readonly timed: Timed; readonly step: number | 'longest' } | undefined {
  const [of, step = ''] = name.split(':');
  const timed = TIMED.find((each) => each === of);
  return timed && { timed, step: isLongest(name) ? 'longest' : Number(step) };
}
