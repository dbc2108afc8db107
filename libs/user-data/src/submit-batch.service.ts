import { Injectable, Logger } from '@nestjs/common';
import { databaseUnavailable } from '@app/database';
import { attempt, BATCH_MAX, done, inTurns, itemOf, type ItemResult, type Quota, refused } from '@app/http';
import { Acts, type Asked, type Claim } from '@app/idempotency';
import { ApiError, describeFault, internalError } from '@app/kernel';
import { subjectName } from '@app/subjects';
import { type Submission, SubmitAct } from './submit.act';
import { SubmitData, type SubmittedBatchView, type SubmittedView } from './user-data.dto';

/** Characters of the values that one unit checks and encrypts, so that other requests have their turn. */
const PART_LENGTH = 131_072;
/** What the name of a field counts, since a field without a value is checked too. */
const FIELD_LENGTH = 8;

/** An item that is an act of its own, at its place in the batch. */
interface Placed extends Asked<Submission> {
  readonly at: number;
}

/** The results by place; undefined for items that are not decided. */
type Results = (ItemResult<SubmittedView> | undefined)[];

/** Carries out many submits of one bot, each by itself. */
@Injectable()
export class SubmitBatches {
  private readonly logger = new Logger(SubmitBatches.name);

  constructor(
    private readonly acts: Acts,
    private readonly act: SubmitAct,
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
    const read = await inTurns(items, (item) => attempt(() => this.act.of(botId, itemOf(SubmitData, item))));
    const results: Results = read.map((one) => (one instanceof ApiError ? refused(one) : undefined));
    const given = read.flatMap((input, at) =>
      input instanceof ApiError ? [] : [{ at, input, claim: claims[at] ?? claim }],
    );
    const replayed = claim.isGiven ? await this.replayed(claims, results) : 0;
    if (replayed === items.length) claim.replay();
    else await quota.take('items', items.length - replayed);
    for (const part of partsOf(given.filter(({ at }) => results[at] === undefined))) {
      const outcomes = await this.acts.runAll(this.act, part);
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
  private async replayed(claims: readonly Claim[], results: Results): Promise<number> {
    let count = 0;
    for (const [at, view] of (await this.acts.repeats<SubmittedView>(claims)).entries()) {
      if (view === undefined) continue;
      results[at] = done(view);
      count++;
    }
    return count;
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

/**
 * What is done one after the other: each part has a subject once and is soon done. The first item of each subject comes
 * before the second of any.
 */
function partsOf(given: readonly Placed[]): Placed[][] {
  const rounds: Placed[][] = [];
  const counts = new Map<string, number>();
  for (const item of given) {
    const name = subjectName(item.input.subject);
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
    const { json = '', data } = item.input;
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
