import { Injectable } from '@nestjs/common';
import {
  HoldsSubjectData,
  ifReadable,
  type Subject,
  type SubjectDataHolder,
  type SubjectExport,
  SubjectKeys,
} from '@app/crypto';
import { type Batches, type BotSweep, PeriodicJob, type Tx } from '@app/database';
import { JsonText } from '@app/http';
import { Clock } from '@app/kernel';
import {
  answerOf,
  type AskedHolder,
  askedHolders,
  contextOfExport,
  removeExports,
  removeSomeAnswers,
} from './holder-exports.sql';
import { dueAt } from './holder-tasks.sql';

/** Days for which an answer is kept. */
const ANSWER_DAYS = 30;

/** What the bot's own holders were asked about a subject, and what they have stated; an erasure removes all of it. */
@Injectable()
@HoldsSubjectData()
export class HolderExportsHolder implements SubjectDataHolder {
  readonly tables = ['holder_exports'];

  constructor(
    private readonly keys: SubjectKeys,
    private readonly clock: Clock,
  ) {}

  /** A bot without holders has no such section. */
  async export(tx: Tx, subject: Subject, full: boolean): Promise<SubjectExport> {
    const holders = full ? await askedHolders(tx, subject) : [];
    return holders.length === 0 ? {} : { full: { holders: this.statedOf(tx, subject, holders) } };
  }

  async erase(tx: Tx, subjects: readonly Subject[]): Promise<readonly []> {
    await removeExports(tx, subjects);
    return [];
  }

  /** One answer is in memory at a time. */
  private async *statedOf(tx: Tx, subject: Subject, holders: readonly AskedHolder[]): AsyncGenerator<object> {
    for (const holder of holders) {
      const stated = holder.result === 'exported' ? await this.answer(tx, subject, holder) : undefined;
      const { key, labelDe, labelEn, covers, createdAt, answeredAt } = holder;
      const item = {
        key,
        label_de: labelDe,
        label_en: labelEn,
        covers,
        state: this.stateOf(holder),
        asked_at: createdAt,
        answered_at: answeredAt,
        ...(stated === null && { unreadable: true }),
      };
      yield new JsonText(`${JSON.stringify(item).slice(0, -1)},"data":${stated ?? 'null'}}`);
    }
  }

  /** The JSON text; null if it cannot be decrypted. */
  private async answer(tx: Tx, subject: Subject, { key: holderKey }: AskedHolder): Promise<string | null> {
    const found = await answerOf(tx, subject, holderKey);
    const key = await this.keys.find(subject, tx);
    const answer = found?.answer;
    if (answer == null || key === undefined) return null;
    return ifReadable(() => key.decrypt(answer, contextOfExport(subject, holderKey, 'answer'))) ?? null;
  }

  private stateOf({ createdAt, open, result }: AskedHolder): string {
    if (createdAt === null) return 'not_asked';
    if (open === 0) return result === 'exported' ? 'stated' : 'nothing';
    return this.clock.nowIso() < dueAt({ createdAt }) ? 'asked' : 'overdue';
  }
}

/** Removes the answers of holders after 30 days, at most an hour later. */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class HolderAnswersRetention implements BotSweep {
  readonly name = 'holder-answers-retention';
  readonly everyMs = 3_600_000;
  readonly bots = 'holder_exports';

  constructor(private readonly clock: Clock) {}

  async *batches(botId: string): Batches {
    const before = this.clock.daysAgoIso(ANSWER_DAYS);
    while ((yield (tx) => removeSomeAnswers(tx, botId, before)) > 0);
  }
}
