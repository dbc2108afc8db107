import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Cursors } from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import { ListPage } from '@app/http';
import { Acts, type Claim } from '@app/acts';
import { Clock, invalidRequest, storableIso } from '@app/kernel';
import type { DeletionRequest } from '../erasure/deletion-request.entity';
import { findRequest, findRequests } from '../erasure/deletion-requests.sql';
import { ErasureRecords } from '../erasure/erasure-records';
import { AnswerSeals } from './answer-seals';
import type { BotHolder } from './bot-holder.entity';
import { requireHolder } from './bot-holders.sql';
import { answeredOtherwise, ExportTasks, requireAnswer, requireData, viewOf } from './export-tasks';
import type { OpenExport } from './holder-exports.sql';
import { requireStatement } from './holder-statement';
import { HolderTask, TASK_ANSWERS } from './holder-task.entity';
import { declaredBy, lockTask, tasksBehind, tasksOf, type TaskPlace } from './holder-tasks.sql';
import type { AcknowledgeTask, TaskPath, TasksQuery, TaskView } from './holder-tasks.dto';

/** The part of the list, and the last task that was read of it. */
type Place = readonly [part: 'open' | 'exports' | 'answered', ...TaskPlace];

/** A task with its view; undefined without its ids. */
interface Listed {
  readonly task: HolderTask | OpenExport;
  readonly view: TaskView | undefined;
}

/** The tasks of the holders of bots, and their answers. A task repeats the ids of its user as its erasure has them. */
@Injectable()
export class HolderTasksService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly acts: Acts,
    private readonly records: ErasureRecords,
    private readonly seals: AnswerSeals,
    private readonly exports: ExportTasks,
    private readonly clock: Clock,
    private readonly cursors: Cursors,
  ) {}

  /**
   * One page: the open tasks to erase, oldest first, and then those to export. With `since` the erasures that were answered at or after it follow in the order of their
   * answers. A task that is answered during a walk is then in one of the two parts at least.
   * @throws ApiError 404 for an unknown holder; 400 for a `since` outside the years 0 to 9999
   */
  list(botId: string, key: string, query: TasksQuery): Promise<ListPage> {
    const page = this.cursors.page<Place>(botId, `tasks/${key}`, query);
    const since = storableIso(query.since);
    if (query.since != null && since === undefined)
      throw invalidRequest([{ field: 'since', message: 'must be a time of the years 0 to 9999' }]);
    return this.unitOfWork.read(async (tx) => {
      const [part, ...behind] = page.after ?? (['open', '', ''] as const);
      await requireHolder(tx, botId, key);
      const open = part === 'open' ? await tasksBehind(tx, 'open', botId, key, behind, page.limit) : [];
      let left = page.limit - open.length;
      const asked: TaskPlace = part === 'exports' ? behind : ['', ''];
      const exports =
        part !== 'answered' && left > 0 ? await this.exports.open(tx, botId, key, asked, left) : [];
      left -= exports.length;
      const from: TaskPlace = part === 'answered' ? behind : [since ?? '', ''];
      const answered =
        since !== undefined && left > 0 ? await tasksBehind(tx, 'answered', botId, key, from, left) : [];
      const erasures = [...open, ...answered];
      const requests = await findRequests(
        tx,
        botId,
        erasures.map(({ requestId }) => requestId),
      );
      const viewed = (task: HolderTask): Listed => {
        const request = requests.get(task.requestId);
        return { task, view: request && this.viewOf(task, request) };
      };
      const found: Listed[] = [...open.map(viewed), ...exports, ...answered.map(viewed)];
      const tasks = found.slice(0, page.size);
      const last = found.length > page.size ? tasks.at(-1)?.task : undefined;
      const views = tasks.flatMap(({ view }) => view ?? []);
      return new ListPage('tasks', views, page.walked(last && placeOf(last)));
    });
  }

  /**
   * Records the answer of a holder. A final answer stays. The same answer again changes nothing, also when the time of `kept` is over.
   * `erased`, `nothing` or a later `kept` can follow `kept`.
   * @throws ApiError 404 for an unknown holder, and for a task that is not its own; 400 that names what is wrong; 409 `task_answered`
   */
  acknowledge(
    botId: string,
    { key, task_id }: TaskPath,
    input: AcknowledgeTask,
    claim: Claim,
  ): Promise<TaskView> {
    if ((input.result === 'kept') !== (input.kept != null))
      throw invalidRequest([
        {
          field: 'kept',
          message: 'is required with the result kept, and to be left out with every other one',
        },
      ]);
    requireData(input);
    const id = task_id.toLowerCase();
    const acknowledge = async (tx: Tx): Promise<TaskView> => {
      const holder = await requireHolder(tx, botId, key, 'FOR SHARE');
      const found = await this.find(tx, botId, key, id);
      if (found === undefined) return this.exports.answer(tx, holder, id, input);
      const { task, request } = found;
      const answer = this.answered(holder, task, input);
      if (answer === undefined) return this.viewOf(task, request);
      const next = { ...task, ...answer };
      const tasks = await tasksOf(tx, botId, id);
      const holders = tasks.map(({ holderKey }) => holderKey);
      const seal = this.seals.seal(next, holders);
      await tx.manager.update(HolderTask, { botId, holderKey: key, requestId: id }, { ...answer, seal });
      return this.viewOf(next, request);
    };
    // The answer has the ids of the user, so that it is not stored for a repeat.
    const again = async (tx: Tx): Promise<TaskView> => {
      const found = await this.find(tx, botId, key, id);
      if (found === undefined) return this.exports.view(tx, botId, key, id);
      return this.viewOf(found.task, found.request);
    };
    return this.acts.once(claim, acknowledge, { again });
  }

  /** What an answer changes of its task; undefined where it has the same one. @throws ApiError 400; 409 `task_answered` */
  private answered(
    holder: BotHolder,
    task: HolderTask,
    input: AcknowledgeTask,
  ): Partial<HolderTask> | undefined {
    const { counts = null, statement = null } = input;
    const result = requireAnswer(TASK_ANSWERS, 'erase', input);
    const kept = input.kept == null ? null : { basis: input.kept.basis, until: input.kept.until };
    requireStatement(statement, holder.publicKey, {
      bot_id: task.botId,
      holder: holder.key,
      task_id: task.requestId,
      result,
      counts,
      kept,
    });
    const answer = {
      result,
      counts,
      keptBasis: kept && kept.basis,
      keptUntil: storableIso(kept?.until) ?? null,
    };
    const { open, result: before, keptBasis, keptUntil } = task;
    if (open === 0) {
      const known = { result: before, counts: task.counts, keptBasis, keptUntil };
      if (isDeepStrictEqual(known, answer)) return undefined;
      if (!canFollow(task, answer)) throw answeredOtherwise(before);
    }
    const answeredAt = this.clock.nowIso();
    if (answer.keptUntil !== null && answer.keptUntil <= answeredAt)
      throw invalidRequest([
        {
          field: 'kept',
          message: 'must have an until in the future: what is no longer kept has to be erased',
        },
      ]);
    return {
      ...answer,
      open: result === 'failed' ? 1 : 0,
      statement,
      declared: declaredBy(holder),
      answeredAt,
    };
  }

  /** A task to erase; undefined for every other one. */
  private async find(
    tx: Tx,
    botId: string,
    key: string,
    id: string,
  ): Promise<{ readonly task: HolderTask; readonly request: DeletionRequest } | undefined> {
    const task = await lockTask(tx, botId, key, id);
    const request = task && (await findRequest(tx, { botId, id }));
    return task && request && { task, request };
  }

  private viewOf(task: HolderTask, request: DeletionRequest): TaskView {
    const { requestId: taskId, createdAt, result, answeredAt: at } = task;
    return viewOf('erase', { taskId, createdAt, result, at }, this.records.idsOf(request));
  }
}

/** After `kept` the basis ends or is extended. No other final answer is followed by one. */
function canFollow(
  { result: before, keptUntil: end }: HolderTask,
  { result, keptUntil }: Pick<HolderTask, 'result' | 'keptUntil'>,
): boolean {
  if (before !== 'kept' || end === null) return false;
  return result === 'kept' ? keptUntil !== null && keptUntil > end : result !== 'failed';
}

function placeOf(task: HolderTask | OpenExport): Place {
  if ('taskId' in task) return ['exports', task.createdAt, task.taskId];
  const { open, createdAt, answeredAt, requestId } = task;
  return open === 1 ? ['open', createdAt, requestId] : ['answered', answeredAt ?? '', requestId];
}
