import { Injectable } from '@nestjs/common';
import { SubjectDigests, SubjectKeys } from '@app/crypto';
import type { Tx } from '@app/database';
import { Clock } from '@app/kernel';
import type { Subject } from '@app/subjects';

/**
 * What an erasure begins with and cannot take back: the subject's key goes, and the ledger says so. The ledger stands
 * beside the keys, apart from the data: data that is restored from a backup is erased anew by it.
 */
@Injectable()
export class KeyDestruction {
  constructor(
    private readonly keys: SubjectKeys,
    private readonly digests: SubjectDigests,
    private readonly clock: Clock,
  ) {}

  /** Does both inside `tx`; that it was done already is success. */
  async destroy(tx: Tx, subject: Subject, requestId: string): Promise<void> {
    const { botId } = subject;
    const keyId = await this.keys.idOf(tx, subject);
    if (keyId !== undefined) {
      await tx.run(
        'UPDATE deletion_requests SET key_id = ? WHERE bot_id = ? AND id = ?',
        keyId,
        botId,
        requestId,
      );
    }
    await tx.run(
      `INSERT INTO keys.erasure_ledger (bot_id, request_id, subject, key_id, erased_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
      ...[botId, requestId, this.digests.subject(subject), keyId ?? null, this.clock.nowIso()],
    );
    await this.keys.destroy(tx, subject);
  }

  /** Whether something was stored about the subject since, and sealed with a new key. */
  async isUndone(tx: Tx, subject: Subject): Promise<boolean> {
    return (await this.keys.idOf(tx, subject)) !== undefined;
  }

  /** Whether the subject had been erased by this request before the request was made: in data that a backup brought back. */
  async wasDoneBefore(tx: Tx, botId: string, requestId: string, createdAt: string): Promise<boolean> {
    const sql = 'SELECT 1 FROM keys.erasure_ledger WHERE bot_id = ? AND request_id = ? AND erased_at < ?';
    return (await tx.get(sql, botId, requestId, createdAt)) !== undefined;
  }
}
