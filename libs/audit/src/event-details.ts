import { Injectable } from '@nestjs/common';
import { InstallationKeys, type StoredKey, type SubjectKey, SubjectKeys } from '@app/crypto';
import type { Tx } from '@app/database';
import { detailsContext, openDetails, type StoredDetails } from '@app/primitives';
import type { Subject } from '@app/subjects';

/** Encrypts and decrypts event details: with the subject key, or after an erasure with the installation key. */
@Injectable()
export class EventDetails {
  constructor(
    private readonly keys: SubjectKeys,
    private readonly service: InstallationKeys,
  ) {}

  /** Creates the missing keys of several subjects, in as few statements as the engine allows. */
  async prepare(tx: Tx, subjects: readonly Subject[]): Promise<void> {
    await this.keys.allForWriting(tx, subjects);
  }

  /** The key that decrypts the details of a subject's events; undefined once it is destroyed. */
  keyOf(subject: Subject): Promise<SubjectKey | undefined> {
    return this.keys.find(subject);
  }

  async encrypt(tx: Tx, subject: Subject, id: string, details: object | null): Promise<string | null> {
    if (details === null) return null;
    const { botId, guildId, userId } = subject;
    const key = await this.keys.forWriting(tx, subject);
    return key.encrypt(JSON.stringify(details), detailsContext(botId, guildId, userId, id));
  }

  /** Encrypts the details of an event about an erased subject; they must not name that subject. */
  encryptErased({ botId, guildId, userId }: Subject, id: string, details: object): string {
    return this.service.installation.encrypt(
      JSON.stringify(details),
      detailsContext(botId, guildId, userId, id),
    );
  }

  /** {@link openDetails} with a subject key that is read already. */
  decrypt(botId: string, stored: StoredDetails, key: SubjectKey | StoredKey | undefined): string | null {
    const subject = { botId, guildId: stored.guild_id, userId: stored.user_id };
    const opening =
      key === undefined || !('sealed' in key)
        ? key
        : {
            id: key.id,
            decrypt: (text: string, at: string) => this.keys.open(subject, key).decrypt(text, at),
          };
    return openDetails(botId, stored, this.service.installation, opening);
  }
}
