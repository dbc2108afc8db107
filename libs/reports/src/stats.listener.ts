import { Injectable } from '@nestjs/common';
import { ErasuresCompleted } from '@app/gdpr';
import { OnDomainEvent } from '@app/kernel';
import { BatchesSealed } from '@app/sealing';
import { DeliveriesSettled } from '@app/webhooks';
import { stepOf } from './duration-steps';
import { addCounts, ERASURE, type Happened, LONGEST, WEBHOOK } from './stats.sql';

/** Counts what happened in the unit in which it happened: each event once, also after a crash. */
@Injectable()
export class StatsListener {
  /** The unit has moved the heads of the logs, so that no other one counts events of these bots meanwhile. */
  @OnDomainEvent(BatchesSealed)
  async onBatchesSealed({ tx, batches }: BatchesSealed): Promise<void> {
    const happened = batches.flatMap(({ botId, events }) =>
      events
        .filter(({ source }) => source !== 'client')
        .map(({ event_type: name, created_at: at }) => ({ botId, at, name, number: 1 })),
    );
    await addCounts(tx, happened, false);
  }

  @OnDomainEvent(DeliveriesSettled)
  async onDeliveriesSettled({ tx, settled: { botId, at, ...ends } }: DeliveriesSettled): Promise<void> {
    const happened = Object.entries(ends).map(([end, number]) => ({
      botId,
      at,
      name: WEBHOOK + end,
      number,
    }));
    await addCounts(tx, happened, true);
  }

  @OnDomainEvent(ErasuresCompleted)
  async onErasuresCompleted({ tx, erasures }: ErasuresCompleted): Promise<void> {
    const happened = erasures.flatMap(({ botId, createdAt, completedAt: at }): Happened[] => {
      const durationMs = Math.max(0, Date.parse(at) - Date.parse(createdAt));
      return [
        { botId, at, name: `${ERASURE}${stepOf(durationMs)}`, number: 1 },
        { botId, at, name: LONGEST, number: durationMs },
      ];
    });
    await addCounts(tx, happened, true);
  }
}
