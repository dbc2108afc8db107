import type { Tx } from '@app/database';
import { holdersOf } from './bot-holders.sql';
import type { CoverageView, CoveredHolderView } from './coverage.dto';
import type { DeclaredHolder, HolderTask } from './holder-task.entity';
import { declaredBy, dueAt, tasksOf } from './holder-tasks.sql';

/** A task with its holder: as it was when it answered, or without an answer as it is. */
interface CoveredTask {
  readonly task: HolderTask;
  readonly holder: DeclaredHolder;
}

/** Final results that leave nothing to do in the store. */
const DONE: readonly (string | null)[] = ['erased', 'nothing', 'kept'];

/** The tasks of an erasure in the order of the keys of their holders; none for an erasure without holders. */
async function coveredTasks(tx: Tx, botId: string, requestId: string): Promise<CoveredTask[]> {
  const tasks = await tasksOf(tx, botId, requestId);
  if (tasks.every(({ declared }) => declared !== null))
    return tasks.flatMap((task) => (task.declared === null ? [] : [{ task, holder: task.declared }]));
  const holders = new Map((await holdersOf(tx, botId)).map((holder) => [holder.key, declaredBy(holder)]));
  return tasks.flatMap((task) => {
    const holder = task.declared ?? holders.get(task.holderKey);
    return holder === undefined ? [] : [{ task, holder }];
  });
}

/** What the holders of the bot have answered to an erasure; undefined without tasks. */
export async function coverageOf(
  tx: Tx,
  botId: string,
  requestId: string,
  nowIso: string,
): Promise<CoverageView | undefined> {
  const tasks = await coveredTasks(tx, botId, requestId);
  if (tasks.length === 0) return undefined;
  const complete = tasks.every(({ task }) => DONE.includes(task.result));
  return { complete, holders: tasks.map((each) => coveredView(each, nowIso)) };
}

function coveredView({ task, holder }: CoveredTask, nowIso: string): CoveredHolderView {
  const { holderKey: key, result, answeredAt: at, keptBasis, keptUntil } = task;
  const silent = nowIso < dueAt(task) ? 'pending' : 'overdue';
  return {
    key,
    label_de: holder.labelDe,
    label_en: holder.labelEn,
    result: result ?? silent,
    at,
    ...(keptBasis !== null && keptUntil !== null && { kept: { basis: keptBasis, until: keptUntil } }),
  };
}
