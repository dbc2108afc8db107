import { AuditService } from '@app/audit';
import type { Tx } from '@app/database';
import type { Actor } from '@app/http';
import { type AuditEventType, Clock, DomainEvents, Random } from '@app/kernel';
import {
  ConsentedDataHolders,
  ERASED_IDS,
  type ErasureTime,
  type NamedSubject,
  type Subject,
  type SubjectIds,
} from '@app/crypto';
import { Injectable } from '@nestjs/common';
import type { ConsentAsked } from './consent-changes';
import {
  appendDecisions,
  appendShown,
  following,
  type HistoryEntry,
  latestOf,
  type Newest,
  newestOf,
  type Shown,
} from './consent-history';
import type { ConsentAction } from './consent-states';
import type { Consent } from './consent.entity';
import { createConsents, putConsents, removeConsents } from './consent.sql';

/** The `source` of an act whose caller names none. */
const DEFAULT_SOURCE = 'api';

/** An act of a user, with the fields of its history entry. */
interface UserAct extends Pick<ConsentAsked, 'id' | 'version' | 'categories'> {
  readonly source: string | null | undefined;
}

/** An act that has an audit event. */
interface RecordedAct extends UserAct {
  readonly by: Actor;
}

/** A consent that an act of the user has changed. */
export interface Change {
  /** With the ids that the call names. */
  readonly subject: Subject | NamedSubject;
  readonly consent: Consent;
  readonly act: RecordedAct;
}

/** A request that is new. */
export interface NewRequest extends Change {
  readonly subject: NamedSubject;
  readonly shown: Shown;
  /** Whether the subject has no consent yet. */
  readonly isFirst: boolean;
}

/** A consent that is withdrawn, or for the categories that the act names. */
export interface Withdrawal extends Change {
  readonly subject: NamedSubject;
  readonly at: string;
}

/** A request that the user has declined. */
export interface Declined {
  readonly before: Consent;
  /** The consent without the request; null for the status `none`. */
  readonly after: Consent | null;
  readonly act: UserAct;
  readonly at: string;
}

/** The history entry of a decision, and the ids of its subject. */
export interface Decided {
  readonly entry: HistoryEntry | undefined;
  readonly ids: SubjectIds;
}

/** Consents were withdrawn (GDPR Art. 7(3)). Published inside the withdrawing unit. */
export class ConsentsRevoked {
  constructor(
    readonly tx: Tx,
    readonly revoked: readonly Revoked[],
  ) {}
}

/** A consent that was withdrawn. */
export interface Revoked {
  readonly subject: NamedSubject;
  readonly revokedAt: string;
  readonly previousVersion: string;
}

/**
 * Writes the changes of a consent: the state, its history entry and its audit event, all in one unit (GDPR Art. 5(2),
 * 7(1)). The history is only appended to, in the order of the acts whatever the clocks of the processes say: the unit of an act
 * has locked its subject, and reads the newest entry of it.
 */
@Injectable()
export class ConsentWriter {
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
    const newest = await newestIn(tx, given);
    // Sent in this order without waiting: PostgreSQL needs one round trip.
    await Promise.all([
      createConsents(tx, consents(true)),
      putConsents(tx, consents(false)),
      appendShown(
        tx,
        given.map(({ subject, act, shown }, at) => {
          return { entry: this.entry(subject, 'requested', act, newest[at]), shown };
        }),
      ),
      this.audit.recordAll(
        tx,
        given.map(({ subject, act }) => ({ subject, type: 'consent_requested', ...recordOf(act) })),
      ),
    ]);
  }

  /** Records a repeated request that waits: with a new history entry if its texts have changed. */
  async askAgain(tx: Tx, subject: Subject, act: UserAct, shown: Shown): Promise<void> {
    const [latest, [newest]] = await Promise.all([latestOf(tx, subject, act.id), newestOf(tx, [subject])]);
    if (latest !== undefined && isSame(shown, latest)) return;
    await appendShown(tx, [{ entry: this.entry(subject, 'shown', act, newest), shown }]);
  }

  /** Records that a request was declined, and returns the time of that. No audit event fits. */
  async decline(tx: Tx, { before, after, act, at }: Declined): Promise<string> {
    const change = after === null ? removeConsents(tx, [before]) : putConsents(tx, [after]);
    const [[newest]] = await Promise.all([newestOf(tx, [before]), change]);
    const entry = this.entry(before, 'declined', act, newest, at);
    await appendDecisions(tx, [entry]);
    return entry.createdAt;
  }

  /** Records consents, each of another subject: data stored under them is no longer due for erasure. */
  async give(tx: Tx, given: readonly Change[]): Promise<Decided[]> {
    const decided = given.map(({ subject, consent, act: { categories } }) => {
      const at = consent.acceptedAt ?? this.clock.nowIso();
      return { subject, categories, at };
    });
    const [newest] = await Promise.all([newestIn(tx, given), this.holders.give(tx, decided)]);
    return this.record(tx, given, newest, 'consent_accepted', () => 'accepted');
  }

  /** Records withdrawals, each of another subject, and returns when the data stored under each will be erased. */
  async withdraw(tx: Tx, given: readonly Withdrawal[]): Promise<readonly (readonly ErasureTime[])[]> {
    await this.holders.withdraw(
      tx,
      given.map(({ subject, act: { categories }, at }) => ({ subject, categories, at })),
    );
    const subjects = given.map(({ subject }) => subject);
    const [newest, times] = await Promise.all([newestIn(tx, given), this.holders.erasureTimes(tx, subjects)]);
    await this.record(tx, given, newest, 'consent_revoked', ({ categories }) =>
      categories === null ? 'revoked' : 'categories_withdrawn',
    );
    const revoked = given
      .filter(({ act }) => act.categories === null)
      .map(({ subject, at, consent }) => ({ subject, revokedAt: at, previousVersion: consent.version }));
    if (revoked.length > 0) await this.events.publish(new ConsentsRevoked(tx, revoked));
    return times;
  }

  /** Writes decisions, each after the newest entry of its subject, and returns what a receipt states of each. */
  private async record(
    tx: Tx,
    given: readonly Change[],
    newest: readonly Newest[],
    type: AuditEventType,
    actionOf: (act: UserAct) => ConsentAction,
  ): Promise<Decided[]> {
    const [, entries, ids] = await Promise.all([
      putConsents(
        tx,
        given.map(({ consent }) => consent),
      ),
      appendDecisions(
        tx,
        given.map(({ consent, act }, at) => this.entry(consent, actionOf(act), act, newest[at])),
      ),
      this.audit.recordAll(
        tx,
        given.map(({ subject, act }) => ({ subject, type, ...recordOf(act) })),
      ),
    ]);
    return given.map((_, at) => ({ entry: entries[at], ids: ids[at] ?? ERASED_IDS }));
  }

  private entry(
    { botId, guildId, userId }: Subject,
    action: ConsentAction,
    act: UserAct,
    newest: Newest,
    at = this.clock.nowIso(),
  ) {
    const { id: consentId, version, categories } = act;
    const { id, createdAt } = following(newest, { id: this.random.uuid(), createdAt: at });
    const source = act.source ?? DEFAULT_SOURCE;
    return { botId, guildId, userId, id, consentId, action, version, categories, createdAt, source };
  }
}

function newestIn(tx: Tx, given: readonly Change[]): Promise<Newest[]> {
  return newestOf(
    tx,
    given.map(({ consent }) => consent),
  );
}

function recordOf({ version, categories, by }: RecordedAct) {
  return { details: { version, ...(categories !== null && { categories }) }, by };
}

function isSame(shown: Shown, before: { language: string | null; texts: Shown['texts'] | null }): boolean {
  return (
    shown.language === before.language && JSON.stringify(shown.texts) === JSON.stringify(before.texts ?? [])
  );
}
