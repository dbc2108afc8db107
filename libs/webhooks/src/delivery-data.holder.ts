import { lockBot } from '@app/bots';
import { eachOf, type Tx } from '@app/database';
import {
  amongSubjects,
  HoldsSubjectData,
  type Subject,
  type SubjectDataHolder,
  type SubjectExport,
} from '@app/crypto';
import { Injectable } from '@nestjs/common';

/** Deliveries that an export reads at once. */
const BATCH = 100;
/** A call about an erasure that waits, also for a URL, belongs to the erasure itself. */
const ERASABLE = `NOT (request_id IS NOT NULL AND status IN ('pending', 'cancelled'))`;

/**
 * The deliveries that name a subject: exported in full and erased with the subject, except for calls about an erasure
 * that wait to be sent.
 */
@HoldsSubjectData()
@Injectable()
export class DeliveryData implements SubjectDataHolder {
  readonly tables = ['webhook_deliveries'];
  readonly erasable = { webhook_deliveries: ERASABLE };

  async export(tx: Tx, subject: Subject, full: boolean): Promise<SubjectExport> {
    return full ? { full: { webhook_deliveries: deliveriesOf(tx, subject) } } : {};
  }

  async erase(tx: Tx, subjects: readonly Subject[]): Promise<readonly []> {
    const among = amongSubjects(tx, subjects);
    const erasable = `${among.sql} AND ${ERASABLE}`;
    const attempts = `DELETE FROM webhook_attempts
      WHERE (bot_id, delivery_id) IN (SELECT bot_id, id FROM webhook_deliveries WHERE ${erasable})`;
    // Sent in this order: no status changes between the two removals.
    await Promise.all([
      this.lock(tx, subjects),
      tx.run(attempts, ...among.values),
      tx.run(`DELETE FROM webhook_deliveries WHERE ${erasable}`, ...among.values),
    ]);
    return [];
  }

  /**
   * Locks the bots first, as everywhere, since the event of the erasure will refer to them, and then the deliveries. A
   * change of a URL has not to wait. On SQLite units run one after the other.
   */
  private async lock(tx: Tx, subjects: readonly Subject[]): Promise<void> {
    if (tx.engine === 'sqlite') return;
    const among = amongSubjects(tx, subjects);
    const bots = [...new Set(subjects.map(({ botId }) => botId))].sort();
    const locked = `SELECT 1 FROM webhook_deliveries WHERE ${among.sql} ORDER BY bot_id, id FOR UPDATE`;
    await Promise.all([
      ...bots.map((botId) => lockBot(tx, botId, 'KEY SHARE')),
      tx.all(`SELECT count(*) FROM (${locked}) AS locked`, ...among.values),
    ]);
  }
}

/** The deliveries about the subject with their outcomes, oldest first, read in batches. */
function deliveriesOf(tx: Tx, { botId, userId, guildId }: Subject): AsyncGenerator<object> {
  return eachOf(BATCH, (after?: { id: string }) =>
    tx.all<{ id: string }>(
      `SELECT id, event, status, created_at, finished_at FROM webhook_deliveries
       WHERE bot_id = ? AND user_id = ? AND guild_id = ? AND id > ? ORDER BY id LIMIT ${BATCH}`,
      ...[botId, userId, guildId, after?.id ?? ''],
    ),
  );
}
