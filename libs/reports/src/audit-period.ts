import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { eventsBetween, firstEvent, lastPlace, type LoggedEvent } from '@app/audit';
import { pages, type Tx } from '@app/database';
import type { AuditEventType } from '@app/kernel';
import { DistinctCount } from './distinct-count';

/** Events read by one statement; requests are answered in between. */
const BATCH = 2_000;
/** How far the order of the log and the times of events can differ: long units, different clocks. */
const DISORDER_MS = 120_000;

/** The acts on personal data, by the type of their audit event. */
export const DATA_ACTS = {
  stored: 'data_submitted',
  exported: 'data_exported',
  deleted: 'data_deleted',
  erased: 'deletion_completed',
} as const satisfies Record<string, AuditEventType>;
export type DataAct = keyof typeof DATA_ACTS;

/** A period of a bot's log, without its end. */
export interface Period {
  readonly botId: string;
  readonly from: string;
  readonly to: string;
}

/** How much was done with personal data in a period, in numbers alone. */
export class PeriodCounts {
  readonly acts = Object.fromEntries(
    Object.keys(DATA_ACTS).map((act) => [act, { events: 0, subjects: new DistinctCount() }]),
  ) as Record<DataAct, { events: number; readonly subjects: DistinctCount }>;
  readonly subjects = new DistinctCount();
  readonly users = new DistinctCount();
  readonly guilds = new DistinctCount();

  add(act: DataAct, userId: string, guildId: string): void {
    const subject = `${guildId}/${userId}`;
    this.acts[act].events++;
    this.acts[act].subjects.add(subject);
    this.subjects.add(subject);
    this.users.add(userId);
    this.guilds.add(guildId);
  }
}

const ACT_OF: ReadonlyMap<string, DataAct> = new Map(
  Object.entries(DATA_ACTS).map(([act, type]) => [type, act as DataAct]),
);

/**
 * Reads a period of a bot's log. The period is found by its place in the log, without an index of times: the duration
 * depends on the events of the period, not on the size of the log.
 */
@Injectable()
export class AuditPeriods {
  /** Counts events of the service; events that a bot posted are no acts on data. */
  async countsOf(tx: Tx, { botId, from, to }: Period): Promise<PeriodCounts> {
    const counts = new PeriodCounts();
    const end = await this.placeOf(tx, botId, moved(to, DISORDER_MS));
    const begin = await this.placeOf(tx, botId, moved(from, -DISORDER_MS));
    const behind = async (last: LoggedEvent | undefined): Promise<LoggedEvent[]> => {
      await nextTurn();
      return eventsBetween(tx, botId, last === undefined ? begin : last.seq + 1, end, BATCH);
    };
    for await (const rows of pages(BATCH, behind)) {
      for (const row of rows) {
        const act = ACT_OF.get(row.event_type);
        if (act === undefined || row.source !== 'service' || row.created_at < from || row.created_at >= to)
          continue;
        counts.add(act, row.user_id, row.guild_id);
      }
    }
    return counts;
  }

  /** The time of the oldest event that is still in the log. */
  async beginOf(tx: Tx, botId: string): Promise<string | null> {
    return (await firstEvent(tx, botId))?.created_at ?? null;
  }

  /** The place in the log from which events are no older than `time`, if the log is ordered by time. */
  private async placeOf(tx: Tx, botId: string, time: string): Promise<number> {
    let low = 0;
    let high = (await lastPlace(tx, botId)) + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const found = await firstEvent(tx, botId, middle);
      if (found === undefined || found.created_at >= time) high = middle;
      else low = found.seq + 1;
    }
    return low;
  }
}

function moved(time: string, byMs: number): string {
  return new Date(Date.parse(time) + byMs).toISOString();
}
