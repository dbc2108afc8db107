import { AuditService } from '@app/audit';
import type { Tx } from '@app/database';
import { type AuditEventType, BOT_WIDE_GUILD_ID, Clock, DomainEvents, Random } from '@app/kernel';
import {
  ConsentedDataHolders,
  ERASED_IDS,
  type NamedSubject,
  type Subject,
  type SubjectIds,
  subjectOf,
} from '@app/subjects';
import { Injectable } from '@nestjs/common';
import { AnnouncedErasures } from './announced-erasures';
import { type ConsentAsked, leavesData, notBefore } from './consent-changes';
import { appendDecisions, appendShown, type HistoryEntry, latestOf, type Shown } from './consent-history';
import type { FoundStatus } from './consent-status.sql';
import type { ConsentStatusView } from './consent.dto';
import type { Consent, ConsentAction } from './consent.entity';
import { createConsents, putConsents, removeConsent } from './consent.sql';
import { statusView } from './consent.views';
import { ConsentsRevoked } from './consents-revoked.event';

type Stored = Omit<Consent, 'bot'>;

/** The `source` of an act whose caller names none. */
const DEFAULT_SOURCE = 'api';

/** An act of a user, with the fields of its history entry. */
interface Act extends Pick<ConsentAsked, 'id' | 'version' | 'categories'> {
  readonly source: string | null | undefined;
  /** The page on which the user has acted; undefined for a call of the bot. */
  readonly via?: string | undefined;
}

/** A request that is new. */
export interface NewRequest {
  readonly subject: NamedSubject;
  readonly consent: Stored;
  readonly act: Act;
  readonly shown: Shown;
  /** Whether the subject has no consent yet. */
  readonly isFirst: boolean;
}

/** A consent that an act of the user has changed. */
export interface Change {
  readonly consent: Stored;
  readonly act: Act;
}

/** A {@link Change} that withdraws the consent, or the categories that its act names, at a time. */
export interface Withdrawal extends Change {
  readonly at: string;
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

  /** Records requests, each of another subject. */
  async ask(tx: Tx, given: readonly NewRequest[]): Promise<void> {
    const consents = (isFirst: boolean) =>
      given.filter((one) => one.isFirst === isFirst).map(({ consent }) => consent);
    // Sent in this order without waiting: PostgreSQL needs one round trip.
    await Promise.all([
      createConsents(tx, consents(true)),
      putConsents(tx, consents(false)),
      appendShown(
        tx,
        given.map(({ consent, act, shown }) => ({ entry: this.entry(consent, 'requested', act), shown })),
      ),
      this.audit.recordAll(
        tx,
        given.map(({ subject, act }) => ({ subject, type: 'consent_requested', details: detailsOf(act) })),
      ),
    ]);
  }

  /** Records a repeated request that waits: with a new history entry if its texts have changed. */
  async askAgain(tx: Tx, consent: Stored, act: Act, shown: Shown): Promise<void> {
    const latest = await latestOf(tx, consent, act.id);
    if (latest !== undefined && isSame(shown, latest)) return;
    await appendShown(tx, [{ entry: this.entry(consent, 'shown', act), shown }]);
  }

  /** Records that a request was declined; `after` is the consent without it. Answers the time. No audit event fits. */
  async decline(
    tx: Tx,
    consent: Stored,
    after: Stored | null,
    { at, ...act }: Act & ConsentAsked,
  ): Promise<string> {
    const entry = { ...this.entry(consent, 'declined', act), createdAt: notBefore(this.clock.nowIso(), at) };
    const change = after === null ? removeConsent(tx, consent) : putConsents(tx, [after]);
    await Promise.all([change, appendDecisions(tx, [entry])]);
    return entry.createdAt;
  }

  private async decide(
    tx: Tx,
    given: readonly Change[],
    type: AuditEventType,
    actionOf: (act: Act) => ConsentAction,
  ): Promise<Decided[]> {
    const [, entries, ids] = await Promise.all([
      putConsents(
        tx,
        given.map(({ consent }) => consent),
      ),
      appendDecisions(
        tx,
        given.map(({ consent, act }) => this.entry(consent, actionOf(act), act)),
      ),
      this.audit.recordAll(
        tx,
        given.map(({ consent, act }) => ({ subject: subjectOf(consent), type, details: detailsOf(act) })),
      ),
    ]);
    return given.map((_, at) => ({ entry: entries[at], ids: ids[at] ?? ERASED_IDS }));
  }

  /** Records consents, each of another subject: data stored under them is no longer due for erasure. */
  async give(tx: Tx, given: readonly Change[]): Promise<Decided[]> {
    await this.holders.give(
      tx,
      given.map(({ consent, act: { categories } }) => {
        const at = consent.acceptedAt ?? this.clock.nowIso();
        return { subject: subjectOf(consent), categories, at };
      }),
    );
    return this.decide(tx, given, 'consent_accepted', () => 'accepted');
  }

  /**
   * Records withdrawals, of some categories or complete, each of another subject; answers when the data stored under each
   * will be erased.
   */
  async withdraw(tx: Tx, given: readonly Withdrawal[]): Promise<AnnouncedErasures[]> {
    const subjects = given.map(({ consent }) => subjectOf(consent));
    const marked = given.map(({ act: { categories }, at, consent }) => ({
      subject: subjectOf(consent),
      categories,
      at,
    }));
    await this.holders.withdraw(tx, marked);
    const announced = await this.announced(tx, subjects);
    const decided = await this.decide(tx, given, 'consent_revoked', ({ categories }) =>
      categories === null ? 'revoked' : 'categories_withdrawn',
    );
    const revoked = given.flatMap(({ consent, act, at }, place) => {
      const subject = { ...subjectOf(consent), ids: decided[place]?.ids ?? ERASED_IDS };
      return act.categories === null ? [{ subject, revokedAt: at, previousVersion: consent.version }] : [];
    });
    if (revoked.length > 0) await this.events.publish(new ConsentsRevoked(tx, revoked));
    return announced;
  }

  /** When what withdrawn consents have left will be erased. */
  async announced(tx: Tx, subjects: readonly Subject[]): Promise<AnnouncedErasures[]> {
    return (await this.holders.erasureTimes(tx, subjects)).map((times) => new AnnouncedErasures(times));
  }

  /** The answer to who asks for the state of a consent that the unit has read. */
  async statusOf(tx: Tx, subject: NamedSubject, found: FoundStatus): Promise<ConsentStatusView> {
    const [announced] = hasLeftData(found) ? await this.announced(tx, [subject]) : [];
    return statusView(found, subject.ids, isBotWide(subject), announced);
  }

  private entry(consent: Stored, action: ConsentAction, act: Act) {
    const { id: consentId, version, categories } = act;
    const [id, createdAt] = [this.random.uuid(), this.clock.nowIso()];
    const source = act.source ?? DEFAULT_SOURCE;
    const { botId, guildId, userId } = consent;
    return { botId, guildId, userId, id, consentId, action, version, categories, createdAt, source };
  }
}

/** Whether data of an earlier, withdrawn consent can still be stored. */
export function hasLeftData({ consent }: FoundStatus): boolean {
  return consent !== null && leavesData(consent);
}

export function isBotWide({ ids }: NamedSubject): boolean {
  return ids.guild_id === BOT_WIDE_GUILD_ID;
}

function detailsOf({ version, categories, via }: Act): object {
  return { version, ...(categories !== null && { categories }), ...(via !== undefined && { via }) };
}

function isSame(shown: Shown, before: { language: string | null; texts: Shown['texts'] | null }): boolean {
  return (
    shown.language === before.language && JSON.stringify(shown.texts) === JSON.stringify(before.texts ?? [])
  );
}
