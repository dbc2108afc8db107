import { Injectable } from '@nestjs/common';
import {
  type Digest,
  encryptedBy,
  ifReadable,
  InstallationKeys,
  type Subject,
  SubjectKeys,
} from '@app/crypto';
import { ConcurrentChange, finding, insertion, type Tx } from '@app/database';
import { ApiError, Clock } from '@app/kernel';
import { answerErased, type Claim, type ClaimedRow, keyReused, NO_CLAIM } from './claim';

/** How long an answer is replayed, in days. */
export const REPLAYED_DAYS = 1;

/** What an earlier request with the claim was answered, or why that cannot be answered again. */
export type Answered = { readonly view: object } | { readonly refusal: ApiError };

/** An answer that is stored for a repeat of its request. */
export interface Kept {
  readonly claim: Claim;
  /** Undefined for an answer that outlives its subject, or has none. */
  readonly subject: Subject | undefined;
  readonly view: object;
}

/** How far an act of several units is. */
export interface Progress {
  /** Whether no further step follows. */
  readonly isWhole: boolean;
}

interface StoredAnswer {
  readonly request: Digest;
  readonly answer: string;
  readonly created_at: string;
}

const ROW = ['request', 'answer', 'created_at'];
const FIND = finding<StoredAnswer>('idempotency_keys', ['bot_id', 'id'], ROW);
const LOCK = finding<StoredAnswer>('idempotency_keys', ['bot_id', 'id'], ROW, 'FOR UPDATE');
const INTO = 'INSERT INTO idempotency_keys';
const COLUMNS = ['bot_id', 'id', ...ROW];
const CREATE = insertion(INTO, COLUMNS, 'ON CONFLICT DO NOTHING');
/** An earlier answer is replaced only if it is the one that the unit has read. */
const PUT = `${INTO} (${COLUMNS.join(', ')}) VALUES (?, ?, ?, ?, ?) ON CONFLICT (bot_id, id) DO UPDATE
  SET request = excluded.request, answer = excluded.answer, created_at = excluded.created_at
  WHERE idempotency_keys.created_at = ?`;
const REMOVE = 'DELETE FROM idempotency_keys WHERE bot_id = ? AND id = ?';

/**
 * The answers that are stored for a repeat of their requests, in the transaction of the act. An answer about a subject is
 * encrypted with the key of the subject, so that it is erased with the subject; any other with the key of the installation. An
 * answer alone makes no subject: where nothing is held once the act is done, it counts as any other.
 */
@Injectable()
export class Answers {
  private readonly installation: InstallationKeys['installation'];

  constructor(
    private readonly keys: SubjectKeys,
    private readonly clock: Clock,
    { installation }: InstallationKeys,
  ) {
    this.installation = installation;
  }

  /** The answer of each claim; undefined for a new one, and for one without a key. */
  async find(tx: Tx, claims: readonly Claim[]): Promise<readonly (Answered | undefined)[]> {
    const given = claims.flatMap(({ row }) => (row === undefined ? [] : [[row.botId, row.id]]));
    if (given.length === 0) return claims.map(() => undefined);
    const found = (await FIND(tx, given, true)).values();
    // Sent together: the repeats of one caller hold up no other one for a round trip each.
    return Promise.all(claims.map(async ({ row }) => row && this.read(tx, row, found.next().value)));
  }

  /**
   * {@link find} in a unit that does the acts otherwise. Most keys are new. On PostgreSQL the statement is sent together with
   * others. On SQLite it would cost every new key its time, so that only repeats are looked for: an answer that is there is
   * met by {@link keep}, or by {@link unlessDone}, which undo the unit, and is found when the unit is run again.
   */
  findFirst(tx: Tx, claims: readonly Claim[]): Promise<readonly (Answered | undefined)[]> {
    const sought = (claim: Claim): Claim => (tx.engine === 'postgres' || claim.isRepeat ? claim : NO_CLAIM);
    return this.find(tx, claims.map(sought));
  }

  /** Stores answers. @throws ConcurrentChange when one is stored for the same claim already: the unit is run again */
  async keep(tx: Tx, given: readonly Kept[]): Promise<void> {
    const rows: string[][] = [];
    for (const each of given)
      if (each.claim.row !== undefined) rows.push(await this.valuesOf(tx, each.claim.row, each));
    if (rows.length === 0) return;
    let kept = await CREATE(tx, rows);
    if (kept < rows.length) {
      const expired = this.clock.daysAgoIso(REPLAYED_DAYS);
      for (const [botId = '', id = ''] of rows)
        await tx.run(`${REMOVE} AND created_at <= ?`, botId, id, expired);
      kept += await CREATE(tx, rows);
    }
    if (kept === rows.length) return;
    for (const { claim } of given) if (claim.isGiven) claim.isRepeat = true;
    throw new ConcurrentChange();
  }

  /** Removes the answer of a claim, whose act is done again. */
  async forget(tx: Tx, { row }: Claim): Promise<void> {
    if (row !== undefined) await tx.run(REMOVE, row.botId, row.id);
  }

  /**
   * One step of an act that takes several units: `step` gets what the last step has stored for the claim, and its outcome is
   * stored in its place. After the last step nothing is done. @throws ApiError 409, as {@link recorded}
   */
  async advance<State extends Progress>(
    tx: Tx,
    claim: Claim,
    step: (before: State | undefined) => Promise<State>,
  ): Promise<State> {
    const { row } = claim;
    if (row === undefined) return step(undefined);
    const [found] = await LOCK(tx, [[row.botId, row.id]], true);
    const before = stateOf<State>(claim, await this.read(tx, row, found));
    if (before?.isWhole === true) return before;
    const state = await step(before).catch((error: unknown) => {
      if (before !== undefined) throw error;
      return this.unlessDone(tx, claim, error);
    });
    const values = await this.valuesOf(tx, row, { subject: undefined, view: state });
    if ((await tx.run(PUT, ...values, found?.created_at ?? '')) === 0) throw new ConcurrentChange();
    return state;
  }

  /**
   * What the last step of an act has stored for the claim; undefined for a new one.
   * @throws ApiError 409 `idempotency_key_reused` or `idempotency_answer_erased`
   */
  async recorded<State extends Progress>(tx: Tx, claim: Claim): Promise<State | undefined> {
    return stateOf<State>(claim, (await this.find(tx, [claim]))[0]);
  }

  /**
   * An act is refused where the same request has done it before, or in another process meanwhile.
   * @throws ConcurrentChange then, so that the unit is run again and finds the answer; else `error`
   */
  async unlessDone(tx: Tx, claim: Claim, error: unknown): Promise<never> {
    if (!claim.isGiven || !(error instanceof ApiError)) throw error;
    claim.isRepeat = true;
    throw (await this.find(tx, [claim]))[0] === undefined ? error : new ConcurrentChange();
  }

  /** Reads the keys for {@link keep} in one statement, in a unit that has read none. */
  prefetch(tx: Tx, given: readonly Kept[]): Promise<void> {
    return this.keys.prefetch(
      tx,
      given.flatMap(({ subject }) => subject ?? []),
    );
  }

  private async valuesOf(tx: Tx, row: ClaimedRow, { subject, view }: Omit<Kept, 'claim'>): Promise<string[]> {
    const key = (subject && (await this.keys.ifHeld(tx, subject))) ?? this.installation;
    const answer = key.encrypt(JSON.stringify(view), contextOfAnswer(row));
    return [row.botId, row.id, row.request, answer, this.clock.confirmedIso()];
  }

  private async read(
    tx: Tx,
    row: ClaimedRow,
    found: StoredAnswer | undefined,
  ): Promise<Answered | undefined> {
    if (found === undefined || found.created_at <= this.clock.daysAgoIso(REPLAYED_DAYS)) return undefined;
    if (found.request !== row.request) return { refusal: keyReused() };
    const keyId = encryptedBy(found.answer) ?? '';
    const key = keyId === this.installation.id ? this.installation : await this.keys.withId(tx, keyId);
    if (key === undefined) return { refusal: answerErased() };
    // An earlier version has stored it, for another place.
    const json = ifReadable(() => key.decrypt(found.answer, contextOfAnswer(row)));
    return json === undefined ? { refusal: answerErased() } : { view: JSON.parse(json) as object };
  }
}

/** The place of a stored answer. */
function contextOfAnswer({ botId, id }: ClaimedRow): string {
  return `idempotency_keys/${botId}/${id}/answer`;
}

/** What was stored of an answer. @throws ApiError 409 `idempotency_key_reused` or `idempotency_answer_erased` */
export function viewOf(answered: Answered): object {
  if ('refusal' in answered) throw answered.refusal;
  return answered.view;
}

/** @throws ApiError as {@link viewOf} */
function stateOf<State extends Progress>(claim: Claim, answered: Answered | undefined): State | undefined {
  const state = answered && (viewOf(answered) as State);
  if (state?.isWhole === true) claim.replay();
  return state;
}
