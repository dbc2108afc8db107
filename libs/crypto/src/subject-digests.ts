import { Injectable } from '@nestjs/common';
import { keyedDigest } from '@app/primitives';
import type { Subject } from '@app/subjects';
import { InstallationKeys } from './installation-keys';

/**
 * Keyed digests in the place of ids. With the ids an erased person can be recognised; without them the person cannot be
 * found.
 */
@Injectable()
export class SubjectDigests {
  constructor(private readonly keys: InstallationKeys) {}

  of(botId: string, kind: 'user' | 'guild' | 'subject', value: string): string {
    return keyedDigest(this.keys.digest, botId, kind, value);
  }

  /** The subject with digests in place of its ids. */
  digested({ botId, guildId, userId }: Subject): Subject {
    return { botId, guildId: this.of(botId, 'guild', guildId), userId: this.of(botId, 'user', userId) };
  }

  /** One digest of the whole subject. */
  subject({ botId, guildId, userId }: Subject): string {
    return this.of(botId, 'subject', `${guildId}/${userId}`);
  }
}
