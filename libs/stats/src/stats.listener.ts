import { Injectable } from '@nestjs/common';
import { ErasuresCompleted } from '@app/erasure';
import { OnDomainEvent } from '@app/kernel';
import { BatchesSealed } from '@app/sealing';
import { DeliveriesSettled } from '@app/webhooks';
import { stepOf } from './duration-steps';
import { longestName, stepName, type Timed, WEBHOOK_ENDS, webhookName } from './stat-names';
import { addCounts, type Happened } from './stats.sql';

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
  async onDeliveriesSettled({ tx, settled }: DeliveriesSettled): Promise<void> {
    const { botId, at, confirmedAfterMs, ...ends } = settled;
    const happened = WEBHOOK_ENDS.map((end) => ({
      ...{ botId, at, name: webhookName(end), number: ends[end] ?? 0 },
    }));
    const times = confirmedAfterMs === undefined ? [] : timeOf('latency', botId, at, confirmedAfterMs);
    await addCounts(tx, [...happened, ...times], true);
  }

  @OnDomainEvent(ErasuresCompleted)
  async onErasuresCompleted({ tx, erasures }: ErasuresCompleted): Promise<void> {
    const happened = erasures.flatMap(({ botId, createdAt, completedAt: at }) =>
      timeOf('erasure', botId, at, Date.parse(at) - Date.parse(createdAt)),
    );
    await addCounts(tx, happened, true);
  }
}

/** A duration by its step, and as one that may be the longest. A clock that went back makes none negative. */
function timeOf(timed: Timed, botId: string, at: string, givenMs: number): Happened[] {
  const durationMs = Math.max(0, givenMs);
  return [
    { botId, at, name: stepName(timed, stepOf(durationMs)), number: 1 },
    { botId, at, name: longestName(timed), number: durationMs },
  ];
}
