import { Injectable } from '@nestjs/common';
import type { Tx } from '@app/database';
import {
  HoldsSubjectData,
  type Subject,
  SUBJECT_WHERE,
  type SubjectDataHolder,
  type SubjectExport,
} from '@app/subjects';

/**
 * The stored answers about a subject. They repeat what the holders of consents, values and events export. After an
 * erasure the digest of the key is left, so that a late repeat is not taken for a new request.
 */
@Injectable()
@HoldsSubjectData()
export class IdempotencyKeysHolder implements SubjectDataHolder {
  readonly tables = ['idempotency_keys'];

  export(): Promise<SubjectExport> {
    return Promise.resolve({});
  }

  async erase(tx: Tx, { botId, guildId, userId }: Subject): Promise<readonly string[]> {
    await tx.run(
      `UPDATE idempotency_keys SET request = '', guild_id = NULL, user_id = NULL, answer = NULL WHERE ${SUBJECT_WHERE}`,
      ...[botId, guildId, userId],
    );
    return [];
  }
}
