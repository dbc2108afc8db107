import { hash } from 'node:crypto';
import { ConcurrentChange, type Tx } from '@app/database';
import type { RequestContext } from '@app/http';
import { ApiError, type Clock, conflict, OwnError } from '@app/kernel';
import { type Digest, DIGEST_LENGTH } from '@app/primitives';
import type { ClaimName, Form } from './form';

/** How long an answer is replayed, in days. */
export const REPLAYED_DAYS = 1;

/** The work of a unit. */
type Work<Outcome> = (tx: Tx) => Promise<Outcome>;

/** A step of an act; it gets the outcome of the step before it. */
type Step<Outcome> = (before: Outcome | undefined) => Promise<Outcome>;

/** A stored claim. */
export interface StoredClaim {
  readonly request: Digest;
  readonly answer: string;
  readonly created_at: string;
}

const FIND = 'SELECT request, answer, created_at FROM idempotency_keys WHERE bot_id = ? AND id = ?';
/** The columns of the values that {@link KeyClaim.valuesOf} answers. */
export const COLUMNS = 'bot_id, id, request, answer, created_at';
const INSERT = `INSERT INTO idempotency_keys (${COLUMNS}) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (bot_id, id) DO`;
const CREATE = `${INSERT} NOTHING`;
/** An earlier claim is replaced only if it is the one that the unit has read. */
const PUT = `${INSERT} UPDATE SET request = excluded.request, answer = excluded.answer, created_at = excluded.created_at
  WHERE idempotency_keys.created_at = ?`;
/** Most characters of a stored text, encrypted: rows stay about as small as the audit events of their acts. */
const TEXT_MAX = 65_536;

/**
 * The claim of a request on its act: with an `Idempotency-Key` the act is done once, and what its answer is made from is
 * stored in the transaction of the act.
 */
export abstract class Claim {
  /** Whether the request has a key. */
  abstract readonly isGiven: boolean;

  /**
   * `work` as a unit that is done once for the key. A repeat answers the outcome of the first call, and what `work` did is
   * undone. @throws ApiError 409 `idempotency_key_reused` or `idempotency_answer_erased`
   */
  abstract once<Outcome>(form: Form<Outcome>, work: Work<Outcome>): Work<Outcome>;

  /**
   * One step of an act that takes several units: it gets the outcome that the last step has stored for the key, and its own
   * is stored in the transaction of its unit. Not run behind the last step. @throws ApiError as {@link once}
   */
  abstract advance<Outcome>(tx: Tx, form: Form<Outcome>, step: Step<Outcome>): Promise<Outcome>;

  /** What is stored for the key; undefined for a new one. @throws ApiError as {@link once} */
  abstract recorded<Outcome>(tx: Tx, form: Form<Outcome>): Promise<Outcome | undefined>;

  /**
   * The claims of the acts of a request that consists of several: each is done once for the key and its place. They do not
   * mark the answer as a replay; {@link replay} does.
   */
  parts(count: number): readonly Claim[] {
    return Array.from({ length: count }, (_, at) => this.part(at));
  }

  /** One of {@link parts}. */
  abstract part(at: number): Claim;

  /** Marks the answer as the one of an earlier request. */
  abstract replay(): void;
}

class NoClaim extends Claim {
  readonly isGiven = false;

  once<Outcome>(_: Form<Outcome>, work: Work<Outcome>): Work<Outcome> {
    return work;
  }

  advance<Outcome>(_: Tx, __: Form<Outcome>, step: Step<Outcome>): Promise<Outcome> {
    return step(undefined);
  }

  recorded(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  part(): Claim {
    return this;
  }

  replay(): void {
    throw new OwnError('A request without a key repeats none');
  }
}

/** The claim of a request without a key. */
export const NO_CLAIM: Claim = new NoClaim();

/** The claim of a request with a key. */
export class KeyClaim extends Claim implements ClaimName {
  readonly isGiven = true;
  /** Whether a row was found. */
  private isRepeat = false;

  constructor(
    readonly botId: string,
    readonly id: Digest,
    readonly request: Digest,
    private readonly clock: Clock,
    private readonly context: Pick<RequestContext, 'isReplayed'>,
  ) {
    super();
  }

  /** Most keys are new. The row is looked for only after its insertion, or the work, has failed. */
  once<Outcome>(form: Form<Outcome>, work: Work<Outcome>): Work<Outcome> {
    return async (tx) => {
      if (this.isRepeat) return this.advance(tx, form, () => work(tx));
      const outcome = await work(tx).catch((error: unknown) => this.unlessDone(tx, undefined, error));
      if ((await tx.run(CREATE, ...(await this.valuesOf(tx, form, outcome)))) === 0) this.runAgain();
      return outcome;
    };
  }

  async advance<Outcome>(tx: Tx, form: Form<Outcome>, step: Step<Outcome>): Promise<Outcome> {
    const found = await tx.get<StoredClaim>(`${FIND} FOR UPDATE`, this.botId, this.id);
    const before = await this.read(tx, form, found);
    if (before !== undefined && this.context.isReplayed) return before;
    const outcome = await step(before).catch((error: unknown) => this.unlessDone(tx, found, error));
    const values = await this.valuesOf(tx, form, outcome);
    if ((await tx.run(PUT, ...values, found?.created_at ?? '')) === 0) this.runAgain();
    return outcome;
  }

  async recorded<Outcome>(tx: Tx, form: Form<Outcome>): Promise<Outcome | undefined> {
    return this.read(tx, form, await tx.get<StoredClaim>(FIND, this.botId, this.id));
  }

  part(at: number): Claim {
    const { botId, id, request, clock } = this;
    const part = hash('sha256', `${id}/${at}`, 'base64url').slice(0, DIGEST_LENGTH) as Digest;
    return new KeyClaim(botId, part, request, clock, { isReplayed: false });
  }

  replay(): void {
    this.context.isReplayed = true;
  }

  /** The values of the row. */
  async valuesOf<Outcome>(tx: Tx, form: Form<Outcome>, outcome: Outcome): Promise<string[]> {
    const text = await form.write(outcome, this, tx);
    if (text.length > TEXT_MAX)
      throw new OwnError('What is stored for a repeat is too long: store what it is made from');
    return [this.botId, this.id, this.request, text, this.clock.confirmedIso()];
  }

  private async read<Outcome>(
    tx: Tx,
    form: Form<Outcome>,
    found: StoredClaim | undefined,
  ): Promise<Outcome | undefined> {
    this.context.isReplayed = false;
    if (found === undefined || found.created_at <= this.clock.daysAgoIso(REPLAYED_DAYS)) return undefined;
    if (found.request !== this.request) throw keyReused();
    const outcome = await form.read({ text: found.answer, claim: this, tx });
    this.context.isReplayed = outcome !== undefined && form.isPartial?.(outcome) !== true;
    return outcome;
  }

  /**
   * The refusal of an act that the same request has done before is due to that act.
   * @throws ConcurrentChange then, so that the unit is run again and finds the answer; else `error`
   */
  private async unlessDone(tx: Tx, before: StoredClaim | undefined, error: unknown): Promise<never> {
    if (error instanceof ApiError && before === undefined) {
      if ((await tx.get(FIND, this.botId, this.id)) !== undefined) this.runAgain();
    }
    throw error;
  }

  private runAgain(): never {
    this.isRepeat = true;
    throw new ConcurrentChange();
  }
}

/** The refusal of a request that has the key of another one. */
export function keyReused(): ApiError {
  return conflict(
    'idempotency_key_reused',
    'This Idempotency-Key was sent with another body: use a new key for another act',
  );
}

/** The refusal of a repeat whose answer was erased. */
export function answerErased(): ApiError {
  return conflict(
    'idempotency_answer_erased',
    'What was stored for this Idempotency-Key was erased with its user, or its key is lost: use a new key for a new act',
  );
}
