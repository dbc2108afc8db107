import { Inject, Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { CategoryDeclarations, type DeclaredValues } from '@app/categories';
import {
  consentScope,
  type Decision,
  holdSubjectsAndConsents,
  lockDecisions,
  requireOpen,
} from '@app/consent';
import {
  type NamedSubject,
  SUBJECT_KEY,
  SUBJECT_WHERE,
  SubjectDigests,
  SubjectKeys,
  subjectValues,
} from '@app/crypto';
import { insertion, json, type Tx } from '@app/database';
import { type Acting, type Actor, mergePatch } from '@app/http';
import type { Act } from '@app/acts';
import { ApiError, type Config, CONFIG, invalidRequest, notFound, requireBytes } from '@app/kernel';
import type { RefusalKind } from './processing-refusal.entity';
import { findRefusals, requireProcessing } from './processing-refusals.sql';
import { decryptValue, encryptValue } from './stored-value';
import type { SubmitData, SubmittedView } from './user-data.dto';

/** The data that a bot submits about a subject. */
export interface Submission {
  readonly subject: NamedSubject;
  readonly category: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** The JSON text to store for the mode `replace`; undefined when no value is left. */
  readonly json: string | undefined;
  readonly merges: boolean;
  readonly by: Actor;
}

/** What a submission is decided by. */
export interface SubmitState {
  readonly subject: NamedSubject;
  readonly declared: DeclaredValues | undefined;
  readonly consent: Decision | undefined;
  /** What the user refuses of it. */
  readonly refusal: RefusalKind | undefined;
  /** Decrypts the stored value, for a submission that merges. */
  readonly before: (() => string) | undefined;
}

/** What is to be stored; no value where nothing is left. */
export interface SubmitChange {
  readonly subject: NamedSubject;
  readonly category: string;
  readonly value: string | undefined;
  readonly now: string;
  readonly by: Actor;
}

/** What is stored of an answer for a repeat of its request; of an item of a batch also its refusal. */
export type KeptSubmit =
  Pick<SubmittedView, 'updated_at'> | { readonly refusal: Pick<ApiError, 'code' | 'message' | 'details'> };

const WHERE = `${SUBJECT_WHERE} AND category_key = ?`;
const BEFORE = `SELECT value FROM user_data WHERE ${WHERE} FOR UPDATE`;
const REMOVE = `DELETE FROM user_data WHERE ${WHERE}`;
/** A value that was created while the clock was wrong is not updated before its creation. */
const PUT = insertion(
  'INSERT INTO user_data',
  [...SUBJECT_KEY, 'category_key', 'value', 'created_at', 'updated_at', 'retention_from'],
  `ON CONFLICT (bot_id, guild_id, user_id, category_key) DO UPDATE SET value = excluded.value,
  updated_at = CASE WHEN excluded.updated_at < user_data.created_at THEN user_data.created_at ELSE excluded.updated_at END`,
);

/**
 * Stores or updates one category of a subject under a consent in force. Declaration and consent are locked until the commit:
 * data that is answered with 200 was stored under a consent in force at its commit.
 */
@Injectable()
export class SubmitAct implements Act<Submission, SubmitState, SubmitChange, SubmittedView> {
  constructor(
    private readonly declarations: CategoryDeclarations,
    private readonly audit: AuditService,
    private readonly keys: SubjectKeys,
    private readonly digests: SubjectDigests,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** The submission of a request. @throws ApiError 413 */
  of({ botId, actor: by }: Acting, input: SubmitData): Submission {
    const { category, data, mode } = input;
    const json = this.storable(data);
    return { subject: this.digests.named(botId, input), category, data, json, merges: mode === 'merge', by };
  }

  async load(tx: Tx, given: readonly Submission[]): Promise<(SubmitState | undefined)[]> {
    const subjects = given.map(({ subject }) => subject);
    const isAlone = given.length === 1;
    // Sent in this order: keys, refusals and values are read after the locks.
    const [declared, consents, , refusals, before] = await Promise.all([
      this.declarations.find(
        tx,
        given.map(({ subject: { botId }, category: key }) => ({ botId, key })),
        isAlone,
      ),
      lockDecisions(tx, subjects, isAlone),
      this.keys.prefetch(tx, subjects),
      findRefusals(tx, given),
      given.some(({ merges }) => merges) ? Promise.all(given.map((one) => this.stored(tx, one))) : [],
    ]);
    const states = subjects.map((subject, at) => ({
      subject,
      declared: declared[at],
      consent: consents[at],
      refusal: refusals[at],
      before: before[at],
    }));
    return tx.engine === 'postgres' ? this.lockWithoutConsent(tx, states, given) : states;
  }

  /** A refusal follows the order of the contract. @throws ApiError 403, 404, 409 as {@link requireOpen}, 403, 400, 413 */
  decide(
    { declared, consent, refusal, before }: SubmitState,
    submission: Submission,
    now: string,
  ): SubmitChange {
    const { subject, category, data, json, merges, by } = submission;
    if (declared?.requiresConsent === false) requireOpen(consent);
    else {
      const scope = consentScope(consent, declared !== undefined);
      if (declared === undefined) throw notFound('Category');
      scope.require(category);
    }
    requireProcessing(refusal);
    const faults = declared.faultsOf(data);
    if (faults.length > 0) throw invalidRequest(faults);
    return { subject, category, value: merges ? this.merged(before, data) : json, now, by };
  }

  async store(tx: Tx, changes: readonly SubmitChange[]): Promise<SubmittedView[]> {
    const keys = await this.keys.allForWriting(
      tx,
      changes.map(({ subject }) => subject),
    );
    const rows = changes.flatMap(({ subject, category, value, now }, at) => {
      const key = keys[at];
      if (value === undefined || key === undefined) return [];
      return [[...rowOf(subject, category), encryptValue(key, subject, category, value), now, now, now]];
    });
    const isLess = changes.some(({ value }) => value === undefined);
    const removed = isLess ? await Promise.all(changes.map((change) => removedBy(tx, change))) : [];
    await Promise.all([
      PUT(tx, rows),
      this.audit.recordAll(
        tx,
        changes.map(({ subject, category, by }, at) => ({
          subject,
          by,
          type: removed[at] === 1 ? 'data_deleted' : 'data_submitted',
          details: { category },
        })),
      ),
    ]);
    return changes.map((change) => this.viewOf(change, { updated_at: change.now }));
  }

  /** The repeated request has the rest. */
  kept({ updated_at }: SubmittedView): KeptSubmit {
    return { updated_at };
  }

  async recall(_: Tx, kept: KeptSubmit, submission: Submission): Promise<SubmittedView> {
    return this.viewOf(submission, kept);
  }

  /** The answer to a submission from what is kept of it. @throws ApiError the refusal that is kept */
  viewOf(
    { subject: { ids }, category }: Pick<Submission, 'subject' | 'category'>,
    kept: KeptSubmit,
  ): SubmittedView {
    if ('refusal' in kept) throw new ApiError(kept.refusal.code, kept.refusal.message, kept.refusal.details);
    return { user_id: ids.user_id, guild_id: ids.guild_id, category, stored: true, ...kept };
  }

  /**
   * The states with the locks that are missing. A submission locks the consent of its subject. Where the category needs no consent and
   * the subject has none, there is no row to lock: the subject itself is locked, and what is read under the lock is read again. Of
   * several submissions, the state is undefined where another unit has locked the subject.
   */
  private async lockWithoutConsent(
    tx: Tx,
    states: readonly SubmitState[],
    given: readonly Submission[],
  ): Promise<(SubmitState | undefined)[]> {
    const isOpen = (state?: SubmitState) =>
      state?.declared?.requiresConsent === false && state.consent === undefined;
    const open = given.filter((_, at) => isOpen(states[at]));
    if (open.length === 0) return [...states];
    const subjects = open.map(({ subject }) => subject);
    const [consents, , refusals] = await Promise.all([
      holdSubjectsAndConsents(tx, subjects, given.length === 1),
      this.keys.prefetch(tx, subjects, 'again'),
      findRefusals(tx, open),
    ]);
    return Promise.all(
      given.map(async (one, at) => {
        const [state, place] = [states[at], open.indexOf(one)];
        const consent = consents[place];
        if (state === undefined || place === -1) return state;
        if (consent === undefined) return undefined;
        const before = await this.stored(tx, one);
        const decision = consent === null ? undefined : { ...consent, categories: json(consent.categories) };
        return { ...state, before, consent: decision, refusal: refusals[place] };
      }),
    );
  }

  /** `data` without its nulls as JSON text; undefined when no value is left. @throws ApiError 413 */
  private storable(data: Readonly<Record<string, unknown>>): string | undefined {
    const entries = Object.entries(data).filter(([, value]) => value !== null);
    if (entries.length === 0) return undefined;
    const text = `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`;
    requireBytes('data', text, this.config.dataLimitBytes);
    return text;
  }

  /** The stored value after a JSON Merge Patch (RFC 7396). */
  private merged(before: SubmitState['before'], patch: object): string | undefined {
    const value: unknown = before === undefined ? {} : JSON.parse(before());
    return this.storable(mergePatch(value, patch) as Record<string, unknown>);
  }

  private async stored(tx: Tx, { subject, category, merges }: Submission): Promise<SubmitState['before']> {
    if (!merges) return undefined;
    const found = await tx.get<{ value: string }>(BEFORE, ...rowOf(subject, category));
    const key = found && (await this.keys.inForce(tx, subject));
    return found && (() => decryptValue(key, subject, category, found.value));
  }
}

/** The number of removed values. */
async function removedBy(tx: Tx, { subject, category, value }: SubmitChange): Promise<number> {
  return value === undefined ? tx.run(REMOVE, ...rowOf(subject, category)) : 0;
}

function rowOf(subject: NamedSubject, category: string): string[] {
  return [...subjectValues(subject), category];
}
