import { Injectable, Logger } from '@nestjs/common';
import { databaseUnavailable, UnitOfWork } from '@app/database';
import { attempt, BATCH_MAX, done, inTurns, itemOf, type ItemResult, type Quota, refused } from '@app/http';
import { type Claim, claimedBefore, type Form } from '@app/idempotency';
import { ApiError, describeFault, internalError } from '@app/kernel';
import { subjectName } from '@app/subjects';
import { type Submission, SubmitAct } from './submit.act';
import { SubmitData, type SubmittedBatchView, type SubmittedView } from './user-data.dto';
import { UserDataService } from './user-data.service';

/** Characters of the values that one unit checks and encrypts, so that other requests have their turn. */
const PART_LENGTH = 131_072;
/** What the name of a field counts, since a field without a value is checked too. */
const FIELD_LENGTH = 8;

/** An item that is an act of its own, at its place in the batch. */
interface Placed {
  readonly at: number;
  readonly submission: Submission;
}

/** The results by place; undefined for items that are not decided. */
type Results = (ItemResult<SubmittedView> | undefined)[];

/** Carries out many submits of one bot, each by itself. */
@Injectable()
export class SubmitBatches {
  private readonly logger = new Logger(SubmitBatches.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly act: SubmitAct,
    private readonly userData: UserDataService,
  ) {}

  /**
   * Each item as a submit of its own, with its own consent, error and claim. Items about one subject take effect in their
   * order. Resolves when all are durable.
   * @throws ApiError 409 `idempotency_key_reused` or `idempotency_answer_erased`, 400 and 429 as {@link Quota.take}: then nothing is done
   */
  async submit(
    botId: string,
    items: readonly unknown[],
    claim: Claim,
    quota: Quota,
  ): Promise<SubmittedBatchView> {
    const claims = claim.parts(BATCH_MAX);
    const read = await inTurns(items, (item, at) =>
      attempt(() => this.userData.submission(botId, itemOf(SubmitData, item), claims[at] ?? claim)),
    );
    const results: Results = read.map((one) => (one instanceof ApiError ? refused(one) : undefined));
    const given = read.flatMap((submission, at) =>
      submission instanceof ApiError ? [] : [{ at, submission }],
    );
    const replayed = claim.isGiven ? await this.replayed(claims, read, results) : 0;
    if (replayed === items.length) claim.replay();
    else await quota.take('items', items.length - replayed);
    for (const part of partsOf(given.filter(({ at }) => results[at] === undefined))) {
      const outcomes = await this.unitOfWork.shareAll(
        this.act,
        part.map(({ submission }) => submission),
      );
      for (const [place, { at }] of part.entries()) results[at] = this.resultOf(outcomes[place]);
      // Each further part would wait as long for the same refusal.
      if (outcomes.every(isUnavailable)) break;
    }
    return { results: results.map((result) => result ?? refused(databaseUnavailable())) };
  }

  /**
   * Fills in the results of the items that an earlier request with the key has done, and answers their number.
   * @throws ApiError 409 `idempotency_key_reused` when that request had another body, `idempotency_answer_erased` when one
   * of its users was erased since
   */
  private replayed(
    claims: readonly Claim[],
    read: readonly (Submission | ApiError)[],
    results: Results,
  ): Promise<number> {
    return this.unitOfWork.read(async (tx) => {
      const claimed = await claimedBefore(tx, claims);
      let count = 0;
      for (const [at, one] of claims.entries()) {
        if (claimed[at] !== true) continue;
        const submission = read[at];
        const form =
          submission === undefined || submission instanceof ApiError ? NOTHING : this.act.formOf(submission);
        const outcome = await one.recorded(tx, form);
        if (outcome === undefined || at >= read.length) continue;
        results[at] = done(outcome);
        count++;
      }
      return count;
    });
  }

  private resultOf(outcome: PromiseSettledResult<SubmittedView> | undefined): ItemResult<SubmittedView> {
    if (outcome?.status === 'fulfilled') return done(outcome.value);
    const error: unknown = outcome?.reason;
    if (error instanceof ApiError) return refused(error);
    this.logger.error('An item of a batch failed', describeFault(error));
    return refused(internalError());
  }
}

function isUnavailable(outcome: PromiseSettledResult<unknown>): boolean {
  const error: unknown = outcome.status === 'rejected' ? outcome.reason : undefined;
  return error instanceof ApiError && error.code === 'service_unavailable';
}

/** Of an item whose body is not the one of the earlier request, which is refused, or no longer accepted. */
const NOTHING: Form<SubmittedView> = { write: () => '', read: () => undefined };

/**
 * What is done one after the other: each part has a subject once and is soon done. The first item of each subject comes
 * before the second of any.
 */
function partsOf(given: readonly Placed[]): Placed[][] {
  const rounds: Placed[][] = [];
  const counts = new Map<string, number>();
  for (const item of given) {
    const name = subjectName(item.submission.subject);
    const round = counts.get(name) ?? 0;
    counts.set(name, round + 1);
    (rounds[round] ??= []).push(item);
  }
  return rounds.flatMap(inPortions);
}

function inPortions(items: readonly Placed[]): Placed[][] {
  const portions: Placed[][] = [];
  let length = Infinity;
  for (const item of items) {
    const { json = '', data } = item.submission;
    const own = json.length + FIELD_LENGTH * Object.keys(data).length;
    length += own;
    if (length > PART_LENGTH) {
      portions.push([]);
      length = own;
    }
    portions.at(-1)?.push(item);
  }
  return portions;
}
