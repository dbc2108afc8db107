import { ConcurrentChange, type Tx } from '@app/database';
import type { RequestContext } from '@app/http';
import { ApiError, type Clock, conflict, OwnError } from '@app/kernel';
import type { Digest } from '@app/primitives';
import type { ClaimName, Form } from './form';

/** How long an answer is replayed, in days. */
export const REPLAYED_DAYS = 1;

/** The work of a unit. */
type Work<Outcome> = (tx: Tx) => Promise<Outcome>;

/** A step of an act; it gets the outcome of the step before it. */
type Step<Outcome> = (before: Outcome | undefined) => Promise<Outcome>;

/** A stored claim. */
interface StoredClaim {
  readonly request: string;
  readonly guild_id: Digest | null;
  readonly user_id: Digest | null;
  readonly answer: string | null;
  readonly created_at: string;
}

const FIND =
  'SELECT request, guild_id, user_id, answer, created_at FROM idempotency_keys WHERE bot_id = ? AND id = ?';
/** The columns of the values that {@link KeyClaim.valuesOf} answers. */
export const COLUMNS = 'bot_id, id, request, guild_id, user_id, answer, created_at';
/** An earlier claim is replaced only if it is the one that the unit has read. */
const PUT = `INSERT INTO idempotency_keys (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (bot_id, id) DO UPDATE SET request = excluded.request, guild_id = excluded.guild_id,
    user_id = excluded.user_id, answer = excluded.answer, created_at = excluded.created_at
  WHERE idempotency_keys.created_at = ?`;
/** Most characters of a stored text: rows stay about as small as the audit events of their acts. */
const TEXT_MAX = 32_768;

/**
 * The claim of a request on its act: with an `Idempotency-Key` the act is done once, and what its answer is made from is
 * stored in the transaction of the act.
 */
export abstract class Claim {
  /** Whether the request has a key. */
  abstract readonly isGiven: boolean;

  /**
   * `work` as a unit that is done once for the key. A repeat answers the outcome of the first call, and `work` is not run.
   * @throws ApiError 409 `idempotency_key_reused` or `idempotency_answer_erased`
   */
  once<Outcome>(form: Form<Outcome>, work: Work<Outcome>): Work<Outcome> {
    return (tx) => this.advance(tx, form, () => work(tx));
  }

  /**
   * One step of an act that takes several units: it gets the outcome that the last step has stored for the key, and its own
   * is stored in the transaction of its unit. Not run behind the last step. @throws ApiError as {@link once}
   */
  abstract advance<Outcome>(tx: Tx, form: Form<Outcome>, step: Step<Outcome>): Promise<Outcome>;

  /** What is stored for the key; undefined for a new one. @throws ApiError as {@link once} */
  abstract recorded<Outcome>(tx: Tx, form: Form<Outcome>): Promise<Outcome | undefined>;
}

class NoClaim extends Claim {
  readonly isGiven = false;

  override once<Outcome>(_: Form<Outcome>, work: Work<Outcome>): Work<Outcome> {
    return work;
  }

  advance<Outcome>(_: Tx, __: Form<Outcome>, step: Step<Outcome>): Promise<Outcome> {
    return step(undefined);
  }

  recorded(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
}

/** The claim of a request without a key. */
export const NO_CLAIM: Claim = new NoClaim();

/** The claim of a request with a key. */
export class KeyClaim extends Claim implements ClaimName {
  readonly isGiven = true;

  constructor(
    readonly botId: string,
    readonly id: Digest,
    private readonly request: Digest,
    private readonly clock: Clock,
    private readonly context: Pick<RequestContext, 'isReplayed'>,
  ) {
    super();
  }

  async advance<Outcome>(tx: Tx, form: Form<Outcome>, step: Step<Outcome>): Promise<Outcome> {
    const found = await tx.get<StoredClaim>(`${FIND} FOR UPDATE`, this.botId, this.id);
    const before = await this.read(tx, form, found);
    if (before !== undefined && this.context.isReplayed) return before;
    const outcome = await step(before).catch((error: unknown) => this.unlessDone(tx, found, error));
    const values = [...this.valuesOf(form, outcome), found?.created_at ?? ''];
    if ((await tx.run(PUT, ...values)) === 0) throw new ConcurrentChange();
    return outcome;
  }

  async recorded<Outcome>(tx: Tx, form: Form<Outcome>): Promise<Outcome | undefined> {
    return this.read(tx, form, await tx.get<StoredClaim>(FIND, this.botId, this.id));
  }

  /** The values of the row. */
  valuesOf<Outcome>(form: Form<Outcome>, outcome: Outcome): (string | null)[] {
    const { text, subject } = form.write(outcome, this);
    if (text.length > TEXT_MAX)
      throw new OwnError('What is stored for a repeat is too long: store what it is made from');
    const { guildId = null, userId = null } = subject ?? {};
    return [this.botId, this.id, this.request, guildId, userId, text, this.clock.confirmedIso()];
  }

  private async read<Outcome>(
    tx: Tx,
    form: Form<Outcome>,
    found: StoredClaim | undefined,
  ): Promise<Outcome | undefined> {
    this.context.isReplayed = false;
    if (found === undefined || found.created_at <= this.clock.daysAgoIso(REPLAYED_DAYS)) return undefined;
    const { answer, request, guild_id: guildId, user_id: userId } = found;
    if (answer === null) throw answerErased();
    if (request !== this.request)
      throw conflict(
        'idempotency_key_reused',
        'This Idempotency-Key was sent with another body: use a new key for another act',
      );
    const isAbout = guildId !== null && userId !== null;
    const outcome = await form.read({
      text: answer,
      claim: this,
      tx,
      ...(isAbout && { subject: { botId: this.botId, guildId, userId } }),
    });
    this.context.isReplayed = outcome !== undefined && form.isPartial?.(outcome) !== true;
    return outcome;
  }

  /**
   * The refusal of an act that the same request has done meanwhile in another process (PostgreSQL) is due to that act.
   * @throws ConcurrentChange then, so that the unit is run again and finds the answer; else `error`
   */
  private async unlessDone(tx: Tx, before: StoredClaim | undefined, error: unknown): Promise<never> {
    if (error instanceof ApiError && before === undefined) {
      if ((await tx.get(FIND, this.botId, this.id)) !== undefined) throw new ConcurrentChange();
    }
    throw error;
  }
}

/** The refusal of a repeat whose answer was erased. */
export function answerErased(): ApiError {
  return conflict(
    'idempotency_answer_erased',
    'What was stored for this Idempotency-Key was erased with its user: use a new key for a new act',
  );
}
