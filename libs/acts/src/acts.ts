import { Injectable } from '@nestjs/common';
import { type SharedWork, type Tx, UnitOfWork } from '@app/database';
import { ApiError, Clock, OwnError } from '@app/kernel';
import { type Subject, subjectName } from '@app/crypto';
import { type Answered, Answers, type Kept, viewOf } from './answers';
import { answerErased, type Claim } from './claim';

/** What an act has read about a subject; undefined for an unknown one, whose input the act refuses. */
export interface About {
  readonly subject: Subject | undefined;
}

/**
 * What bots, users or jobs ask for about subjects: one text for one caller and for many that share a transaction. It does not
 * know whether requests are repeats, nor on which engine it runs.
 */
export interface Act<Input, State extends About, Change, View extends object> {
  /**
   * Reads what the act decides by, and locks it until the unit ends, in the order bot, category, consent, deletion request, data.
   * One input: wait for locked rows. Several: skip locked rows as if they did not exist, or return undefined for their input. An
   * input of several that is undefined, or that {@link decide} refuses, is run again alone: that run waits, and its outcome counts.
   */
  load(tx: Tx, inputs: readonly Input[]): Promise<readonly (State | undefined)[]>;
  /** The rule: what the act makes of a state, at a time. Pure. @throws ApiError for an input that is refused */
  decide(state: State, input: Input, now: string): Change;
  /**
   * Writes changes, each of another subject: rows, history, audit events, domain events. Returns one answer for each, in their
   * order; of several, undefined for one that has to be done alone, for which nothing is written.
   */
  store(tx: Tx, changes: readonly Change[]): Promise<readonly (View | undefined)[]>;
  /** What is stored of an answer for a repeat of its request; without it, the answer. */
  kept?(view: View): object;
  /** Makes the answer to a repeat from what {@link kept} returned. Undefined means that the act is done again. */
  recall?(tx: Tx, kept: object, input: Input): Promise<View | undefined>;
  /** The stored answer stays readable when its subject is erased: it names no person. */
  readonly outlives?: true;
}

/** Reads an answer anew; undefined where what it says was deleted. */
type Again<View> = (tx: Tx) => Promise<View | undefined>;

/** A request for an act, with its claim. */
export interface Asked<Input> {
  readonly input: Input;
  readonly claim: Claim;
}

/**
 * Runs acts. Callers of one act that wait share a transaction on PostgreSQL, and each gets its own answer or refusal after the
 * commit. A request that repeats an earlier one by its `Idempotency-Key` gets the answer of that one, and nothing is done.
 */
@Injectable()
export class Acts {
  private readonly works = new WeakMap<object, SharedWork<never, unknown>>();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly answers: Answers,
    private readonly clock: Clock,
  ) {}

  /**
   * Resolves when the act is committed and durable.
   * @throws ApiError the refusal of the act; 409 `idempotency_key_reused` or `idempotency_answer_erased`; 503
   */
  run<Input, State extends About, Change, View extends object>(
    act: Act<Input, State, Change, View>,
    input: Input,
    claim: Claim,
  ): Promise<View> {
    return this.unitOfWork.share(this.workOf(act), { input, claim });
  }

  /** {@link run} for several requests of one caller: one outcome for each, in their order, once all are committed or refused. */
  runAll<Input, State extends About, Change, View extends object>(
    act: Act<Input, State, Change, View>,
    asked: readonly Asked<Input>[],
  ): Promise<PromiseSettledResult<View>[]> {
    return this.unitOfWork.shareAll(this.workOf(act), asked);
  }

  /**
   * An act that is no {@link Act}: `work` is done once for the claim, as a unit. `subject` is the one that the answer is about,
   * with whose key it is stored; `again` reads the answer for a repeat anew, so that a long one is not stored, or finds that what it
   * says was deleted.
   * @throws ApiError as {@link run}
   */
  once<View extends object>(
    claim: Claim,
    work: (tx: Tx) => Promise<View>,
    { subject, again }: { readonly subject?: Subject | undefined; readonly again?: Again<View> } = {},
  ): Promise<View> {
    return this.unitOfWork.write(async (tx) => {
      const [earlier] = await this.answers.findFirst(tx, [claim]);
      if (earlier !== undefined) {
        const stored = viewOf(earlier) as View;
        const view = again === undefined ? stored : await again(tx);
        if (view === undefined) throw answerErased();
        claim.replay();
        return view;
      }
      const view = await work(tx).catch((error: unknown) => this.answers.unlessDone(tx, claim, error));
      await this.answers.keep(tx, [{ claim, subject, view: again === undefined ? view : {} }]);
      return view;
    });
  }

  /**
   * What is stored of the answers to earlier requests with the claims; undefined for those that were not done.
   * @throws ApiError 409 `idempotency_key_reused` or `idempotency_answer_erased`
   */
  async repeats<Stored extends object>(claims: readonly Claim[]): Promise<(Stored | undefined)[]> {
    const answered = await this.unitOfWork.read((tx) => this.answers.find(tx, claims));
    return answered.map((earlier) => earlier && (viewOf(earlier) as Stored));
  }

  /**
   * Stores answers that no act has stored: those of refused requests, for their repeats. Returns what another process has stored for
   * the same claims meanwhile; undefined for the others.
   * @throws ApiError as {@link repeats}; 503
   */
  keep<Stored extends object>(given: readonly Kept[]): Promise<(Stored | undefined)[]> {
    const claims = given.map(({ claim }) => claim);
    return this.unitOfWork.write(async (tx) => {
      const earlier = await this.answers.findFirst(tx, claims);
      await this.answers.prefetch(tx, given);
      await this.answers.keep(
        tx,
        given.filter((_, at) => earlier[at] === undefined),
      );
      return earlier.map((each) => each && (viewOf(each) as Stored));
    });
  }

  /** One function for each act: its callers share transactions. */
  private workOf<Input, State extends About, Change, View extends object>(
    act: Act<Input, State, Change, View>,
  ): SharedWork<Asked<Input>, View> {
    const known = this.works.get(act) as SharedWork<Asked<Input>, View> | undefined;
    if (known !== undefined) return known;
    const work: SharedWork<Asked<Input>, View> = async (tx, asked) => {
      const [inputs, claims] = [asked.map(({ input }) => input), asked.map(({ claim }) => claim)];
      const [answered, states] = await Promise.all([
        this.answers.findFirst(tx, claims),
        act.load(tx, inputs),
      ]);
      const done = this.done(act, tx, asked, answered, states);
      const [claim] = claims;
      if (claim === undefined || claims.length > 1 || answered[0] !== undefined) return done;
      return done.catch((error: unknown) => this.answers.unlessDone(tx, claim, error));
    };
    this.works.set(act, work);
    return work;
  }

  private async done<Input, State extends About, Change, View extends object>(
    act: Act<Input, State, Change, View>,
    tx: Tx,
    asked: readonly Asked<Input>[],
    answered: readonly (Answered | undefined)[],
    states: readonly (State | undefined)[],
  ): Promise<(View | undefined)[]> {
    const views = new Array<View | undefined>(asked.length).fill(undefined);
    const taken: { readonly at: number; readonly about: About; readonly change: Change }[] = [];
    const [names, now] = [new Set<string>(), this.clock.nowIso()];
    for (const [at, { input, claim }] of asked.entries()) {
      const [earlier, state] = [answered[at], states[at]];
      try {
        if (earlier !== undefined) views[at] = await this.again(act, tx, input, claim, earlier);
        if (views[at] === undefined && state !== undefined && isFirst(names, state, claim))
          taken.push({ at, about: state, change: act.decide(state, input, now) });
      } catch (error) {
        // What is refused among several is done again alone, and refused then.
        if (asked.length === 1 || !(error instanceof ApiError)) throw error;
      }
    }
    if (taken.length === 0) return views;
    const stored = await act.store(
      tx,
      taken.map(({ change }) => change),
    );
    const kept: Kept[] = [];
    for (const [place, { at, about }] of taken.entries()) {
      const [view, claim] = [(views[at] = stored[place]), asked[at]?.claim];
      if (view === undefined || claim === undefined) continue;
      if (about.subject === undefined) throw new OwnError('An act about an unknown subject was not refused');
      kept.push({ claim, subject: act.outlives ? undefined : about.subject, view: act.kept?.(view) ?? view });
    }
    if (kept.some(({ claim }) => claim.isGiven)) await this.answers.keep(tx, kept);
    return views;
  }

  /** The answer to a repeat; undefined where the act has to be done again. @throws ApiError 409 */
  private async again<Input, View extends object>(
    act: Pick<Act<Input, About, unknown, View>, 'recall'>,
    tx: Tx,
    input: Input,
    claim: Claim,
    earlier: Answered,
  ): Promise<View | undefined> {
    const kept = viewOf(earlier);
    const view = act.recall === undefined ? kept : await act.recall(tx, kept, input);
    if (view === undefined) await this.answers.forget(tx, claim);
    else claim.replay();
    return view as View | undefined;
  }
}

/** Whether neither the subject nor the claim is one of an earlier caller, which `names` holds. */
function isFirst(names: Set<string>, { subject }: About, { row }: Claim): boolean {
  const own = subject === undefined ? [] : [subjectName(subject)];
  if (row !== undefined) own.push(row.id);
  if (own.some((name) => names.has(name))) return false;
  for (const name of own) names.add(name);
  return true;
}
