import { Injectable } from '@nestjs/common';
import { InstallationKeys, type StoredKey, type SubjectKey, SubjectKeys } from '@app/crypto';
import type { Tx } from '@app/database';
import { detailsContext, openDetails, type StoredDetails } from '@app/primitives';
import type { Subject } from '@app/subjects';

/** The details of events: sealed with the key of their subject, or after its erasure with the installation's own. */
@Injectable()
export class EventDetails {
  constructor(
    private readonly keys: SubjectKeys,
    private readonly service: InstallationKeys,
  ) {}

  /** Makes sure of the keys of several subjects by as few statements as the engine can. */
  async prepare(tx: Tx, subjects: readonly Subject[]): Promise<void> {
    await this.keys.allForWriting(tx, subjects);
  }

  /** What the details of a subject's events are opened with; undefined once it was destroyed. */
  keyOf(subject: Subject): Promise<SubjectKey | undefined> {
    return this.keys.find(subject);
  }

  async encrypt(tx: Tx, subject: Subject, id: string, details: object | null): Promise<string | null> {
    if (details === null) return null;
    const { botId, guildId, userId } = subject;
    const key = await this.keys.forWriting(tx, subject);
    return key.encrypt(JSON.stringify(details), detailsContext(botId, guildId, userId, id));
  }

  /** Of an event about somebody who is erased by then: they may not tell who that was. */
  encryptErased({ botId, guildId, userId }: Subject, id: string, details: object): string {
    return this.service.installation.encrypt(
      JSON.stringify(details),
      detailsContext(botId, guildId, userId, id),
    );
  }

  /** {@link openDetails} with the key of the subject as it was read. */
  decrypt(botId: string, stored: StoredDetails, key: SubjectKey | StoredKey | undefined): string | null {
    const subject = { botId, guildId: stored.guild_id, userId: stored.user_id };
    // Opened where it is needed alone.
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
