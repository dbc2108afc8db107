import { Injectable } from '@nestjs/common';
import {
  ERASED_IDS,
  type NamedSubject,
  type Subject,
  SubjectDigests,
  SubjectKeys,
  subjectOf,
} from '@app/crypto';
import type { Tx } from '@app/database';
import { notFound } from '@app/kernel';
import { type ConsentAsked, pendingRequest } from './consent-changes';
import type { AcceptConsent } from './consent.dto';
import type { Consent } from './consent.entity';
import { findSubjectsOfRequests, holdConsents } from './consent.sql';

/** How a call names a request: by user and guild, by the id of the request, or by both. */
type NamesRequest = Pick<AcceptConsent, 'user_id' | 'guild_id' | 'consent_id' | 'consent_version'>;

/** A call that names a request. */
interface NamingCall {
  readonly botId: string;
  readonly input: NamesRequest;
}

/** What a call addresses. */
export interface Addressed {
  /** undefined for an unknown request. */
  readonly subject: Subject | undefined;
  readonly consent: Consent | null;
  /** Whether the ids of user and guild, if the call gives them beside the id of the request, are the ones of the subject. */
  readonly agrees: boolean;
}

/** Finds the requests that calls name. */
@Injectable()
export class NamedRequests {
  constructor(
    private readonly digests: SubjectDigests,
    private readonly keys: SubjectKeys,
  ) {}

  /** What calls address, with the consents locked as by {@link holdConsents}. */
  async hold(tx: Tx, given: readonly NamingCall[]): Promise<Addressed[]> {
    const subjects = await this.subjects(tx, given);
    const known = subjects.filter((subject) => subject !== undefined);
    const [consents] = await Promise.all([
      holdConsents(tx, known, given.length === 1),
      this.keys.prefetch(tx, known),
    ]);
    const found = consents.values();
    return given.map(({ input }, at) => {
      const subject = subjects[at];
      if (subject === undefined) return { subject, consent: null, agrees: false };
      return { subject, consent: found.next().value ?? null, agrees: this.agrees(subject, input) };
    });
  }

  /** The subject of a consent with its ids, which the call need not name. */
  async named(tx: Tx, consent: Subject, input: NamesRequest): Promise<NamedSubject> {
    const subject = subjectIn(consent, input);
    if ('ids' in subject) return subject;
    return { ...subject, ids: (await this.keys.inForce(tx, consent))?.ids ?? ERASED_IDS };
  }

  private async subjects(tx: Tx, given: readonly NamingCall[]): Promise<(Subject | undefined)[]> {
    const byId = given.flatMap(({ botId, input: { consent_id: id, user_id, guild_id } }) =>
      id == null || (user_id != null && guild_id != null) ? [] : [{ botId, id: id.toLowerCase() }],
    );
    const found = (byId.length > 0 ? await findSubjectsOfRequests(tx, byId) : []).values();
    return given.map(({ botId, input: { consent_id: id, user_id, guild_id } }) => {
      // A refusal then says what the consent of this user is, whatever the id is.
      if (user_id != null && guild_id != null) return this.digests.named(botId, { user_id, guild_id });
      return id == null ? undefined : found.next().value;
    });
  }

  private agrees(
    { botId, userId, guildId }: Subject,
    { consent_id, user_id, guild_id }: NamesRequest,
  ): boolean {
    // Without an id the subject was found by its user and guild.
    if (consent_id == null) return true;
    return (
      (user_id == null || this.digests.user(botId, user_id) === userId) &&
      (guild_id == null || this.digests.guild(botId, guild_id) === guildId)
    );
  }
}

/** The subject of a consent that a call names, with its ids if the call gives both. */
export function subjectIn(consent: Subject, { user_id, guild_id }: NamesRequest): Subject | NamedSubject {
  const subject = subjectOf(consent);
  return user_id == null || guild_id == null ? subject : { ...subject, ids: { user_id, guild_id } };
}

/** Whether a request is the one that a call names; all given parts have to agree. */
export function isNamed(
  { id, version }: Pick<ConsentAsked, 'id' | 'version'>,
  { agrees }: Addressed,
  { consent_id, consent_version }: NamesRequest,
): boolean {
  if (consent_version != null && consent_version !== version) return false;
  return agrees && (consent_id == null || consent_id.toLowerCase() === id);
}

/** The request that waits and that the call names. @throws ApiError 404 without one */
export function waitingRequest(
  addressed: Addressed,
  input: NamesRequest,
): { readonly consent: Consent; readonly request: ConsentAsked } {
  const { consent } = addressed;
  const request = consent === null ? undefined : pendingRequest(consent);
  if (consent === null || request === undefined || !isNamed(request, addressed, input))
    throw notFound('Consent request', { current_status: consent?.status ?? 'none' });
  return { consent, request };
}
