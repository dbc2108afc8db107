import { findBot, nextBot } from '@app/bots';
import { consentsInForce } from '@app/consent';
import { type Batches, type BotSweep, PeriodicJob, type Tx, UnitOfWork } from '@app/database';
import { Clock, Degradations, DISK_LOW } from '@app/kernel';
import { Injectable } from '@nestjs/common';
import type { ConsentCountView } from './reports.dto';
import { beginOf, KEPT_DAYS, type Period } from './stats.sql';

/** After this time, or that of the longest unit, every unit that an act of the day before began has ended. */
const SETTLED_MS = 60_000;
/** Parts of a count of the present day; a bot with more consents has none. */
const PRESENT_PARTS = 5;

interface CountRow {
  readonly day: string;
  readonly total: number;
  readonly counted_at: string;
}

/** The numbers of subjects under consent on the days of a period. */
export async function consentCountsIn(
  tx: Tx,
  botId: string,
  { first, last }: Pick<Period, 'first' | 'last'>,
): Promise<ConsentCountView[]> {
  const rows = await tx.all<CountRow>(
    'SELECT day, total, counted_at FROM stats_consents WHERE bot_id = ? AND day >= ? AND day <= ? ORDER BY day',
    ...[botId, first, last],
  );
  return rows.map(({ day, total, counted_at }) => ({
    at: beginOf('day', day),
    subjects: total,
    counted_at,
  }));
}

/** The two latest rows, up to today: of the present day and of the one before, where they are counted. */
function latestCounts(tx: Tx, botId: string, today: string): Promise<Omit<CountRow, 'total'>[]> {
  const sql =
    'SELECT day, counted_at FROM stats_consents WHERE bot_id = ? AND day <= ? ORDER BY day DESC LIMIT 2';
  return tx.all(sql, botId, today);
}

/**
 * Counts the subjects under consent: of each day once, as of its end, and of the present day at every run, unless the bot has
 * more than 5,000 consents. Each part of a count is a snapshot and a turn of its own, and a count that is interrupted leaves
 * no number. Nothing is counted by requests.
 */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class ConsentCounting implements BotSweep {
  readonly name = 'consent-counts';
  readonly everyMs = 3_600_000;
  readonly bots = async (after: string): Promise<string | undefined> =>
    (await nextBot(this.unitOfWork, after))?.id;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly degradations: Degradations,
  ) {}

  async *batches(botId: string): Batches {
    // The rest of the disk is for erasures.
    if (this.degradations.has(DISK_LOW)) return;
    const nowMs = this.clock.confirmedMs();
    const [today, yesterday] = [dayOf(nowMs), dayOf(nowMs - 86_400_000)];
    const known = await this.unitOfWork.read((tx) => latestCounts(tx, botId, today));
    const midnight = beginOf('day', today);
    const settledMs = Math.max(SETTLED_MS, this.unitOfWork.unitMaxMs);
    const isCounted = known.some(({ day, counted_at: at }) => day === yesterday && at === midnight);
    if (!isCounted && nowMs >= Date.parse(midnight) + settledMs) {
      const subjects = yield* this.counted(botId, midnight);
      // The first number of a bot is no zero.
      if (subjects !== undefined && (subjects > 0 || known.some(({ day }) => day < today)))
        yield (tx) => this.put(tx, botId, [yesterday, subjects, midnight]);
    }
    const subjects = yield* this.counted(botId, new Date(nowMs + 1).toISOString(), PRESENT_PARTS);
    if (subjects !== undefined && (subjects > 0 || known.length > 0))
      yield (tx) => this.put(tx, botId, [today, subjects, new Date(nowMs).toISOString()]);
  }

  /** The number just before a moment; undefined where it takes more than `partsMax` parts. */
  private async *counted(
    botId: string,
    before: string,
    partsMax = Infinity,
  ): AsyncGenerator<undefined, number | undefined, number> {
    let subjects = 0;
    let after: Place | undefined;
    for (let parts = 1; parts <= partsMax; parts++) {
      const from = after;
      const part = await this.unitOfWork.snapshot((tx) => consentsInForce(tx, botId, before, from));
      subjects += part.subjects;
      after = part.after;
      if (after === undefined) return subjects;
      yield undefined;
    }
    return undefined;
  }

  private async put(tx: Tx, botId: string, row: readonly [string, number, string]): Promise<number> {
    // The bot can have been deleted meanwhile.
    if ((await findBot(tx, botId)) === undefined) return 0;
    const oldest = this.clock.daysAgoIso(KEPT_DAYS).slice(0, 10);
    await tx.run('DELETE FROM stats_consents WHERE bot_id = ? AND day < ?', botId, oldest);
    return tx.run(
      `INSERT INTO stats_consents (bot_id, day, total, counted_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (bot_id, day) DO UPDATE SET total = excluded.total, counted_at = excluded.counted_at`,
      botId,
      ...row,
    );
  }
}

type Place = Parameters<typeof consentsInForce>[3];

function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}
