import { Injectable } from '@nestjs/common';
import { sealedBy, ServiceKeys, type StoredKey, type SubjectKey, SubjectKeys } from '@app/crypto';
import type { Subject, Tx } from '@app/database';

/** Where the details of an event stand, and what stands there. */
export interface StoredDetails {
  readonly id: string;
  readonly guild_id: string;
  readonly user_id: string;
  readonly details: string | null;
}

/** The details of events: sealed with the key of their subject, or after its erasure with the installation's own. */
@Injectable()
export class EventDetails {
  constructor(
    private readonly keys: SubjectKeys,
    private readonly service: ServiceKeys,
  ) {}

  /** Makes sure of the keys of several subjects by as few statements as the engine can. */
  async prepare(tx: Tx, subjects: readonly Subject[]): Promise<void> {
    await this.keys.allForWriting(tx, subjects);
  }

  /** What the details of a subject's events are opened with; undefined once it was destroyed. */
  keyOf(subject: Subject): Promise<SubjectKey | undefined> {
    return this.keys.find(subject);
  }

  async seal(tx: Tx, subject: Subject, id: string, details: object | null): Promise<string | null> {
    if (details === null) return null;
    return this.sealText(await this.keys.forWriting(tx, subject), subject, id, JSON.stringify(details));
  }

  /** {@link seal} of what is JSON text already, as it stands there. */
  sealText(key: SubjectKey, subject: Subject, id: string, text: string): string {
    return key.seal(text, contextOf(subject, id));
  }

  /** Of an event about somebody who is erased by then: they may not tell who that was. */
  sealErased(subject: Subject, id: string, details: object): string {
    return this.service.evidence.seal(JSON.stringify(details), contextOf(subject, id));
  }

  /** As they were given, as JSON text; null for none, and where the key was destroyed. */
  open(botId: string, stored: StoredDetails, key: SubjectKey | StoredKey | undefined): string | null {
    const { id, guild_id: guildId, user_id: userId, details } = stored;
    if (details === null) return null;
    const by = sealedBy(details);
    // Written before there were keys.
    if (by === undefined) return details;
    const subject = { botId, guildId, userId };
    const context = contextOf(subject, id);
    if (by === this.service.evidence.id) return this.service.evidence.open(details, context);
    if (key?.id !== by) return null;
    const opened = 'sealed' in key ? this.keys.open(subject, key) : key;
    return opened.open(details, context);
  }
}

function contextOf({ botId, guildId, userId }: Subject, id: string): string {
  return `audit_events/${botId}/${guildId}/${userId}/${id}`;
}
