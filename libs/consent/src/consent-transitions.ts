import { AuditService } from '@app/audit';
import type { Tx } from '@app/database';
import { type AuditEventType, Clock, DomainEvents, Random } from '@app/kernel';
import { ConsentedDataHolders, type Subject, subjectOf } from '@app/subjects';
import { Injectable } from '@nestjs/common';
import { AnnouncedErasures } from './announced-erasures';
import type { ConsentAsked } from './consent-changes';
import { appendDecision, appendShown, type HistoryEntry, latestOf, type Shown } from './consent-history';
import { ConsentRevoked } from './consent-revoked.event';
import type { Consent, ConsentAction } from './consent.entity';
import { createConsent, putConsent } from './consent.sql';

type Stored = Omit<Consent, 'bot'>;

/** Where an act took place, if its caller does not say. */
const DEFAULT_SOURCE = 'api';

/** What a user does, as the history keeps it. */
interface Act extends Pick<ConsentAsked, 'id' | 'version' | 'categories'> {
  readonly source: string | null | undefined;
}

/** A decision about a consent, and what else it is told as. */
interface Decision extends Act {
  readonly type: AuditEventType;
  readonly action: ConsentAction;
}

/**
 * Writes what becomes of a consent: the state, its entry in the history and its audit event, all in the unit of the act
 * (GDPR Art. 5(2), 7(1)). The history is only ever added to.
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

  /** A user is asked. */
  async ask(tx: Tx, consent: Stored, act: Act, shown: Shown, isFirst: boolean): Promise<void> {
    // Sent one behind the other, in this order: on PostgreSQL nobody waits for the way in between.
    await Promise.all([
      (isFirst ? createConsent : putConsent)(tx, consent),
      appendShown(tx, { ...this.entry(consent, 'requested', act), ...shown }),
      this.audit.record(tx, subjectOf(consent), 'consent_requested', detailsOf(act)),
    ]);
  }

  /** A user who has not answered yet is asked the same again: told by the history where the texts are others. */
  async askAgain(tx: Tx, consent: Stored, act: Act, shown: Shown): Promise<void> {
    const latest = await latestOf(tx, consent, act.id);
    if (latest !== undefined && isSame(shown, latest)) return;
    await appendShown(tx, { ...this.entry(consent, 'shown', act), ...shown });
  }

  /** A user has decided. Answers the entry of the history. */
  private async decide(tx: Tx, consent: Stored, { type, action, ...act }: Decision): Promise<HistoryEntry> {
    const [, entry] = await Promise.all([
      putConsent(tx, consent),
      appendDecision(tx, this.entry(consent, action, act)),
      this.audit.record(tx, subjectOf(consent), type, detailsOf(act)),
    ]);
    return entry;
  }

  /** A user has agreed: what rests on it is not to be erased any more. Answers the entry of the history. */
  async give(tx: Tx, consent: Stored, act: Act): Promise<HistoryEntry> {
    const at = consent.acceptedAt ?? this.clock.nowIso();
    await this.holders.give(tx, subjectOf(consent), act.categories, at);
    return this.decide(tx, consent, { type: 'consent_accepted', action: 'accepted', ...act });
  }

  /** A user has withdrawn some categories, or everything, which others are told; answers when what it has left will be erased. */
  async withdraw(tx: Tx, consent: Stored, act: Act, at: string): Promise<AnnouncedErasures> {
    const { botId, userId, guildId, version } = consent;
    await this.holders.withdraw(tx, subjectOf(consent), act.categories, at);
    const announced = await this.announced(tx, subjectOf(consent));
    const action = act.categories === null ? 'revoked' : 'categories_withdrawn';
    await this.decide(tx, consent, { type: 'consent_revoked', action, ...act });
    if (act.categories === null)
      await this.events.publish(new ConsentRevoked(tx, botId, userId, guildId, at, version));
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
