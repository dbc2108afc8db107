import { Injectable, Logger } from '@nestjs/common';
import { databaseUnavailable } from '@app/database';
import {
  type Acting,
  attempt,
  BATCH_MAX,
  batchTurns,
  done,
  dtoOf,
  type ItemResult,
  type Quota,
  refused,
} from '@app/http';
import { Acts, type Asked, type Claim } from '@app/acts';
import { ApiError, conflict, describeFault, internalError } from '@app/kernel';
import { subjectName } from '@app/crypto';
import { type KeptSubmit, type Submission, SubmitAct } from './submit.act';
import { SubmitData, type SubmittedBatchView, type SubmittedView } from './user-data.dto';

/** Characters of the values that one unit checks and encrypts, so that other requests have their turn. */
const PART_LENGTH = 131_072;
/** What the name of a field counts, since a field without a value is checked too. */
const FIELD_LENGTH = 8;

/** An item that is an act of its own, at its place in the batch. */
interface Placed extends Asked<Submission> {
  readonly at: number;
}

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
   * order, also in a repeat. Resolves when all are durable.
   * @throws ApiError 409 `idempotency_key_reused` or `idempotency_answer_erased`, 400 and 429 as {@link Quota.take}: then nothing is done
   */
  async submit(
    bot: Acting,
    items: readonly unknown[],
    claim: Claim,
    quota: Quota,
  ): Promise<SubmittedBatchView> {
    const claims = claim.parts(BATCH_MAX);
    const read = await batchTurns.map(items, (item) =>
      attempt(() => this.act.of(bot, dtoOf(SubmitData, item))),
    );
    const repeats = claim.isGiven ? await this.acts.repeats<KeptSubmit>(claims) : [];
    const replayed = repeats.filter((kept) => kept !== undefined).length;
    const later = supersededAmong(read, repeats);
    const results = read.map((one, at): ItemResult<SubmittedView> | undefined => {
      if (one instanceof ApiError) return refused(one);
      const kept = repeats[at];
      return later.has(at) ? refused(superseded()) : kept && done(this.act.viewOf(one, kept));
    });
    const given = read.flatMap((input, at) =>
      input instanceof ApiError || results[at] !== undefined
        ? []
        : [{ at, input, claim: claims[at] ?? claim }],
    );
    if (replayed === items.length) claim.replay();
    else await quota.take('items', items.length - replayed);
    for (const part of partsOf(given)) {
      const outcomes = await this.acts.runAll(this.act, part);
      const decided = outcomes.map((outcome) => this.resultOf(outcome));
      for (const [place, { at }] of part.entries()) results[at] = decided[place];
      // Each further part would wait as long for the same refusal.
      if (decided.every((one) => !one.ok && one.error.code === 'service_unavailable')) break;
    }
    return { results: results.map((result) => result ?? refused(databaseUnavailable())) };
  }

  private resultOf(outcome: PromiseSettledResult<SubmittedView>): ItemResult<SubmittedView> {
    if (outcome.status === 'fulfilled') return done(outcome.value);
    const error: unknown = outcome.reason;
    if (error instanceof ApiError) return refused(error);
    this.logger.error('An item of a batch failed', describeFault(error));
    return refused(internalError());
  }
}

/** The places of items that were not done, though a later one was that they would undo. */
function supersededAmong(
  read: readonly (Submission | ApiError)[],
  repeats: readonly (KeptSubmit | undefined)[],
): ReadonlySet<number> {
  const places = new Set<number>();
  const stored = new Map<string, Submission[]>();
  for (const [at, one] of [...read.entries()].reverse()) {
    if (one instanceof ApiError) continue;
    const name = `${subjectName(one.subject)} ${one.category}`;
    const later = stored.get(name) ?? [];
    if (repeats[at] !== undefined) stored.set(name, [one, ...later]);
    else if (later.some((other) => undoes(one, other))) places.add(at);
  }
  return places;
}

/** Whether a submission that is done after another one of its subject and category changes what that has stored. */
function undoes(one: Submission, other: Submission): boolean {
  const isBeside = one.merges && other.merges;
  return !isBeside || Object.keys(one.data).some((field) => Object.hasOwn(other.data, field));
}

function superseded(): ApiError {
  return conflict(
    'superseded',
    'A later item about this user, guild and category is stored: send this one by itself if it is to replace that',
  );
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
