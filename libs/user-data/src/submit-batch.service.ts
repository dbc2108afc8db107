import { Injectable, Logger } from '@nestjs/common';
import { databaseUnavailable } from '@app/database';
import { type Acting, attempt, BATCH_MAX, batchTurns, done, dtoOf, type Quota, refused } from '@app/http';
import { Acts, type Asked, type Claim, type Kept } from '@app/acts';
import { ApiError, conflict, describeFault, internalError, invalidRequest } from '@app/kernel';
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

/** An item that is refused, at its place in the batch; the error itself in place of a malformed one. */
interface Refused {
  readonly at: number;
  readonly input: Submission | ApiError;
  readonly claim: Claim;
  readonly refusal: ApiError;
}

/** What an item is answered. */
type Decided = SubmittedView | ApiError;

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
   * order, also in a repeat, which does only what ended with a 500 or 503, or without an answer. Resolves when all are durable.
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
    const decided = read.map((one, at): Decided | undefined => {
      const kept = repeats[at];
      if (one instanceof ApiError) return one;
      return later.has(at) ? superseded() : kept && this.again(one, kept);
    });
    const given = read.flatMap((input, at) =>
      input instanceof ApiError || decided[at] !== undefined
        ? []
        : [{ at, input, claim: claims[at] ?? claim }],
    );
    if (replayed === items.length) claim.replay();
    else await quota.take('items', items.length - replayed);
    for (const part of partsOf(given)) {
      const outcomes = (await this.acts.runAll(this.act, part)).map((outcome) =>
        outcome.status === 'fulfilled' ? outcome.value : this.refusalBy(outcome.reason),
      );
      for (const [place, { at }] of part.entries()) decided[at] = outcomes[place];
      // Each further part would wait as long for the same refusal.
      if (outcomes.every((one) => one instanceof ApiError && one.code === 'service_unavailable')) break;
    }
    if (claim.isGiven)
      await this.keepRefusals(
        decided.flatMap((one, at) => {
          const [input, own] = [read[at], claims[at]];
          const isOpen = one instanceof ApiError && one.status < 500 && repeats[at] === undefined;
          return isOpen && input && own ? [{ at, input, claim: own, refusal: one }] : [];
        }),
        decided,
      );
    return {
      results: decided.map((one = databaseUnavailable()) =>
        one instanceof ApiError ? refused(one) : done(one),
      ),
    };
  }

  /** Stores refusals for a repeat. An item whose refusal cannot be stored is not answered with it, and a repeat does the item. */
  private async keepRefusals(refusals: readonly Refused[], decided: (Decided | undefined)[]): Promise<void> {
    if (refusals.length === 0) return;
    try {
      const earlier = await this.acts.keep<KeptSubmit>(refusals.map(keptOf));
      for (const [place, { at, input }] of refusals.entries()) {
        const kept = earlier[place];
        if (kept !== undefined && !(input instanceof ApiError)) decided[at] = this.again(input, kept);
      }
    } catch (error) {
      const refusal = this.refusalBy(error);
      for (const { at } of refusals) decided[at] = refusal;
    }
  }

  private again(input: Submission, kept: KeptSubmit): Decided {
    return attempt(() => this.act.viewOf(input, kept));
  }

  private refusalBy(error: unknown): ApiError {
    if (error instanceof ApiError) return error;
    this.logger.error('An item of a batch failed', describeFault(error));
    return internalError();
  }
}

/** What is stored of a refusal. That of a malformed item can name what the item has, and follows from the body. */
function keptOf({ claim, input, refusal }: Refused): Kept {
  const isMalformed = input instanceof ApiError;
  const { code, message, details } = isMalformed ? invalidRequest([]) : refusal;
  const view = { refusal: { code, message, details } };
  return { claim, subject: isMalformed ? undefined : input.subject, view };
}

/** The places of items that were not done, though a later one was that they would undo. */
function supersededAmong(
  read: readonly (Submission | ApiError)[],
  repeats: readonly (KeptSubmit | undefined)[],
): ReadonlySet<number> {
  const places = new Set<number>();
  const stored = new Map<string, Submission[]>();
  for (const [at, one] of [...read.entries()].reverse()) {
    const kept = repeats[at];
    if (one instanceof ApiError || (kept !== undefined && 'refusal' in kept)) continue;
    const name = `${subjectName(one.subject)} ${one.category}`;
    const later = stored.get(name) ?? [];
    if (kept !== undefined) stored.set(name, [one, ...later]);
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
