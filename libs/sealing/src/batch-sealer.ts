import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Signer } from '@app/crypto';
import { ConcurrentChange, type Tx, UnitOfWork } from '@app/database';
import { Clock, DomainEvents } from '@app/kernel';
import { Metrics } from '@app/metrics';
import { appendBatch, type BatchRow, type Head, headOf } from './audit-batches';
import { chainOf, CHECKPOINT_TYPE, checkpointOf, NO_CHAIN } from './audit-leaf';
import { BatchHasher } from './batch-hasher';
import { BatchesSealed, type SealedBatch } from './batches-sealed.event';
import { EventOpener, type StoredEvents } from './event-opener';
import { SettledOrder } from './settled-order';

/** Most events in one batch. */
export const BATCH_MAX = 500;
/** How long a caller waits for a seal, and how often the order of the log is read meanwhile. */
const NOW_MS = 2_000;
const SETTLING_MS = 20;

/** The next events of one bot to seal. */
interface Unsealed {
  readonly botId: string;
  readonly head: Head | undefined;
  readonly events: StoredEvents;
}

/**
 * Seals the events after the last batch of a log: one batch of each bot at a call. Nothing is locked. When two processes
 * make the same batch, the first one stores it and the other batch is dropped. An event whose subject is erased during
 * the sealing keeps its commitment, which fits the rest of the event.
 */
@Injectable()
export class BatchSealer {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly opener: EventOpener,
    private readonly sealing: BatchHasher,
    private readonly signer: Signer,
    private readonly order: SettledOrder,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
    private readonly published: DomainEvents,
  ) {}

  /** Seals events up to the place `settled`; answers the bots that may have more. */
  async seal(botIds: readonly string[], settled: number): Promise<string[]> {
    const found = await this.unitOfWork.read((tx) =>
      Promise.all(botIds.map((botId) => this.unsealed(tx, botId, settled))),
    );
    const unsealed = found.filter(({ events }) => events.rows.length > 0);
    const made: { batch: BatchRow; head: Head | undefined; sealed: SealedBatch }[] = [];
    const outdated: string[] = [];
    for (const { botId, head, events } of unsealed) {
      const batch = await this.unlessErased(() => this.batch(botId, head, events));
      if (batch === undefined) outdated.push(botId);
      else made.push({ batch, head, sealed: { botId, events: events.rows } });
    }
    if (made.length === 0) return outdated;
    return this.unitOfWork.write(async (tx) => {
      const more = [...outdated];
      const stored: SealedBatch[] = [];
      for (const { batch, head, sealed } of made) {
        const isOurs = await appendBatch(tx, batch, head);
        if (isOurs) tx.afterCommit(() => this.metrics.count('auditSealed', batch.events));
        if (isOurs) stored.push(sealed);
        if (!isOurs || batch.events === BATCH_MAX) more.push(batch.bot_id);
      }
      if (stored.length > 0) await this.published.publish(new BatchesSealed(tx, stored));
      return more;
    });
  }

  /** Seals all events of a log; false when that takes too long. */
  async sealNow(botId: string): Promise<boolean> {
    const endMs = this.clock.monotonicMs() + NOW_MS;
    const { upTo } = await this.order.look();
    while (this.clock.monotonicMs() < endMs) {
      const { settled } = await this.order.look();
      const more = await this.seal([botId], settled);
      if (more.length === 0 && settled >= upTo) return true;
      if (more.length === 0) await pause(SETTLING_MS);
    }
    return false;
  }

  private async unsealed(tx: Tx, botId: string, settled: number): Promise<Unsealed> {
    const head = await headOf(tx, botId);
    const events = await this.opener.stored(tx, botId, head?.last_seq ?? 0, settled, BATCH_MAX);
    return { botId, head, events };
  }

  /** Undefined when a key was destroyed after the reading: the events have to be read again. */
  private async unlessErased<T>(make: () => Promise<T>): Promise<T | undefined> {
    try {
      return await make();
    } catch (error) {
      if (error instanceof ConcurrentChange) return undefined;
      throw error;
    }
  }

  private async batch(botId: string, head: Head | undefined, events: StoredEvents): Promise<BatchRow> {
    const { entries, root, identities } = await this.sealing.seal(botId, events);
    const { rows } = events;
    const ids = rows.map(({ id }) => id).sort();
    const content = {
      bot_id: botId,
      number: (head?.number ?? 0) + 1,
      first_seq: rows[0]?.seq ?? 0,
      last_seq: rows.at(-1)?.seq ?? 0,
      events: rows.length,
      root,
      identities,
      previous: head?.chain ?? NO_CHAIN,
      sealed_at: this.clock.nowIso(),
    };
    return {
      ...content,
      min_id: ids[0] ?? '',
      max_id: ids.at(-1) ?? '',
      entries,
      chain: chainOf(content),
      signature: detached(await this.signer.sign(checkpointOf(content), CHECKPOINT_TYPE)),
    };
  }
}

/** The JWS without its payload, which is computed from the batch. */
function detached(jws: string): string {
  const [header = '', , signature = ''] = jws.split('.');
  return `${header}..${signature}`;
}

/** The complete JWS of a checkpoint. */
export function checkpointJws(batch: BatchRow): string {
  const [header = '', payload, signature = '', ...further] = batch.signature.split('.');
  // Not made by this service: answered as it is, and no signature fits it.
  if (payload !== '' || further.length > 0) return batch.signature;
  return `${header}.${Buffer.from(JSON.stringify(checkpointOf(batch))).toString('base64url')}.${signature}`;
}
