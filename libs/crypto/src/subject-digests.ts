import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Subject } from '@app/database';
import { ServiceKeys } from './service-keys';

const MARK = '~';
/** 108 bits: no two are ever the same by chance, and they fit where an id stands. */
const LENGTH = 18;

/**
 * Keyed digests in the place of ids. Whoever knows an id finds what stands under its digest; whoever has the database
 * but not its keys cannot try out the few ids that there are, which an unkeyed digest would allow.
 */
@Injectable()
export class SubjectDigests {
  constructor(private readonly keys: ServiceKeys) {}

  of(botId: string, kind: 'user' | 'guild' | 'subject', value: string): string {
    const digest = createHmac('sha256', this.keys.digest).update(`${kind}/${botId}/${value}`);
    return MARK + digest.digest('base64url').slice(0, LENGTH);
  }

  /** The subject with its ids replaced. */
  digested({ botId, guildId, userId }: Subject): Subject {
    return { botId, guildId: this.of(botId, 'guild', guildId), userId: this.of(botId, 'user', userId) };
  }

  /** One digest for the whole of a subject. */
  subject({ botId, guildId, userId }: Subject): string {
    return this.of(botId, 'subject', `${guildId}/${userId}`);
  }
}

/** Whether a digest stands in the place of an id. */
export function isDigest(id: string): boolean {
  return id.startsWith(MARK);
}
