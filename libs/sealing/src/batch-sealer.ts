import { Signer, unlessUnreadable } from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import { Clock, DomainEvents, Metrics } from '@app/kernel';
import { Injectable } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { appendBatch, type BatchRow, type Head, headOf } from './audit-batches';
import { chainOf, CHECKPOINT_TYPE, checkpointOf, NO_CHAIN } from './audit-leaf';
import { EventOpener, type EventRow, type StoredEvents, unlessErased } from './event-opener';
import { SettledOrder } from './settled-order';

/** The events of one batch, without what is about a subject. */
interface SealedBatch {
  readonly botId: string;
  readonly events: readonly Pick<EventRow, 'event_type' | 'source' | 'created_at'>[];
}

/** Batches were stored, each the next one of its log; published inside the transaction that stores them. */
export class BatchesSealed {
  constructor(
    readonly tx: Tx,
    readonly batches: readonly SealedBatch[],
  ) {}
}

/** Most events in one batch. */
const BATCH_MAX = 500;
/** How long a caller waits for a seal, and how often the order of the log is read meanwhile. */
const NOW_MS = 2_000;
const SETTLING_MS = 20;
/** So many turns are made however long they take: on a process that stops, the first one can find another process faster. */
const TURNS_MIN = 5;

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
    private readonly signer: Signer,
    private readonly order: SettledOrder,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
    private readonly published: DomainEvents,
  ) {}

  /** Seals events up to the place `settled`; returns the bots that may have more. */
  async seal(botIds: readonly string[], settled: number): Promise<string[]> {
    const found = await this.unitOfWork.read((tx) =>
      Promise.all(
        botIds.map(async (botId) => {
          const head = await headOf(tx, botId);
          const events = await this.opener.stored(tx, botId, head?.last_seq ?? 0, settled, BATCH_MAX);
          return { botId, head, events };
        }),
      ),
    );
    const made: { batch: BatchRow; head: Head | undefined; sealed: SealedBatch }[] = [];
    const outdated: string[] = [];
    for (const { botId, head, events } of found) {
      if (events.rows.length === 0) continue;
      const batch = await unlessErased(() => this.batch(botId, head, events));
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

  /** Seals all events of a log; false when that takes too long, and while the master key of one of them is missing. */
  async sealNow(botId: string): Promise<boolean> {
    const endMs = this.clock.monotonicMs() + NOW_MS;
    const { upTo } = await this.order.look();
    for (let turn = 1; turn <= TURNS_MIN || this.clock.monotonicMs() < endMs; turn++) {
      const { settled } = await this.order.look();
      const more = await this.seal([botId], settled).catch(unlessUnreadable);
      if (more === undefined) return false;
      if (more.length === 0 && settled >= upTo) return true;
      if (more.length === 0) await pause(SETTLING_MS);
    }
    return false;
  }

  private async batch(botId: string, head: Head | undefined, events: StoredEvents): Promise<BatchRow> {
    const { rows, keys } = events;
    const { entries, root, identities } = await this.opener.commitments.seal(botId, rows, keys);
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
      // The payload is computed from the batch.
      signature: (await this.signer.sign(checkpointOf(content), CHECKPOINT_TYPE)).replace(/\.[^.]*\./, '..'),
    };
  }
}

/** The complete JWS of a checkpoint. */
export function checkpointJws(batch: BatchRow): string {
  const [header = '', payload, signature = '', ...further] = batch.signature.split('.');
  // Not made by this service: it is returned as it is, and no signature fits it.
  if (payload !== '' || further.length > 0) return batch.signature;
  return `${header}.${Buffer.from(JSON.stringify(checkpointOf(batch))).toString('base64url')}.${signature}`;
}
