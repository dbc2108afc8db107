import { Injectable } from '@nestjs/common';
import { Signer } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import { Clock, conflict, momentMs } from '@app/kernel';
import { ErasureRequests } from '../erasure/erasure-requests.service';
import type { CertificateView } from '../erasure/erasure.dto';
import { AnswerSeals } from './answer-seals';
import { statedKept } from './holder-statement';
import type { DeclaredHolder, HolderTask } from './holder-task.entity';
import { tasksOf } from './holder-tasks.sql';
import type { KeptGiven } from './holder-tasks.dto';

const TYPE = 'lethe-final-certificate+jwt';
const VERSION = 1;

/** A task with an answer that leaves nothing to do. */
interface AnsweredTask extends HolderTask {
  readonly result: 'erased' | 'nothing' | 'kept';
  readonly declared: DeclaredHolder;
  readonly answeredAt: string;
}

/**
 * Signs what became of an erasure in Lethe and in every holder of the bot, without an id of the user (GDPR Art. 5(2), 17 and 19).
 * Its signature proves that Lethe received the answers; each statement inside is the own one of its holder.
 */
@Injectable()
export class FinalCertificates {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly requests: ErasureRequests,
    private readonly signer: Signer,
    private readonly seals: AnswerSeals,
    private readonly clock: Clock,
  ) {}

  /**
   * Signs the answers as they are now: `erased` can follow `kept`, so none is stored.
   * @throws ApiError 404, 409 and 503 as {@link ErasureRequests.certificate}; 409 `no_holders` for an erasure without tasks;
   * 409 `coverage_incomplete` while a task is open or abandoned; 409 `no_certificate` for a stored answer that
   * was not received as it is recorded
   */
  async certificate(botId: string, givenId: string): Promise<CertificateView> {
    const id = givenId.toLowerCase();
    await this.requests.completed(botId, id);
    const tasks = await this.unitOfWork.read((tx) => tasksOf(tx, botId, id));
    if (tasks.length === 0)
      throw conflict('no_holders', 'The bot had no holder when the erasure was completed');
    const answered = tasks.filter(isAnswered);
    if (answered.length < tasks.length)
      throw conflict(
        'coverage_incomplete',
        'A holder of the bot has not answered, has failed or was deleted',
      );
    const keys = tasks.map(({ holderKey }) => holderKey);
    for (const task of answered)
      if (!this.seals.isWhole(task, keys))
        throw conflict(
          'no_certificate',
          `The stored answer of the holder ${task.holderKey} is not the one that was received, or a task beside it is missing`,
        );
    // It stores the first certificate, which a refused call does not.
    const { certificate } = await this.requests.certificate(botId, id);
    const holders = answered.map(answerOf).sort((one, other) => (one.key < other.key ? -1 : 1));
    const completedAt = answered
      .map(({ answeredAt }) => answeredAt)
      .sort()
      .at(-1);
    const payload = {
      ...{ version: VERSION, bot_id: botId, request_id: id, certificate, holders },
      ...{ completed_at: completedAt, issued_at: this.clock.nowIso() },
    };
    return { certificate: await this.signer.sign(payload, TYPE) };
  }
}

function isAnswered(task: HolderTask): task is AnsweredTask {
  const { open, result, declared, answeredAt } = task;
  const isDone = result === 'erased' || result === 'nothing' || result === 'kept';
  return open === 0 && isDone && declared !== null && answeredAt !== null;
}

function answerOf(task: AnsweredTask) {
  const { holderKey: key, result, counts, statement, answeredAt: answered_at } = task;
  const { labelDe: label_de, labelEn: label_en, covers, publicKey: public_key } = task.declared;
  const kept = keptOf(task);
  return { key, label_de, label_en, covers, result, counts, kept, answered_at, public_key, statement };
}

/** What is kept, with the time in the notation of the holder where that has signed it. */
function keptOf({ keptBasis: basis, keptUntil: until, statement }: HolderTask): KeptGiven | null {
  if (basis === null || until === null) return null;
  const stated = statement === null ? undefined : statedKept(statement)?.until;
  return { basis, until: momentMs(stated) === Date.parse(until) ? String(stated) : until };
}
