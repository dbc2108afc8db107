import { Injectable } from '@nestjs/common';
import { CategoriesService } from '@app/categories';
import { type Tx, UnitOfWork } from '@app/database';
import { Clock, conflict, type FieldFault, invalidRequest, momentMs } from '@app/kernel';
import { StoredRecords } from '@app/user-data';
import { AuditPeriods, type DataAct, type Period, type PeriodCounts } from './audit-period';
import type { BreachScopeQuery, BreachScopeView } from './breach-scope.dto';
import type { DistinctCount } from './distinct-count';

const DAYS_MAX = 366;
const DAY_MS = 86_400_000;
/** Times outside of these limits have another text form. */
const EARLIEST_MS = Date.UTC(1970, 0, 2);
const LATEST_MS = Date.UTC(9999, 0);

/**
 * The scope of a breach in numbers (GDPR Art. 33(3)(a)): users with acts on their data in a period, and stored records.
 * Requests do not wait for it: it counts in small parts on a snapshot, one report at a time in each process.
 */
@Injectable()
export class BreachScopes {
  private turn: Promise<unknown> = Promise.resolve();
  private readonly asked = new Set<string>();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly periods: AuditPeriods,
    private readonly records: StoredRecords,
    private readonly categories: CategoriesService,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError 400 for an empty or too long period; 409 while another report of the bot is made. */
  async of(botId: string, query: BreachScopeQuery): Promise<BreachScopeView> {
    const period = { botId, ...periodOf(query) };
    if (this.asked.has(botId))
      throw conflict('report_in_progress', 'A report of this bot is being made: wait for its answer');
    this.asked.add(botId);
    const made = this.turn.then(() => this.unitOfWork.snapshot((tx) => this.make(tx, period)));
    this.turn = made.catch(() => undefined);
    try {
      return await made;
    } finally {
      this.asked.delete(botId);
    }
  }

  private async make(tx: Tx, period: Period): Promise<BreachScopeView> {
    const { botId, from, to } = period;
    const generatedAt = this.clock.nowIso();
    const counts = await this.periods.countsOf(tx, period);
    const records = await this.records.countsOf(tx, period);
    const categories: BreachScopeView['categories'] = [];
    for await (const { key, labelDe, labelEn } of this.categories.each(tx, botId)) {
      const { held = 0, touched = 0 } = records.get(key) ?? {};
      const labels = { label_de: labelDe, label_en: labelEn };
      categories.push({ category: key, ...labels, records_held: held, records_touched: touched });
    }
    const sum = (of: 'records_held' | 'records_touched'): number =>
      categories.reduce((total, category) => total + category[of], 0);
    return {
      ...{ from, to, generated_at: generatedAt, log_begins_at: await this.periods.beginOf(tx, botId) },
      ...numbersOf(counts),
      records_held: sum('records_held'),
      records_touched: sum('records_touched'),
      categories,
    };
  }
}

function numbersOf({
  acts,
  subjects,
  users,
  guilds,
}: PeriodCounts): Pick<BreachScopeView, 'exact' | 'affected' | 'acts'> {
  const distinct: DistinctCount[] = [
    subjects,
    users,
    guilds,
    ...Object.values(acts).map((act) => act.subjects),
  ];
  const shown = Object.entries(acts).map(([act, { events, subjects: of }]) => [
    act,
    { events, subjects: of.count },
  ]);
  return {
    exact: distinct.every(({ isExact }) => isExact),
    affected: { subjects: subjects.count, users: users.count, guilds: guilds.count },
    acts: Object.fromEntries(shown) as Record<DataAct, { events: number; subjects: number }>,
  };
}

/** @throws ApiError 400 that names every invalid time. */
function periodOf(query: BreachScopeQuery): { readonly from: string; readonly to: string } {
  const [fromMs, toMs] = [momentMs(query.from) ?? NaN, momentMs(query.to) ?? NaN];
  const faults: FieldFault[] = [];
  for (const [field, timeMs] of Object.entries({ from: fromMs, to: toMs })) {
    if (!(timeMs >= EARLIEST_MS && timeMs <= LATEST_MS))
      faults.push({ field, message: 'must be a time between 1970 and 9999' });
  }
  if (faults.length === 0 && toMs <= fromMs) faults.push({ field: 'to', message: 'must be later than from' });
  if (faults.length === 0 && toMs - fromMs > DAYS_MAX * DAY_MS)
    faults.push({ field: 'to', message: `must be at most ${DAYS_MAX} days later than from` });
  if (faults.length > 0) throw invalidRequest(faults);
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}
