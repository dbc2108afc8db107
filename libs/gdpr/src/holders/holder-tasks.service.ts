import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Cursors } from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import { ListPage } from '@app/http';
import { Acts, type Claim } from '@app/acts';
import { Clock, conflict, invalidRequest, momentMs, notFound } from '@app/kernel';
import type { DeletionRequest } from '../erasure/deletion-request.entity';
import { findRequest, findRequests } from '../erasure/deletion-requests.sql';
import { ErasureRecords } from '../erasure/erasure-records';
import { AnswerSeals } from './answer-seals';
import type { BotHolder } from './bot-holder.entity';
import { findHolder, lockHolder } from './bot-holders.sql';
import { requireStatement } from './holder-statement';
import type { HolderTask } from './holder-task.entity';
import {
  answeredTasks,
  declaredBy,
  dueAt,
  lockTask,
  openTasks,
  storeAnswer,
  tasksOf,
  type TaskPlace,
} from './holder-tasks.sql';
import type { AcknowledgeTask, TaskPath, TasksQuery, TaskView } from './holders.dto';

/** The part of the list, and the last task that was read of it. */
type Place = readonly [part: 'open' | 'answered', ...TaskPlace];

/** The tasks of the holders of bots, and their answers. A task repeats the ids of its user as its erasure has them. */
@Injectable()
export class HolderTasksService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly acts: Acts,
    private readonly records: ErasureRecords,
    private readonly seals: AnswerSeals,
    private readonly clock: Clock,
    private readonly cursors: Cursors,
  ) {}

  /**
   * One page: the open tasks, oldest first. With `since` those that were answered at or after it follow in the order of their
   * answers. A task that is answered during a walk is then in one of the two parts at least.
   * @throws ApiError 404 for an unknown holder
   */
  list(botId: string, key: string, query: TasksQuery): Promise<ListPage> {
    const page = this.cursors.page<Place>(botId, `tasks/${key}`, query);
    const since = query.since == null ? undefined : isoOf(query.since);
    return this.unitOfWork.read(async (tx) => {
      const [part, ...behind] = page.after ?? (['open', '', ''] as const);
      if ((await findHolder(tx, botId, key)) === undefined) throw notFound('Holder');
      const open = part === 'open' ? await openTasks(tx, botId, key, behind, page.limit) : [];
      const left = page.limit - open.length;
      const from: TaskPlace = part === 'answered' ? behind : [since ?? '', ''];
      const answered = since !== undefined && left > 0 ? await answeredTasks(tx, botId, key, from, left) : [];
      const found = [...open, ...answered];
      const tasks = found.slice(0, page.size);
      const last = found.length > page.size ? tasks.at(-1) : undefined;
      const requests = await findRequests(
        tx,
        botId,
        tasks.map(({ requestId }) => requestId),
      );
      const views = tasks.flatMap((task) => {
        const request = requests.get(task.requestId);
        return request === undefined ? [] : [this.viewOf(task, request)];
      });
      return new ListPage('tasks', views, page.walked(last && placeOf(last)));
    });
  }

  /**
   * Records the answer of a holder. A final answer stays, and the same one again changes nothing; what is kept can be erased, or be
   * kept for longer.
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
    const acknowledge = async (tx: Tx): Promise<TaskView> => {
      const holder = await lockHolder(tx, botId, key, 'FOR SHARE');
      if (holder === undefined) throw notFound('Holder');
      const { task, request } = await this.require(tx, botId, key, task_id);
      const next = this.answered(holder, task, input);
      if (next === undefined) return this.viewOf(task, request);
      const tasks = await tasksOf(tx, botId, next.requestId);
      const holders = tasks.map(({ holderKey }) => holderKey);
      await storeAnswer(tx, { ...next, seal: this.seals.seal(next, holders) });
      return this.viewOf(next, request);
    };
    // The answer has the ids of the user, so that it is not stored for a repeat.
    const again = async (tx: Tx): Promise<TaskView> => {
      const { task, request } = await this.require(tx, botId, key, task_id);
      return this.viewOf(task, request);
    };
    return this.acts.once(claim, acknowledge, { again });
  }

  /** The task with an answer; undefined where it has the same one. @throws ApiError 400; 409 `task_answered` */
  private answered(holder: BotHolder, task: HolderTask, input: AcknowledgeTask): HolderTask | undefined {
    const { result, counts = null, statement = null } = input;
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
      keptUntil: kept && isoOf(kept.until),
    };
    const { open, result: before, keptBasis, keptUntil } = task;
    if (open === 0) {
      const known = { result: before, counts: task.counts, keptBasis, keptUntil };
      if (isDeepStrictEqual(known, answer)) return undefined;
      if (!canFollow(task, answer))
        throw conflict('task_answered', 'The task has another final answer', { result: before });
    }
    return {
      ...task,
      ...answer,
      open: result === 'failed' ? 1 : 0,
      statement,
      declared: declaredBy(holder),
      answeredAt: this.clock.nowIso(),
    };
  }

  private async require(
    tx: Tx,
    botId: string,
    key: string,
    taskId: string,
  ): Promise<{ readonly task: HolderTask; readonly request: DeletionRequest }> {
    const id = taskId.toLowerCase();
    const task = await lockTask(tx, botId, key, id);
    const request = task && (await findRequest(tx, { botId, id }));
    if (task === undefined || request === undefined) throw notFound('Task');
    return { task, request };
  }

  private viewOf(task: HolderTask, request: DeletionRequest): TaskView {
    const { user_id, guild_id } = this.records.idsOf(request);
    return {
      task_id: task.requestId,
      act: 'erase',
      request_id: task.requestId,
      user_id,
      guild_id,
      created_at: task.createdAt,
      due_at: dueAt(task),
      result: task.result,
      answered_at: task.answeredAt,
    };
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

function placeOf({ open, createdAt, answeredAt, requestId }: HolderTask): Place {
  return open === 1 ? ['open', createdAt, requestId] : ['answered', answeredAt ?? '', requestId];
}

/** A valid moment as it is stored. */
function isoOf(moment: string): string {
  return new Date(momentMs(moment) ?? NaN).toISOString();
}
