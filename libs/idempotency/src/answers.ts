import { Injectable } from '@nestjs/common';
import { InstallationKeys, SubjectKeys } from '@app/crypto';
import { ConcurrentChange, finding, insertion, type Tx } from '@app/database';
import { type ApiError, Clock } from '@app/kernel';
import { encryptedBy, UnreadableSecretError } from '@app/primitives';
import type { Subject } from '@app/subjects';
import {
  answerErased,
  type Claim,
  COLUMNS,
  keyReused,
  KeyClaim,
  REPLAYED_DAYS,
  type StoredClaim,
} from './claim';

/** What an earlier request with the claim was answered, or why that cannot be answered again. */
export type Answered = { readonly view: object } | { readonly refusal: ApiError };

/** An answer that is stored for a repeat of its request. */
export interface Kept {
  readonly claim: Claim;
  /** Undefined for an answer that outlives its subject. */
  readonly subject: Subject | undefined;
  readonly view: object;
}

const FIND = finding<StoredClaim>('idempotency_keys', ['bot_id', 'id'], ['request', 'answer', 'created_at']);
const CREATE = insertion('INSERT INTO idempotency_keys', COLUMNS.split(', '), 'ON CONFLICT DO NOTHING');
const REMOVE = 'DELETE FROM idempotency_keys WHERE bot_id = ? AND id = ?';

/**
 * The answers about subjects that are stored for a repeat of their requests, in the transaction of the act. Each is encrypted
 * with the key of its subject, so that it is erased with the subject.
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
    const given = claims.filter((claim) => claim instanceof KeyClaim);
    if (given.length === 0) return claims.map(() => undefined);
    const expired = this.clock.daysAgoIso(REPLAYED_DAYS);
    const keys = given.map(({ botId, id }) => [botId, id]);
    const rows = (await FIND(tx, keys, true)).values();
    // Sent together: the repeats of one caller hold up no other one for a round trip each.
    return Promise.all(
      claims.map(async (claim) => {
        const row = claim instanceof KeyClaim ? rows.next().value : undefined;
        if (row === undefined || row.created_at <= expired) return undefined;
        return this.read(tx, claim as KeyClaim, row);
      }),
    );
  }

  /** Stores answers. @throws ConcurrentChange when another unit has stored one for the same claim */
  async keep(tx: Tx, given: readonly Kept[]): Promise<void> {
    const rows: string[][] = [];
    for (const { claim, subject, view } of given) {
      if (!(claim instanceof KeyClaim)) continue;
      const { botId, id, request } = claim;
      const key = subject === undefined ? this.installation : await this.keys.forWriting(tx, subject);
      const answer = key.encrypt(JSON.stringify(view), contextOf(claim));
      rows.push([botId, id, request, answer, this.clock.confirmedIso()]);
    }
    if (rows.length === 0) return;
    let kept = await CREATE(tx, rows);
    if (kept < rows.length) {
      const expired = this.clock.daysAgoIso(REPLAYED_DAYS);
      for (const [botId = '', id = ''] of rows)
        await tx.run(`${REMOVE} AND created_at <= ?`, botId, id, expired);
      kept += await CREATE(tx, rows);
    }
    if (kept < rows.length) throw new ConcurrentChange();
  }

  /** Removes the answer of a claim, whose act is done again. */
  async forget(tx: Tx, claim: Claim): Promise<void> {
    if (claim instanceof KeyClaim) await tx.run(REMOVE, claim.botId, claim.id);
  }

  private async read(tx: Tx, claim: KeyClaim, row: StoredClaim): Promise<Answered> {
    if (row.request !== claim.request) return { refusal: keyReused() };
    const keyId = encryptedBy(row.answer) ?? '';
    const key = keyId === this.installation.id ? this.installation : await this.keys.withId(tx, keyId);
    if (key === undefined) return { refusal: answerErased() };
    try {
      return { view: JSON.parse(key.decrypt(row.answer, contextOf(claim))) as object };
    } catch (error) {
      // An earlier version has stored it, for another place.
      if (error instanceof UnreadableSecretError) return { refusal: answerErased() };
      throw error;
    }
  }
}

/** The place of a stored answer. */
function contextOf({ botId, id }: KeyClaim): string {
  return `idempotency_keys/${botId}/${id}/answer`;
}
