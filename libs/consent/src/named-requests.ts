import { Injectable } from '@nestjs/common';
import { SubjectDigests, SubjectKeys } from '@app/crypto';
import type { Tx } from '@app/database';
import { ERASED_IDS, type NamedSubject, type Subject, subjectOf } from '@app/subjects';
import type { ConsentAsked } from './consent-changes';
import type { AcceptConsent } from './consent.dto';
import type { Consent } from './consent.entity';
import { findConsentOfRequest, lockConsent } from './consent.sql';

/** How a call names a request: by user and guild, by the id of the request, or by both. */
export type NamesRequest = Pick<AcceptConsent, 'user_id' | 'guild_id' | 'consent_id' | 'consent_version'>;

/** Finds the request that a call names. */
@Injectable()
export class NamedRequests {
  constructor(
    private readonly digests: SubjectDigests,
    private readonly keys: SubjectKeys,
  ) {}

  /** The consent of the request, decided or waiting, locked until the unit ends. */
  lock(tx: Tx, botId: string, input: NamesRequest): Promise<Consent | null> {
    const { consent_id: id } = input;
    return id == null
      ? lockConsent(tx, this.subject(botId, input))
      : findConsentOfRequest(tx, botId, id.toLowerCase());
  }

  /** The subject of a call without the id of a request. */
  subject(botId: string, { user_id = '', guild_id = '' }: NamesRequest): Subject {
    return this.digests.named(botId, { user_id, guild_id });
  }

  /** Whether a request of the consent is the one that the call names; all given parts have to agree. */
  matches(
    { botId, userId, guildId }: Consent,
    request: Pick<ConsentAsked, 'id' | 'version'>,
    input: NamesRequest,
  ): boolean {
    if (input.consent_version != null && input.consent_version !== request.version) return false;
    // Without an id the consent was found by its user and guild.
    if (input.consent_id == null) return true;
    return (
      input.consent_id.toLowerCase() === request.id &&
      (input.user_id == null || this.digests.user(botId, input.user_id) === userId) &&
      (input.guild_id == null || this.digests.guild(botId, input.guild_id) === guildId)
    );
  }

  /** The subject of a consent with its ids, which the call need not name. */
  async named(tx: Tx, consent: Consent, { user_id, guild_id }: NamesRequest): Promise<NamedSubject> {
    const subject = subjectOf(consent);
    if (user_id != null && guild_id != null) return { ...subject, ids: { user_id, guild_id } };
    return { ...subject, ids: (await this.keys.inForce(tx, consent))?.ids ?? ERASED_IDS };
  }
}
