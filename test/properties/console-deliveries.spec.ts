import { METRICS } from '@app/kernel';
import { DELIVERY_EVENTS, DELIVERY_STATUSES } from '@app/webhooks';
import type { Schemas } from '@lethe/sdk';
import { outcomeOf } from '../../apps/console/src/delivery-outcome';
import { WORDS } from '../../apps/console/src/words';

type Delivery = Schemas['DeliveryDetailsView'];

/** A call with so many attempts that have ended. */
function call(ended: number, more: Partial<Delivery> = {}): Delivery {
  const attempts = Array.from({ length: ended }, (_, at) => ({
    ...{ number: at + 1, started_at: null, duration_ms: 3, outcome: 'refused', status_code: 500 },
  }));
  return { status: 'pending', attempt_count: ended, attempts, ...more } as Delivery;
}

/** What is found of calls that are read one after another, the last one again and again, and how long it took. */
async function found(before: number, ...reads: Delivery[]) {
  let waitedMs = 0;
  const read = () => Promise.resolve((reads.length > 1 ? reads.shift() : reads[0]) as Delivery);
  const outcome = await outcomeOf(read, before, async (ms) => void (waitedMs += ms));
  return { waitedMs, number: outcome.attempt?.number, isUnderWay: outcome.isUnderWay };
}

describe('the outcome of a call that was asked for in the console', () => {
  it('is that of its next attempt, and of no earlier one', async () => {
    const [none, one, two] = [call(0), call(1), call(2)];
    expect(await found(0, one)).toEqual({ waitedMs: 0, number: 1, isUnderWay: false });
    expect(await found(0, none, none, one)).toEqual({ waitedMs: 300, number: 1, isUnderWay: false });
    expect(await found(1, one, two)).toEqual({ waitedMs: 100, number: 2, isUnderWay: false });
  });

  it('is not awaited for longer than an attempt may take, and then said to be under way or not begun', async () => {
    const nothing = { waitedMs: 12_000, number: undefined };
    expect(await found(1, call(1))).toEqual({ ...nothing, isUnderWay: false });
    expect(await found(1, call(1, { attempt_count: 2 }))).toEqual({ ...nothing, isUnderWay: true });
  });

  it('is not awaited where no attempt is made any more', async () => {
    const cancelled = call(1, { status: 'cancelled' });
    expect(await found(1, cancelled)).toEqual({ waitedMs: 0, number: undefined, isUnderWay: false });
  });

  it('is said in words of both languages, as every state and event', () => {
    const lists = {
      webhook: DELIVERY_EVENTS,
      delivery: DELIVERY_STATUSES,
      outcome: METRICS.webhookAttempts.label.values,
    };
    for (const words of Object.values(WORDS))
      for (const [kind, names] of Object.entries(lists))
        expect(Object.keys(words[kind as keyof typeof lists]).toSorted()).toEqual([...names].toSorted());
  });
});
