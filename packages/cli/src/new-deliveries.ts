import type { Lethe, Schemas } from '@lethe/sdk';

/** A unit of the service may commit later than another one whose delivery has a later time. */
const OVERLAP_MS = 60_000;

/** The deliveries of a bot since a moment, each once, also those that become visible late. */
export class NewDeliveries {
  private readonly seen = new Set<string>();
  private latestMs: number;

  constructor(
    private readonly lethe: Lethe,
    private readonly fromMs: number,
  ) {
    this.latestMs = fromMs;
  }

  /** What was not answered before, oldest first. A delivery counts as answered once the next one is asked for. */
  async *next(): AsyncGenerator<Schemas['DeliveryView'], void, undefined> {
    const found: Schemas['DeliveryView'][] = [];
    const untilMs = Math.max(this.fromMs, this.latestMs - OVERLAP_MS);
    // The list is sorted by ids, which follow the times to within the overlap.
    for await (const delivery of this.lethe.webhooks.deliveries()) {
      const atMs = Date.parse(delivery.created_at);
      if (atMs < untilMs - OVERLAP_MS) break;
      if (atMs >= this.fromMs && !this.seen.has(delivery.id)) found.push(delivery);
    }
    for (const delivery of found.reverse()) {
      yield delivery;
      this.seen.add(delivery.id);
      this.latestMs = Math.max(this.latestMs, Date.parse(delivery.created_at));
    }
  }
}
