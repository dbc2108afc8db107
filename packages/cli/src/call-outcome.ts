import { setTimeout as pause } from 'node:timers/promises';
import type { Lethe, Schemas } from '@lethe/sdk';

type Delivery = Schemas['DeliveryDetailsView'];

/** The last of the pauses, which double so that a small limit of requests is enough. */
const PAUSE_MAX_MS = 8_000;

/** The number of the latest attempt that has ended. */
export const attemptsOf = ({ attempts }: Delivery): number => attempts.at(-1)?.number ?? 0;

/** Waits until the call has an attempt after `before`, or is no longer to be made; not longer than the pauses. */
export async function outcomeOfCall(lethe: Lethe, id: string, before: number): Promise<Delivery> {
  for (let waitMs = 250; ; waitMs *= 2) {
    await pause(waitMs);
    const call = await lethe.webhooks.delivery(id);
    if (attemptsOf(call) > before || call.status !== 'pending' || waitMs >= PAUSE_MAX_MS) return call;
  }
}

/** The attempt after `before` in words, or that there is none yet. */
export function whatBecameOf(call: Delivery, before: number): string {
  if (attemptsOf(call) === before) return call.status === 'pending' ? 'no attempt yet' : call.status;
  const { outcome, status_code: status, duration_ms: ms } = call.attempts.at(-1) ?? {};
  return [outcome, status, ms == null ? ms : `${ms} ms`].filter((fact) => fact != null).join(', ');
}
