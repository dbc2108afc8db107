import { lockBot } from '@app/bots';
import { eachOf, type Tx } from '@app/database';
import { HoldsSubjectData, type Subject, type SubjectDataHolder, type SubjectExport } from '@app/subjects';

import { Injectable } from '@nestjs/common';

/** Deliveries read at once where all of a subject are asked for. */
const BATCH = 100;

/** Finds the deliveries that name the subject. An unconfirmed `user_forgotten` belongs to the erasure itself. */
const OF_SUBJECT = 'bot_id = ? AND user_id = ? AND guild_id = ?';
const ERASABLE = `${OF_SUBJECT} AND NOT (event = 'user_forgotten' AND status = 'pending')`;

/**
 * The deliveries that name a subject: exported in full and erased with the subject, except for calls about an erasure
 * that are neither confirmed nor given up.
 */
@HoldsSubjectData()
@Injectable()
export class DeliveryData implements SubjectDataHolder {
  readonly tables = ['webhook_deliveries'];

  async export(tx: Tx, subject: Subject, full: boolean): Promise<SubjectExport> {
    return full ? { full: { webhook_deliveries: deliveriesOf(tx, subject) } } : {};
  }

  async erase(tx: Tx, subject: Subject): Promise<readonly string[]> {
    const { botId, userId, guildId } = subject;
    // The bot first, as everywhere: the event of the erasure will refer to it. A change of its URL has not to wait.
    await lockBot(tx, botId, 'KEY SHARE');
    const erased = await tx.all<{ id: string }>(
      // Ordered by an expression: for the column itself SQLite would read all deliveries of the bot.
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

/** The deliveries about the subject with their outcomes, oldest first, read in batches. */
function deliveriesOf(tx: Tx, { botId, userId, guildId }: Subject): AsyncGenerator<object> {
  return eachOf(BATCH, (after?: { id: string }) =>
    tx.all<{ id: string }>(
      `SELECT id, event, status, created_at, finished_at FROM webhook_deliveries WHERE ${OF_SUBJECT} AND id > ?
       ORDER BY id LIMIT ${BATCH}`,
      ...[botId, userId, guildId, after?.id ?? ''],
    ),
  );
}
