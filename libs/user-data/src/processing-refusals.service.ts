import { Injectable } from '@nestjs/common';
import { Acts, type Claim } from '@app/acts';
import { AuditService } from '@app/audit';
import { basisOf, countCategories, isObjectable, objectableCategories, undeclared } from '@app/categories';
import { holdSubject } from '@app/consent';
import { ConsentedDataHolders, lockSubject, type NamedSubject } from '@app/crypto';
import { ConcurrentChange, type Tx, UnitOfWork } from '@app/database';
import type { Actor } from '@app/http';
import { Clock, conflict } from '@app/kernel';
import type { RefusalKind } from './processing-refusal.entity';
import type { RefusalsView } from './processing-refusals.dto';
import { putRefusal, refusalsOf, removeRestrictions } from './processing-refusals.sql';

/** What a user refuses: one category, or all of them where it is undefined. */
interface Refused {
  readonly subject: NamedSubject;
  readonly category: string | undefined;
  readonly by: Actor;
  readonly claim: Claim;
  /** What refuses the act once its subject is locked. */
  readonly onceHeld?: (tx: Tx) => Promise<void>;
}

/**
 * The rights to object (GDPR Art. 21) and to restriction (Art. 18). Each act locks its subject and the consent, as a submit does:
 * after the answer nothing is stored that it refuses. An act that changes nothing has no audit event. The contract lists the types of
 * audit events and has none for these acts: an objection is a `data_deleted`, a restriction a `consent_revoked` and its end a
 * `consent_accepted`, and `act` of the details says which it is. No consent changes.
 */
@Injectable()
export class ProcessingRefusals {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly acts: Acts,
    private readonly audit: AuditService,
    private readonly holders: ConsentedDataHolders,
    private readonly clock: Clock,
  ) {}

  /** What is in force about a subject. */
  of(subject: NamedSubject): Promise<RefusalsView> {
    return this.unitOfWork.read((tx) => viewOf(tx, subject));
  }

  /**
   * Erases what is stored under the category, or under each one of legitimate interests or a public task, and refuses what comes.
   * @throws ApiError 404 for an undeclared category, 409 `not_objectable` for one of another legal basis
   */
  object({ subject, category, by, claim, onceHeld }: Refused): Promise<RefusalsView> {
    return this.done(subject, claim, async (tx) => {
      const { botId } = subject;
      const { keys, declared } = await objectableOf(tx, botId, category);
      await this.hold(tx, subject, onceHeld);
      // A category of any basis that was registered while the subject was waited for can have values, and is not locked: its basis can change.
      if (declared !== undefined && (await countCategories(tx, botId)) !== declared)
        throw new ConcurrentChange();
      const erased = await this.holders.eraseOf(tx, subject, keys);
      const isNew = await this.put(tx, subject, 'objection', category);
      if (!isNew && erased.size === 0) return;
      const names =
        category === undefined ? erased.size > 0 && { categories: [...erased].sort() } : { category };
      await this.audit.record(tx, subject, 'data_deleted', { act: 'objection', ...names }, { by });
    });
  }

  /** Keeps what is stored, and refuses to change or read it. @throws ApiError 404 for an undeclared category */
  restrict({ subject, category, by, claim, onceHeld }: Refused): Promise<RefusalsView> {
    return this.done(subject, claim, async (tx) => {
      await requireKnown(tx, subject.botId, category);
      await this.hold(tx, subject, onceHeld);
      if (!(await this.put(tx, subject, 'restriction', category))) return;
      const details = { act: 'restriction', ...(category !== undefined && { category }) };
      await this.audit.record(tx, subject, 'consent_revoked', details, { by });
    });
  }

  /**
   * Ends the restriction of a category; without one, every restriction of the subject. One of everything stays when a category is
   * named. @throws ApiError 404 for an undeclared category
   */
  unrestrict({ subject, category, by, claim, onceHeld }: Refused): Promise<RefusalsView> {
    const end = async (tx: Tx): Promise<void> => {
      await requireKnown(tx, subject.botId, category);
      await this.hold(tx, subject, onceHeld);
      if (!(await removeRestrictions(tx, subject, category))) return;
      const details = { act: 'restriction_ended', ...(category !== undefined && { category }) };
      await this.audit.record(tx, subject, 'consent_accepted', details, { by });
    };
    // The user may be one about whom nothing is held, whose ids would be in an answer that no erasure reaches.
    return this.done(subject, claim, end, (tx) => viewOf(tx, subject));
  }

  private done(
    subject: NamedSubject,
    claim: Claim,
    work: (tx: Tx) => Promise<void>,
    again?: (tx: Tx) => Promise<RefusalsView>,
  ): Promise<RefusalsView> {
    return this.acts.once(
      claim,
      async (tx) => {
        await work(tx);
        return viewOf(tx, subject);
      },
      { subject, again },
    );
  }

  /** Also against a submit or an erasure of a subject without a consent. */
  private async hold(tx: Tx, subject: NamedSubject, onceHeld: Refused['onceHeld']): Promise<void> {
    await lockSubject(tx, subject, 'alone');
    await holdSubject(tx, subject);
    await onceHeld?.(tx);
  }

  private put(tx: Tx, subject: NamedSubject, kind: RefusalKind, category = ''): Promise<boolean> {
    return putRefusal(tx, subject, kind, category, this.clock.nowIso());
  }
}

async function viewOf(tx: Tx, subject: NamedSubject): Promise<RefusalsView> {
  const all = await refusalsOf(tx, subject);
  const of = (wanted: RefusalKind): RefusalsView['objections'] =>
    all
      .filter(({ kind }) => kind === wanted)
      .map(({ category_key: key, created_at: since }) => ({ category: key === '' ? null : key, since }));
  const { user_id, guild_id } = subject.ids;
  return { user_id, guild_id, objections: of('objection'), restrictions: of('restriction') };
}

/** The category stays declared until the unit ends. */
async function requireKnown(tx: Tx, botId: string, category: string | undefined): Promise<void> {
  if (category !== undefined && (await basisOf(tx, botId, category, 'FOR KEY SHARE')) === undefined)
    undeclared();
}

/** The categories that an objection is about, which stay declared until the unit ends. */
async function objectableOf(
  tx: Tx,
  botId: string,
  category: string | undefined,
): Promise<{ readonly keys: string[]; readonly declared?: number }> {
  if (category === undefined) return objectableCategories(tx, botId, 'FOR KEY SHARE');
  const { legalBasis: basis } = (await basisOf(tx, botId, category, 'FOR KEY SHARE')) ?? undeclared();
  if (!isObjectable(basis))
    throw conflict(
      'not_objectable',
      basis === 'consent'
        ? 'The category rests on consent: there is nothing to object to; record the withdrawal with POST /consents/revoke'
        : 'An objection needs the legal basis legitimate_interests or public_task: erase with DELETE /data/values/{user_id} or POST /gdpr/forget-user',
      { legal_basis: basis },
    );
  return { keys: [category] };
}
