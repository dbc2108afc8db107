import { Injectable } from '@nestjs/common';
import { SubjectDigests, SubjectKeys } from '@app/crypto';
import type { Tx } from '@app/database';
import { ERASED_IDS, type NamedSubject, type Subject, subjectOf } from '@app/subjects';
import type { ConsentAsked } from './consent-changes';
import type { AcceptConsent } from './consent.dto';
import type { Consent } from './consent.entity';
import { findSubjectsOfRequests, holdConsents } from './consent.sql';

/** How a call names a request: by user and guild, by the id of the request, or by both. */
export type NamesRequest = Pick<AcceptConsent, 'user_id' | 'guild_id' | 'consent_id' | 'consent_version'>;

/** A call that names a request. */
export interface NamingCall {
  readonly botId: string;
  readonly input: NamesRequest;
}

/** What a call addresses. */
export interface Addressed {
  readonly subject: Subject | undefined;
  readonly consent: Consent | null;
}

/** Finds the request that a call names. */
@Injectable()
export class NamedRequests {
  constructor(
    private readonly digests: SubjectDigests,
    private readonly keys: SubjectKeys,
  ) {}

  /** What calls address: subjects, undefined for an unknown request, and their consents, locked as by {@link holdConsents}. */
  async hold(tx: Tx, given: readonly NamingCall[]): Promise<Addressed[]> {
    const subjects = await this.subjects(tx, given);
    const known = subjects.filter((subject) => subject !== undefined);
    const [consents] = await Promise.all([
      holdConsents(tx, known, given.length === 1),
      this.keys.prefetch(tx, known),
    ]);
    const found = consents.values();
    return subjects.map((subject) => {
      return { subject, consent: subject === undefined ? null : (found.next().value ?? null) };
    });
  }

  private async subjects(tx: Tx, given: readonly NamingCall[]): Promise<(Subject | undefined)[]> {
    const byId = given.flatMap(({ botId, input: { consent_id: id } }) =>
      id == null ? [] : [{ botId, id: id.toLowerCase() }],
    );
    const found = (byId.length > 0 ? await findSubjectsOfRequests(tx, byId) : []).values();
    return given.map(({ botId, input }) => {
      if (input.consent_id != null) return found.next().value;
      const { user_id = '', guild_id = '' } = input;
      return this.digests.named(botId, { user_id, guild_id });
    });
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
  async named(tx: Tx, consent: Subject, { user_id, guild_id }: NamesRequest): Promise<NamedSubject> {
    if (user_id != null && guild_id != null) return { ...subjectOf(consent), ids: { user_id, guild_id } };
    return { ...subjectOf(consent), ids: (await this.keys.inForce(tx, consent))?.ids ?? ERASED_IDS };
  }
}
