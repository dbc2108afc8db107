import type { Tx } from '@app/database';
import { holdersOf } from './bot-holders.sql';
import type { CoverageView, CoveredHolderView } from './coverage.dto';
import type { DeclaredHolder, HolderTask } from './holder-task.entity';
import { declaredBy, dueAt, tasksOf } from './holder-tasks.sql';

/** Final results that leave nothing to do in the store. */
const DONE: readonly (string | null)[] = ['erased', 'nothing', 'kept'];

/** What the holders of the bot have answered to an erasure; undefined without tasks. */
export async function coverageOf(
  tx: Tx,
  botId: string,
  requestId: string,
  nowIso: string,
): Promise<CoverageView | undefined> {
  const tasks = await tasksOf(tx, botId, requestId);
  const isWhole = tasks.every(({ declared }) => declared !== null);
  const holders = new Map(
    (isWhole ? [] : await holdersOf(tx, botId)).map((each) => [each.key, declaredBy(each)]),
  );
  // A holder is as it was when it answered, or without an answer as it is.
  const covered = tasks.flatMap((task) => {
    const declared = task.declared ?? holders.get(task.holderKey);
    return declared === undefined ? [] : [{ ...task, declared }];
  });
  if (covered.length === 0) return undefined;
  const complete = covered.every(({ result }) => DONE.includes(result));
  return { complete, holders: covered.map((each) => coveredView(each, nowIso)) };
}

function coveredView(
  task: HolderTask & { readonly declared: DeclaredHolder },
  nowIso: string,
): CoveredHolderView {
  const { holderKey: key, declared, result, answeredAt: at, keptBasis, keptUntil } = task;
  const silent = nowIso < dueAt(task) ? 'pending' : 'overdue';
  return {
    key,
    label_de: declared.labelDe,
    label_en: declared.labelEn,
    result: result ?? silent,
    at,
    ...(keptBasis !== null && keptUntil !== null && { kept: { basis: keptBasis, until: keptUntil } }),
  };
}
