import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { eventsBetween, firstEvent, lastPlace, type LoggedEvent } from '@app/audit';
import { CategoriesService } from '@app/categories';
import { pages, type Tx, UnitOfWork } from '@app/database';
import { Clock, conflict, DAY_MS, type FieldFault, firstIdAt, invalidRequest, momentMs } from '@app/kernel';
import { countRecords } from '@app/user-data';
import { DistinctCount } from './distinct-count';
import type { ActCounts, BreachScopeQuery, BreachScopeView } from './reports.dto';

const DAYS_MAX = 366;
/** Times outside of these limits have another text form. */
const EARLIEST_MS = Date.UTC(1970, 0, 2);
const LATEST_MS = Date.UTC(9999, 0);

/** Events read by one statement; requests are answered in between. */
const BATCH = 2_000;
/** How far the order of the log and the times of events can differ: long units, different clocks. */
const DISORDER_MS = 120_000;

/** A period of a bot's log, without its end. */
interface Period {
  readonly botId: string;
  readonly from: string;
  readonly to: string;
}

/**
 * The scope of a breach in numbers (GDPR Art. 33(3)(a)): users with recorded acts in a period, and stored records.
 * Requests do not wait for it: it counts in small parts on a snapshot, one report at a time in each process.
 */
@Injectable()
export class BreachScopes {
  private turn: Promise<unknown> = Promise.resolve();
  private readonly asked = new Set<string>();

  constructor(
    private readonly unitOfWork: UnitOfWork,
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
    const acts = await countActs(tx, period);
    const records = await countRecords(tx, period);
    const categories: BreachScopeView['categories'] = [];
    for await (const { key, labelDe, labelEn } of this.categories.each(tx, botId)) {
      const { held = 0, touched = 0 } = records.get(key) ?? {};
      const labels = { label_de: labelDe, label_en: labelEn };
      categories.push({ category: key, ...labels, records_held: held, records_touched: touched });
    }
    const sum = (of: 'records_held' | 'records_touched'): number =>
      categories.reduce((total, category) => total + category[of], 0);
    return {
      from,
      to,
      generated_at: generatedAt,
      log_begins_at: (await firstEvent(tx, botId))?.created_at ?? null,
      ...acts,
      records_held: sum('records_held'),
      records_touched: sum('records_touched'),
      categories,
    };
  }
}

/** How often an act was done, and for how many subjects. */
class ActCounter {
  events = 0;
  readonly subjects = new DistinctCount();

  get shown(): ActCounts[keyof ActCounts] {
    return { events: this.events, subjects: this.subjects.count };
  }
}

/** The acts in a period by the events of the service: events that a bot has posted are no acts on data. */
async function countActs(
  tx: Tx,
  period: Period,
): Promise<Pick<BreachScopeView, 'exact' | 'affected' | 'acts'>> {
  const { from, to } = period;
  const [stored, exported] = [new ActCounter(), new ActCounter()];
  const [deleted, erased] = [new ActCounter(), new ActCounter()];
  const acts: Readonly<Record<string, ActCounter>> = {
    data_submitted: stored,
    data_exported: exported,
    data_deleted: deleted,
    deletion_completed: erased,
  };
  const [subjects, users, guilds] = [new DistinctCount(), new DistinctCount(), new DistinctCount()];
  for await (const events of eventsOf(tx, period))
    for (const { event_type: type, source, created_at: at, guild_id: guild, user_id: user } of events) {
      const act = acts[type];
      if (act === undefined || source !== 'service' || at < from || at >= to) continue;
      const subject = `${guild}/${user}`;
      act.events++;
      act.subjects.add(subject);
      subjects.add(subject);
      users.add(user);
      guilds.add(guild);
    }
  const counted = [subjects, users, guilds, ...Object.values(acts).map((act) => act.subjects)];
  return {
    exact: counted.every(({ isExact }) => isExact),
    affected: { subjects: subjects.count, users: users.count, guilds: guilds.count },
    acts: { stored: stored.shown, exported: exported.shown, deleted: deleted.shown, erased: erased.shown },
  };
}

/**
 * The events of a period, and some before and after it. The period is found by its place in the log, without an index of
 * times: the duration depends on the events of the period, not on the size of the log.
 */
async function* eventsOf(
  tx: Tx,
  { botId, from, to }: Period,
): AsyncGenerator<readonly LoggedEvent[], void, undefined> {
  const end = await placeOf(tx, botId, moved(to, DISORDER_MS), 'every');
  const begin = await placeOf(tx, botId, moved(from, -DISORDER_MS), 'some');
  yield* pages(BATCH, async (last: LoggedEvent | undefined) => {
    await nextTurn();
    return eventsBetween(tx, botId, last === undefined ? begin : last.seq + 1, end, BATCH);
  });
}

/**
 * A place in the log, the one from which events are no older than `time` if the log is ordered by time. An event has two times, its own
 * and that of its id, of which one is right: a clock that is set forward and back changes only the former at first, and only the
 * latter once it was right again, until the process ends; after a stop of hours the ids are those hours behind for an hour. So the
 * place from which one of the two is no older is not after the right one, and that from which both are is not before it.
 */
async function placeOf(tx: Tx, botId: string, time: string, which: 'some' | 'every'): Promise<number> {
  const id = firstIdAt(time);
  let low = 0;
  let high = (await lastPlace(tx, botId)) + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const found = await firstEvent(tx, botId, middle);
    if (found === undefined || [found.created_at >= time, found.id >= id][which](Boolean)) high = middle;
    else low = found.seq + 1;
  }
  return low;
}

function moved(time: string, byMs: number): string {
  return new Date(Date.parse(time) + byMs).toISOString();
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
