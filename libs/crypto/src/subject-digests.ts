import { Injectable } from '@nestjs/common';
import { type Digest, DigestKey } from '@app/primitives';
import type { NamedSubject, SubjectIds } from '@app/subjects';
import { InstallationKeys } from './installation-keys';

/**
 * Keyed digests in the place of the ids of users and guilds (GDPR Art. 4(5)). With the ids the rows of a person are
 * found. Without the ids, or without the key of the installation, the person is not.
 */
@Injectable()
export class SubjectDigests {
  private readonly key: DigestKey;

  constructor(keys: InstallationKeys) {
    this.key = new DigestKey(keys.digest);
  }

  /** The subject that a request names. */
  named(botId: string, { guild_id, user_id }: SubjectIds): NamedSubject {
    const ids = { guild_id, user_id };
    return { botId, guildId: this.guild(botId, guild_id), userId: this.user(botId, user_id), ids };
  }

  user(botId: string, userId: string): Digest {
    return this.key.of(botId, 'user', userId);
  }

  guild(botId: string, guildId: string): Digest {
    return this.key.of(botId, 'guild', guildId);
  }
}
