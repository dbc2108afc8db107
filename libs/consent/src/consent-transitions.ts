import { AuditService } from '@app/audit';
import type { Tx } from '@app/database';
import { type AuditEventType, Clock, DomainEvents, Random } from '@app/kernel';
import {
  ConsentedDataHolders,
  type NamedSubject,
  type Subject,
  type SubjectIds,
  subjectOf,
} from '@app/subjects';
import { Injectable } from '@nestjs/common';
import { AnnouncedErasures } from './announced-erasures';
import type { ConsentAsked } from './consent-changes';
import { appendDecision, appendShown, type HistoryEntry, latestOf, type Shown } from './consent-history';
import { ConsentRevoked } from './consent-revoked.event';
import type { Consent, ConsentAction } from './consent.entity';
import { createConsent, putConsent } from './consent.sql';

type Stored = Omit<Consent, 'bot'>;

/** The `source` of an act whose caller names none. */
const DEFAULT_SOURCE = 'api';

/** An act of a user, with the fields of its history entry. */
interface Act extends Pick<ConsentAsked, 'id' | 'version' | 'categories'> {
  readonly source: string | null | undefined;
}

/** A decision about a consent, and the type of its audit event. */
interface Decision extends Act {
  readonly type: AuditEventType;
  readonly action: ConsentAction;
}

/** The history entry of a decision, and the ids of its subject. */
export interface Decided {
  readonly entry: HistoryEntry | undefined;
  readonly ids: SubjectIds;
}

/**
 * Writes the changes of a consent: the state, its history entry and its audit event, all in one unit (GDPR Art. 5(2),
 * 7(1)). The history is only appended to.
 */
@Injectable()
export class ConsentTransitions {
  constructor(
    private readonly audit: AuditService,
    private readonly events: DomainEvents,
    private readonly holders: ConsentedDataHolders,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** Records a request. */
  async ask(
    tx: Tx,
    subject: NamedSubject,
    consent: Stored,
    act: Act,
    shown: Shown,
    isFirst: boolean,
  ): Promise<void> {
    // Sent in this order without waiting: PostgreSQL needs one round trip.
    await Promise.all([
      (isFirst ? createConsent : putConsent)(tx, consent),
      appendShown(tx, { ...this.entry(consent, 'requested', act), ...shown }),
      this.audit.record(tx, subject, 'consent_requested', detailsOf(act)),
    ]);
  }

  /** Records a repeated request that waits: with a new history entry if its texts have changed. */
  async askAgain(tx: Tx, consent: Stored, act: Act, shown: Shown): Promise<void> {
    const latest = await latestOf(tx, consent, act.id);
    if (latest !== undefined && isSame(shown, latest)) return;
    await appendShown(tx, { ...this.entry(consent, 'shown', act), ...shown });
  }

  private async decide(tx: Tx, consent: Stored, { type, action, ...act }: Decision): Promise<Decided> {
    const [, entry, ids] = await Promise.all([
      putConsent(tx, consent),
      appendDecision(tx, this.entry(consent, action, act)),
      this.audit.record(tx, subjectOf(consent), type, detailsOf(act)),
    ]);
    return { entry, ids };
  }

  /** Records a consent: data stored under it is no longer due for erasure. */
  async give(tx: Tx, consent: Stored, act: Act): Promise<Decided> {
    const at = consent.acceptedAt ?? this.clock.nowIso();
    await this.holders.give(tx, subjectOf(consent), act.categories, at);
    return this.decide(tx, consent, { type: 'consent_accepted', action: 'accepted', ...act });
  }

  /** Records a withdrawal, of some categories or complete; answers when the data stored under it will be erased. */
  async withdraw(tx: Tx, consent: Stored, act: Act, at: string): Promise<AnnouncedErasures> {
    await this.holders.withdraw(tx, subjectOf(consent), act.categories, at);
    const announced = await this.announced(tx, subjectOf(consent));
    const action = act.categories === null ? 'revoked' : 'categories_withdrawn';
    const { ids } = await this.decide(tx, consent, { type: 'consent_revoked', action, ...act });
    if (act.categories === null)
      await this.events.publish(new ConsentRevoked(tx, { ...subjectOf(consent), ids }, at, consent.version));
    return announced;
  }

  /** When what a withdrawn consent has left will be erased. */
  async announced(tx: Tx, subject: Subject): Promise<AnnouncedErasures> {
    return new AnnouncedErasures(await this.holders.erasureTimes(tx, subject));
  }

  private entry(consent: Stored, action: ConsentAction, act: Act) {
    const { id: consentId, version, categories } = act;
    const [id, createdAt] = [this.random.uuid(), this.clock.nowIso()];
    const source = act.source ?? DEFAULT_SOURCE;
    return { ...subjectOf(consent), id, consentId, action, version, categories, createdAt, source };
  }
}

function detailsOf({ version, categories }: Act): object {
  return { version, ...(categories !== null && { categories }) };
}

function isSame(shown: Shown, before: { language: string | null; texts: Shown['texts'] | null }): boolean {
  return (
    shown.language === before.language && JSON.stringify(shown.texts) === JSON.stringify(before.texts ?? [])
  );
}
