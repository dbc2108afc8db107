import { Injectable } from '@nestjs/common';
import {
  HoldsSubjectData,
  type Subject,
  type SubjectDataHolder,
  type SubjectExport,
  type Tx,
} from '@app/database';

/** Which deliveries name the subject; a `user_forgotten` that still has to reach the bot is the erasure itself. */
const OF_SUBJECT = 'bot_id = ? AND user_id = ? AND guild_id = ?';
const ERASABLE = `${OF_SUBJECT} AND NOT (event = 'user_forgotten' AND status = 'pending')`;

/**
 * What webhook calls name a subject: exported in full, and erased with the subject, but for the calls that tell the
 * bot of an erasure and are not confirmed or given up yet.
 */
@HoldsSubjectData()
@Injectable()
export class DeliveryData implements SubjectDataHolder {
  readonly tables = ['webhook_deliveries'];

  async export(tx: Tx, { botId, userId, guildId }: Subject, full: boolean): Promise<SubjectExport> {
    if (!full) return {};
    const deliveries = await tx.all<object>(
      `SELECT id, event, status, created_at FROM webhook_deliveries WHERE ${OF_SUBJECT} ORDER BY id`,
      ...[botId, userId, guildId],
    );
    return deliveries.length === 0 ? {} : { full: { webhook_deliveries: deliveries } };
  }

  async erase(tx: Tx, { botId, userId, guildId }: Subject): Promise<readonly string[]> {
    // The bot first, as everywhere: the event of the erasure will refer to it. A change of its URL has not to wait.
    await tx.get('SELECT 1 FROM bots WHERE id = ? FOR KEY SHARE', botId);
    const erased = await tx.all<{ id: string }>(
      // In the order of the ids, by an expression: for the column itself SQLite would walk all deliveries of the bot.
      `SELECT id FROM webhook_deliveries WHERE ${ERASABLE} ORDER BY id || '' FOR UPDATE`,
      ...[botId, userId, guildId],
    );
    for (const { id } of erased) {
      await tx.run('DELETE FROM webhook_attempts WHERE bot_id = ? AND delivery_id = ?', botId, id);
      await tx.run('DELETE FROM webhook_deliveries WHERE bot_id = ? AND id = ?', botId, id);
    }
    return [];
  }
}
