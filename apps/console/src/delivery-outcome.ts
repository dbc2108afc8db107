import type { Schemas } from '@lethe/sdk';

type Delivery = Schemas['DeliveryDetailsView'];
export type Attempt = Delivery['attempts'][number];

/** What became of a call: its new attempt, or none within the time. */
export interface Outcome {
  readonly delivery: Delivery;
  readonly attempt: Attempt | undefined;
  /** Whether an attempt has begun and not ended. */
  readonly isUnderWay: boolean;
}

/** Pauses between the looks, in milliseconds: together longer than an attempt may take by default. */
const PAUSES_MS = [100, 200, 400, 800, 1_500, 3_000, 3_000, 3_000];

/** The number of the latest attempt that has ended. */
export const attemptsOf = ({ attempts }: Delivery): number => attempts.at(-1)?.number ?? 0;

/** Waits until the call has an attempt after `before`, or is no longer to be made; not longer than the pauses. */
export async function outcomeOf(
  read: () => Promise<Delivery>,
  before: number,
  pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms)),
): Promise<Outcome> {
  let delivery = await read();
  for (const ms of PAUSES_MS) {
    if (attemptsOf(delivery) > before || delivery.status !== 'pending') break;
    await pause(ms);
    delivery = await read();
  }
  const ended = attemptsOf(delivery);
  return {
    delivery,
    attempt: ended > before ? delivery.attempts.at(-1) : undefined,
    isUnderWay: delivery.status === 'pending' && delivery.attempt_count > ended,
  };
}
