import { Injectable } from '@nestjs/common';
import type { Tx } from '@app/database';
import { encryptedBy } from './encryption-key';
import { UnreadableSecretError } from './aead';
import type { Subject } from './subject';
import { SubjectKeys } from './subject-keys';

/**
 * Encrypts the texts of a module with the key of their subject (GDPR Art. 32(1)(a)). An erasure destroys the key, so the
 * texts become unreadable in every backup too. A text is bound to its subject, its `table` and the `id` of its row: moved
 * elsewhere, it cannot be decrypted. A table with two such columns gives each its own name, such as `notes.title`.
 */
@Injectable()
export class SubjectTexts {
  constructor(private readonly keys: SubjectKeys) {}

  /** The text to store, about 60 characters and a third longer. The unit holds the consent of the subject. */
  async encrypt(tx: Tx, subject: Subject, table: string, id: string, text: string): Promise<string> {
    return (await this.keys.forWriting(tx, subject)).encrypt(text, contextOfText(subject, table, id));
  }

  /**
   * The text of a committed row; undefined once the key of the subject was destroyed.
   * @throws UnreadableSecretError for a text that was changed, moved or never encrypted
   */
  async decrypt(subject: Subject, table: string, id: string, text: string): Promise<string | undefined> {
    return (await this.decryptAll(subject, table, [{ id, text }]))[0];
  }

  /** {@link decrypt} for many rows of one subject, in their order. */
  async decryptAll(
    subject: Subject,
    table: string,
    rows: readonly { readonly id: string; readonly text: string }[],
  ): Promise<(string | undefined)[]> {
    const key = rows.length === 0 ? undefined : await this.keys.find(subject);
    return rows.map(({ id, text }) => {
      const by = encryptedBy(text);
      if (by === undefined) throw new UnreadableSecretError();
      return by === key?.id ? key.decrypt(text, contextOfText(subject, table, id)) : undefined;
    });
  }
}

/** Begins unlike the contexts of Lethe's own tables, so that no module can decrypt a text of theirs. */
function contextOfText({ botId, guildId, userId }: Subject, table: string, id: string): string {
  return `module/${table}/${botId}/${guildId}/${userId}/${id}`;
}
