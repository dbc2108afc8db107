import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ifReadable, type SubjectIds, type SubjectKey, SubjectKeys } from '@app/crypto';
import type { Tx } from '@app/database';
import { addNumberFaults } from '@app/http';
import { ApiError, Clock, conflict, type FieldFault, invalidRequest, notFound } from '@app/kernel';
import type { BotHolder } from './bot-holder.entity';
import { EXPORT_ANSWERS, HolderExport } from './holder-export.entity';
import { contextOfExport, lockExport, type OpenExport, openExports } from './holder-exports.sql';
import { requireStatement } from './holder-statement';
import { dueAt, type TaskPlace } from './holder-tasks.sql';
import type { AcknowledgeTask, TaskView } from './holder-tasks.dto';

/** Bytes of a statement as JSON: with the rest of its body, a signature too, it fits into `BODY_LIMIT_BYTES` as it is by default. */
const STATED_MAX_BYTES = 229_376;

type TaskAct = 'erase' | 'export';

type ViewedTask = Pick<HolderExport, 'taskId' | 'createdAt'> & {
  readonly result: string | null;
  readonly at: string | null;
};

/** The tasks of holders to export, which full exports make. The ids of a task and its answer end with an erasure of the user. */
@Injectable()
export class ExportTasks {
  constructor(
    private readonly keys: SubjectKeys,
    private readonly clock: Clock,
  ) {}

  /** Open tasks behind a place, each with its view; undefined for one whose ids cannot be decrypted. */
  async open(
    tx: Tx,
    botId: string,
    holderKey: string,
    behind: TaskPlace,
    limit: number,
  ): Promise<{ readonly task: OpenExport; readonly view: TaskView | undefined }[]> {
    const found = await openExports(tx, botId, holderKey, behind, limit);
    return found.map((task) => {
      const ids = idsOf(task, this.keys.openJoined(task, task));
      const { taskId, createdAt, failedAt: at } = task;
      return { task, view: ids && viewOf('export', { taskId, createdAt, result: at && 'failed', at }, ids) };
    });
  }

  /** The task as it is. @throws ApiError 404, also after an erasure of its user */
  async view(tx: Tx, botId: string, holderKey: string, taskId: string): Promise<TaskView> {
    const { row, ids } = await this.require(tx, botId, holderKey, taskId);
    return viewOf('export', viewedOf(row), ids);
  }

  /**
   * Stores what a holder states. The same answer again changes nothing.
   * @throws ApiError 404, also after an erasure of its user; 400 that names what is wrong; 409 `task_answered`
   */
  async answer(tx: Tx, holder: BotHolder, taskId: string, input: AcknowledgeTask): Promise<TaskView> {
    const { row, ids, key } = await this.require(tx, holder.botId, holder.key, taskId);
    const result = requireAnswer(EXPORT_ANSWERS, 'export', input);
    if (input.counts != null) throw wrongAnswer('counts', 'must be left out', 'export');
    const json = input.data == null ? null : JSON.stringify(input.data);
    requireStatement(input.statement ?? null, holder.publicKey, {
      bot_id: row.botId,
      holder: holder.key,
      task_id: row.taskId,
      result,
      counts: null,
      kept: null,
      ...(json !== null && { data_digest: createHash('sha256').update(json).digest('base64url') }),
    });
    const context = contextOfExport(row, row.holderKey, 'answer');
    if (row.open === 0) {
      const isSame = row.result === result && (row.answer && key.decrypt(row.answer, context)) === json;
      if (isSame) return viewOf('export', viewedOf(row), ids);
      throw answeredOtherwise(row.result);
    }
    const now = this.clock.nowIso();
    const answered: Partial<HolderExport> =
      result === 'failed'
        ? { failedAt: now }
        : { open: 0, result, answer: json && key.encrypt(json, context), answeredAt: now };
    const { botId, guildId, userId, holderKey } = row;
    await tx.manager.update(HolderExport, { botId, guildId, userId, holderKey }, answered);
    return viewOf('export', viewedOf({ ...row, ...answered }), ids);
  }

  /** An erasure of the subject removes the row, so that it waits for the unit, or was before it. */
  private async require(
    tx: Tx,
    botId: string,
    holderKey: string,
    taskId: string,
  ): Promise<{ readonly row: HolderExport; readonly ids: SubjectIds; readonly key: SubjectKey }> {
    const row = await lockExport(tx, botId, holderKey, taskId);
    const key = row && (await this.keys.inForce(tx, row));
    const ids = row && idsOf(row, key);
    if (row === undefined || key === undefined || ids === undefined) throw notFound('Task');
    return { row, ids, key };
  }
}

/** @throws ApiError 400 for what no answer has; 413 for too much data */
export function requireData({ result, data }: AcknowledgeTask): void {
  const faults: FieldFault[] = [];
  if ((result === 'exported') !== (data != null))
    faults.push({
      field: 'data',
      message: 'is required with the result exported, and to be left out with every other one',
    });
  addNumberFaults(data, 'data', faults);
  if (faults.length > 0) throw invalidRequest(faults);
  if (data == null || Buffer.byteLength(JSON.stringify(data)) <= STATED_MAX_BYTES) return;
  throw new ApiError(
    'payload_too_large',
    `data may be at most ${STATED_MAX_BYTES} bytes long as JSON: state less of the largest store, and where the user gets the rest`,
    { limit_bytes: STATED_MAX_BYTES },
  );
}

/** @throws ApiError 400 for the answer of a task with another act */
export function requireAnswer<Answer extends string>(
  answers: readonly Answer[],
  act: TaskAct,
  { result }: AcknowledgeTask,
): Answer {
  const found = answers.find((answer) => answer === result);
  if (found === undefined) throw wrongAnswer('result', `must be one of ${answers.join(', ')}`, act);
  return found;
}

export function answeredOtherwise(result: string | null): ApiError {
  return conflict('task_answered', 'The task has another final answer', { result });
}

function wrongAnswer(field: string, message: string, act: TaskAct): ApiError {
  return invalidRequest([{ field, message: `${message}: the act of the task is ${act}` }]);
}

/** Undefined for ids that this key cannot decrypt. */
function idsOf(
  task: Pick<HolderExport, 'botId' | 'guildId' | 'userId' | 'holderKey' | 'ids'>,
  key: SubjectKey | undefined,
): SubjectIds | undefined {
  const json = ifReadable(() => key?.decrypt(task.ids, contextOfExport(task, task.holderKey, 'ids')));
  return json === undefined ? undefined : (JSON.parse(json) as SubjectIds);
}

function viewedOf({ taskId, createdAt, open, result, failedAt, answeredAt }: HolderExport): ViewedTask {
  return open === 0
    ? { taskId, createdAt, result, at: answeredAt }
    : { taskId, createdAt, result: failedAt && 'failed', at: failedAt };
}

export function viewOf(
  act: TaskAct,
  { taskId, createdAt, result, at }: ViewedTask,
  { user_id, guild_id }: SubjectIds,
): TaskView {
  return {
    task_id: taskId,
    act,
    request_id: taskId,
    user_id,
    guild_id,
    created_at: createdAt,
    due_at: dueAt({ createdAt }),
    result,
    answered_at: at,
  };
}
