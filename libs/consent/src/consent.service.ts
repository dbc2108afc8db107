import { Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { CategoriesService } from '@app/categories';
import { type AuditEventType, BOT_WIDE_GUILD_ID, Clock, DomainEvents, notFound, Random } from '@app/common';
import { lockSubject, type Subject, type Tx, UnitOfWork } from '@app/database';
import {
  accepted,
  askedAlready,
  type ConsentAsked,
  pendingRequest,
  requested,
  revoked,
  withoutCategories,
} from './consent-changes';
import type {
  AcceptConsent,
  ConsentRequestedView,
  ConsentStatusView,
  ConsentView,
  RequestConsent,
  RevokeConsent,
} from './consent.dto';
import type { Consent, ConsentAction } from './consent.entity';
import { ConsentRevoked } from './consent-revoked.event';
import {
  appendTransition,
  createConsent,
  findConsentOfRequest,
  findStatus,
  lockConsent,
  putConsent,
} from './consent.sql';
import { consentTexts, declaredVersion } from './consent-texts';
import { consentView, requestedView, statusView } from './consent.views';

/**
 * Consent per user and guild (GDPR Art. 6(1)(a), 7). Every transition is one unit: the state, its entry in the
 * history, its audit event and what listeners queue are committed together or not at all.
 */
@Injectable()
export class ConsentService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly categories: CategoriesService,
    private readonly audit: AuditService,
    private readonly events: DomainEvents,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** Asks for consent. Asking for what was asked or granted already changes nothing. @throws ApiError 404 category */
  request(botId: string, input: RequestConsent): Promise<ConsentRequestedView> {
    const subject = { botId, userId: input.user_id, guildId: input.guild_id };
    return this.unitOfWork.write(async (tx) => {
      const keys = input.categories == null ? null : [...new Set(input.categories)];
      await this.categories.hold(tx, botId, keys ?? []);
      const declared = keys && (await this.categories.requireAll(tx, botId, keys));
      const texts = declared && consentTexts(input.language ?? 'en', await botName(tx, botId), declared);
      const version = input.consent_version ?? declaredVersion(declared ?? []);
      const before = await lockConsent(tx, subject);
      const state = before === null ? undefined : askedAlready(before, { version, categories: keys });
      if (before !== null && state !== undefined) return requestedView(before, state, keys, texts);
      const asked: ConsentAsked = {
        id: this.random.uuid(),
        version,
        categories: keys,
        at: this.clock.nowIso(),
      };
      const after = requested(subject, before, asked);
      await this.store(tx, after, 'consent_requested', 'requested', asked, before === null);
      return requestedView(after, 'pending', keys, texts);
    });
  }

  /** Grants the waiting request. @throws ApiError 404 when none waits for this version. */
  accept(botId: string, input: AcceptConsent): Promise<ConsentView> {
    return this.unitOfWork.write(async (tx) => {
      await this.categories.hold(tx, botId, input.categories ?? []);
      const consent = await this.addressed(tx, botId, input);
      const request = consent === null ? undefined : pendingRequest(consent);
      if (consent === null || request === undefined || !matches(consent, request, input)) {
        throw notFound('Consent request', { current_status: consent?.status ?? 'none' });
      }
      if (input.categories != null) await this.categories.requireAll(tx, botId, input.categories);
      const after = accepted(consent, request, input.categories ?? null, this.clock.nowIso());
      const granted =
        after.categories &&
        Object.keys(after.categories).filter((key) => after.categories?.[key] === 'accepted');
      await this.store(tx, after, 'consent_accepted', 'accepted', { ...request, categories: granted });
      return consentView(after);
    });
  }

  /**
   * Withdraws the accepted consent, or only some of its categories. From the commit on nothing is stored under it.
   * @throws ApiError 404 when none is accepted.
   */
  revoke(botId: string, input: RevokeConsent): Promise<ConsentView> {
    const subject = { botId, userId: input.user_id, guildId: input.guild_id };
    return this.unitOfWork.write(async (tx) => {
      // A consent to everything, of which some is withdrawn, becomes one to each of the others.
      if (input.categories != null) await this.categories.holdAll(tx, botId);
      const consent = await lockConsent(tx, subject);
      if (consent?.status !== 'accepted')
        throw notFound('Consent', { current_status: consent?.status ?? 'none' });
      const reduced =
        input.categories == null ? undefined : await this.reduced(tx, consent, input.categories);
      if (reduced !== undefined) {
        const { id, version } = consent;
        await this.store(tx, reduced, 'consent_revoked', 'categories_withdrawn', {
          id,
          version,
          categories: input.categories ?? null,
        });
        return consentView(reduced);
      }
      const at = this.clock.nowIso();
      const after = revoked(consent, at);
      await this.store(tx, after, 'consent_revoked', 'revoked', {
        id: after.id,
        version: after.version,
        categories: null,
      });
      await this.events.publish(
        new ConsentRevoked(tx, botId, subject.userId, subject.guildId, at, consent.version),
      );
      return consentView(after);
    });
  }

  async status(subject: Subject): Promise<ConsentStatusView> {
    return statusView(
      await findStatus(this.unitOfWork, subject),
      subject,
      subject.guildId === BOT_WIDE_GUILD_ID,
    );
  }

  /** Closes a subject for submits before an erasure removes anything, also one that has no consent; answers since when. */
  async close(tx: Tx, { botId, guildId, userId }: Subject): Promise<string> {
    const closedAt = this.clock.nowIso();
    await tx.run(
      `INSERT INTO consents (bot_id, guild_id, user_id, id, status, version, requested_at, erasing)
       VALUES (?, ?, ?, ?, 'none', '', ?, 1) ON CONFLICT (bot_id, guild_id, user_id) DO UPDATE SET erasing = 1`,
      ...[botId, guildId, userId, this.random.uuid(), closedAt],
    );
    return closedAt;
  }

  /** Waits for, and keeps out, whoever decides about the subject or writes anything about it. */
  async lock(tx: Tx, subject: Subject): Promise<void> {
    await lockSubject(tx, subject, 'alone');
    await lockConsent(tx, subject);
  }

  /** Opens a subject again whose erasure has failed. */
  async reopen(tx: Tx, { botId, guildId, userId }: Subject): Promise<void> {
    const subject = [botId, guildId, userId];
    await tx.run(
      `DELETE FROM consents WHERE bot_id = ? AND guild_id = ? AND user_id = ? AND status = 'none'`,
      ...subject,
    );
    await tx.run(
      'UPDATE consents SET erasing = 0 WHERE bot_id = ? AND guild_id = ? AND user_id = ?',
      ...subject,
    );
  }

  private addressed(tx: Tx, botId: string, input: AcceptConsent): Promise<Consent | null> {
    if (input.consent_id != null) return findConsentOfRequest(tx, botId, input.consent_id.toLowerCase());
    return lockConsent(tx, { botId, userId: input.user_id ?? '', guildId: input.guild_id ?? '' });
  }

  /** @throws ApiError 404 for a category that is not declared, or when none of `withdrawn` was granted. */
  private async reduced(
    tx: Tx,
    consent: Consent,
    withdrawn: readonly string[],
  ): Promise<Omit<Consent, 'bot'> | undefined> {
    await this.categories.requireAll(tx, consent.botId, withdrawn);
    const declared = (await this.categories.all(tx, consent.botId)).map(({ key }) => key);
    const granted = consent.categories ?? Object.fromEntries(declared.map((key) => [key, 'accepted']));
    if (!withdrawn.some((key) => Object.hasOwn(granted, key) && granted[key] === 'accepted')) {
      throw notFound('Consent to these categories', { current_status: consent.status });
    }
    return withoutCategories(consent, withdrawn, declared);
  }

  private async store(
    tx: Tx,
    consent: Omit<Consent, 'bot'>,
    type: AuditEventType,
    action: ConsentAction,
    { id: consentId, version, categories }: Pick<ConsentAsked, 'id' | 'version' | 'categories'>,
    isFirst = false,
  ): Promise<void> {
    const { botId, guildId, userId } = consent;
    const id = this.random.uuid();
    const createdAt = this.clock.nowIso();
    const transition = { botId, guildId, userId, id, consentId, action, version, categories, createdAt };
    const details = { version, ...(categories !== null && { categories }) };
    // Sent one behind the other, in this order: on PostgreSQL nobody waits for the way in between.
    await Promise.all([
      (isFirst ? createConsent : putConsent)(tx, consent),
      appendTransition(tx, transition),
      this.audit.record(tx, { botId, guildId, userId }, type, details),
    ]);
  }
}

/** Whether the waiting request is the one that the caller means; every part that is given has to agree. */
function matches(consent: Consent, request: ConsentAsked, input: AcceptConsent): boolean {
  return (
    (input.consent_id == null || input.consent_id.toLowerCase() === request.id) &&
    (input.consent_version == null || input.consent_version === request.version) &&
    (input.user_id == null || input.user_id === consent.userId) &&
    (input.guild_id == null || input.guild_id === consent.guildId)
  );
}

async function botName(tx: Tx, botId: string): Promise<string> {
  const bot = await tx.get<{ name: string }>('SELECT name FROM bots WHERE id = ?', botId);
  return bot?.name ?? '';
}
