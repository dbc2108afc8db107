import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { eventsBetween, firstEvent, lastPlace } from '@app/audit';
import { SubjectDigests } from '@app/crypto';
import { pages, type Tx } from '@app/database';
import type { AuditEventType } from '@app/kernel';
import { isDigest } from '@app/primitives';
import { DistinctCount } from './distinct-count';

/** Events read at once; others are served in between. */
const BATCH = 2_000;
/** Digests of ids that are kept at once, so that most are made once. */
const KEPT_MAX = 100_000;
/** By how much the order of the log and the times of its events may differ: units that took long, clocks apart. */
const DISORDER_MS = 120_000;

/** The acts on personal data, by the event that each leaves. */
export const DATA_ACTS = {
  stored: 'data_submitted',
  exported: 'data_exported',
  deleted: 'data_deleted',
  erased: 'deletion_completed',
} as const satisfies Record<string, AuditEventType>;
export type DataAct = keyof typeof DATA_ACTS;

/** A period of a bot's log; its end does not belong to it. */
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
 * Reads what a bot's log says of a period. The period is found by its place in the log, so that the time it takes grows
 * with the events of the period and not with those of the log; no index of times is needed.
 */
@Injectable()
export class AuditPeriods {
  constructor(private readonly digests: SubjectDigests) {}

  /**
   * The service's own events alone: what a bot has posted is no act on the data. Erased ids stand in the log as digests;
   * all others are counted by theirs too, so that nobody who was erased in one guild alone counts twice.
   */
  async countsOf(tx: Tx, { botId, from, to }: Period): Promise<PeriodCounts> {
    const counts = new PeriodCounts();
    const user = this.named(botId, 'user');
    const guild = this.named(botId, 'guild');
    const end = await this.placeOf(tx, botId, moved(to, DISORDER_MS));
    for (let place = await this.placeOf(tx, botId, moved(from, -DISORDER_MS)), more = true; more;) {
      const rows = await eventsBetween(tx, botId, place, end, BATCH);
      for (const row of rows) {
        const act = ACT_OF.get(row.event_type);
        if (act === undefined || row.source !== 'service' || row.created_at < from || row.created_at >= to)
          continue;
        counts.add(act, user(row.user_id), guild(row.guild_id));
      }
      await nextTurn();
    }
    return counts;
  }

  /** When the oldest event that the log still has took place. */
  async beginOf(tx: Tx, botId: string): Promise<string | null> {
    return (await firstEvent(tx, botId))?.created_at ?? null;
  }

  private named(botId: string, kind: 'user' | 'guild'): (id: string) => string {
    const kept = new Map<string, string>();
    return (id) => {
      if (isDigest(id)) return id;
      const digest = kept.get(id) ?? this.digests.of(botId, kind, id);
      if (kept.size >= KEPT_MAX) kept.clear();
      kept.set(id, digest);
      return digest;
    };
  }

  /** The place in the log from which on events are no older than `time`, as far as its order is that of the times. */
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
