import { ConcurrentChange, type Tx } from '@app/database';
import type { RequestContext } from '@app/http';
import { ApiError, type Clock, conflict } from '@app/kernel';
import type { Digest } from '@app/primitives';
import type { ClaimName, Form } from './form';

/** How long an answer is replayed, in days. */
export const REPLAYED_DAYS = 1;

/** The work of a unit. */
type Work<Outcome> = (tx: Tx) => Promise<Outcome>;

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
const COLUMNS = 'bot_id, id, request, guild_id, user_id, answer, created_at';
/** An earlier claim is replaced only if it is the one that the unit has read. */
const PUT = `INSERT INTO idempotency_keys (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (bot_id, id) DO UPDATE SET request = excluded.request, guild_id = excluded.guild_id,
    user_id = excluded.user_id, answer = excluded.answer, created_at = excluded.created_at
  WHERE idempotency_keys.created_at = ?`;

/**
 * The claim of a request on its act: with an `Idempotency-Key` the act is done once, and its answer is stored in the
 * transaction of the act.
 */
export abstract class Claim {
  /** Whether the request has a key. */
  abstract readonly isGiven: boolean;

  /**
   * `work` as a unit that is done once for the key. A repeat answers the outcome of the first call, and `work` is not run.
   * @throws ApiError 409 `idempotency_key_reused` or `idempotency_answer_erased`
   */
  abstract once<Outcome>(form: Form<Outcome>, work: Work<Outcome>): Work<Outcome>;

  /** What {@link record} has stored for the key; undefined for a new one. @throws ApiError as {@link once} */
  abstract recorded<Outcome>(tx: Tx, form: Form<Outcome>): Promise<Outcome | undefined>;

  /** Stores how far an act of several units is, in the transaction of one of them. */
  abstract record<Outcome>(tx: Tx, form: Form<Outcome>, outcome: Outcome): Promise<void>;
}

class NoClaim extends Claim {
  readonly isGiven = false;

  once<Outcome>(_: Form<Outcome>, work: Work<Outcome>): Work<Outcome> {
    return work;
  }

  recorded(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  record(): Promise<void> {
    return Promise.resolve();
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

  once<Outcome>(form: Form<Outcome>, work: Work<Outcome>): Work<Outcome> {
    return async (tx) => {
      const found = await this.find(tx);
      const before = await this.read(tx, form, found);
      if (before !== undefined) return before;
      const outcome = await work(tx).catch((error: unknown) => this.unlessDone(tx, found, error));
      await this.put(tx, form, outcome, found);
      return outcome;
    };
  }

  async recorded<Outcome>(tx: Tx, form: Form<Outcome>): Promise<Outcome | undefined> {
    return this.read(tx, form, await this.find(tx));
  }

  async record<Outcome>(tx: Tx, form: Form<Outcome>, outcome: Outcome): Promise<void> {
    await this.put(tx, form, outcome, await this.find(tx));
  }

  private find(tx: Tx): Promise<StoredClaim | undefined> {
    return tx.get<StoredClaim>(FIND, this.botId, this.id);
  }

  private async read<Outcome>(
    tx: Tx,
    form: Form<Outcome>,
    found: StoredClaim | undefined,
  ): Promise<Outcome | undefined> {
    this.context.isReplayed = false;
    if (found === undefined || found.created_at <= this.clock.daysAgoIso(REPLAYED_DAYS)) return undefined;
    const { answer, request, guild_id: guildId, user_id: userId } = found;
    if (answer === null)
      throw conflict(
        'idempotency_answer_erased',
        'The answer to this Idempotency-Key was erased with its user: use a new key for a new act',
      );
    if (request !== this.request)
      throw conflict(
        'idempotency_key_reused',
        'This Idempotency-Key was sent with another body: use a new key for another act',
      );
    const subject = guildId === null || userId === null ? undefined : { botId: this.botId, guildId, userId };
    const outcome = await form.read(answer, this, tx, subject);
    this.context.isReplayed = outcome !== undefined;
    return outcome;
  }

  /**
   * The refusal of an act that the same request has done meanwhile in another process (PostgreSQL) is due to that act.
   * @throws ConcurrentChange then, so that the unit is run again and finds the answer; else `error`
   */
  private async unlessDone(tx: Tx, before: StoredClaim | undefined, error: unknown): Promise<never> {
    if (error instanceof ApiError && (await this.find(tx))?.created_at !== before?.created_at)
      throw new ConcurrentChange();
    throw error;
  }

  private async put<Outcome>(
    tx: Tx,
    form: Form<Outcome>,
    outcome: Outcome,
    before: StoredClaim | undefined,
  ): Promise<void> {
    const values = await this.values(tx, form, outcome);
    if ((await tx.run(PUT, ...values, before?.created_at ?? '')) === 0) throw new ConcurrentChange();
  }

  /** The values of the row. */
  async values<Outcome>(tx: Tx, form: Form<Outcome>, outcome: Outcome): Promise<(string | null)[]> {
    const { text, subject } = await form.write(outcome, this, tx);
    const { guildId = null, userId = null } = subject ?? {};
    return [this.botId, this.id, this.request, guildId, userId, text, this.clock.nowIso()];
  }
}
