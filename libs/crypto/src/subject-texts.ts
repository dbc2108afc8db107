import { Injectable } from '@nestjs/common';
import type { Tx } from '@app/database';
import { encryptedBy } from './encryption-key';
import { ifReadable, unlessDamaged, UnreadableSecretError } from './aead';
import type { Subject } from './subject';
import { requireReadable } from './subject-data';
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
   * The text of a row; undefined once the key of the subject was destroyed. Without a `tx`, that of a committed row.
   * @throws UnreadableSecretError for a text that was changed, moved or never encrypted
   */
  async decrypt(
    tx: Tx | undefined,
    subject: Subject,
    table: string,
    id: string,
    text: string,
  ): Promise<string | undefined> {
    const by = encryptedBy(text);
    if (by === undefined) throw new UnreadableSecretError();
    const key = await this.keys.find(subject, tx);
    return by === key?.id ? key.decrypt(text, contextOfText(subject, table, id)) : undefined;
  }

  /**
   * The texts of rows of one subject, in their order: all of them, as an export has them.
   * @throws ApiError 500 that names the data as `name`, where one cannot be decrypted
   */
  async decryptAll(
    tx: Tx,
    subject: Subject,
    table: string,
    rows: readonly { readonly id: string; readonly text: string }[],
    name: string,
  ): Promise<string[]> {
    const key = rows.length === 0 ? undefined : await this.keys.find(subject, tx).catch(unlessDamaged);
    const texts = rows
      .map(({ id, text }) => ifReadable(() => key?.decrypt(text, contextOfText(subject, table, id))))
      .filter((text) => text !== undefined);
    requireReadable(texts.length === rows.length ? [] : [name]);
    return texts;
  }
}

/** Begins unlike the contexts of Lethe's own tables, so that no module can decrypt a text of theirs. */
function contextOfText({ botId, guildId, userId }: Subject, table: string, id: string): string {
  return `module/${table}/${botId}/${guildId}/${userId}/${id}`;
}
