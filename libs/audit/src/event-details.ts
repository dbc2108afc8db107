import { Injectable } from '@nestjs/common';
import { InstallationKeys, type SubjectKey, SubjectKeys } from '@app/crypto';
import type { Tx } from '@app/database';
import { detailsContext, openDetails, type StoredDetails } from '@app/primitives';
import { ERASED_IDS, type Subject, type SubjectIds } from '@app/subjects';

/** Encrypts and decrypts event details: with the subject key, or with the installation key for an event about an erasure. */
@Injectable()
export class EventDetails {
  constructor(
    private readonly keys: SubjectKeys,
    private readonly service: InstallationKeys,
  ) {}

  /** On PostgreSQL creates the missing keys of several subjects, in as few statements as possible. */
  async prepare(tx: Tx, subjects: readonly Subject[]): Promise<void> {
    if (tx.engine === 'postgres') await this.keys.allForWriting(tx, subjects);
  }

  /** The encrypted details, and the ids of the subject. */
  async encrypt(
    tx: Tx,
    subject: Subject,
    id: string,
    details: object | null,
  ): Promise<{ readonly text: string; readonly ids: SubjectIds }> {
    const key = await this.keys.forWriting(tx, subject);
    return { text: key.encrypt(JSON.stringify(details), contextOf(subject, id)), ids: key.ids ?? ERASED_IDS };
  }

  /** Encrypts the details of an event about an erased subject; they must not name that subject. */
  encryptErased(subject: Subject, id: string, details: object): string {
    return this.service.installation.encrypt(JSON.stringify(details), contextOf(subject, id));
  }

  /**
   * The details as JSON text; undefined once they are erased.
   * @throws UnreadableSecretError for details that were changed, or whose key is lost
   */
  decrypt(botId: string, stored: StoredDetails, key: SubjectKey | undefined): string | undefined {
    return openDetails(botId, stored, this.service.installation, key);
  }
}

function contextOf({ botId, guildId, userId }: Subject, id: string): string {
  return detailsContext(botId, guildId, userId, id);
}
