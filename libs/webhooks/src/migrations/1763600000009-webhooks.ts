import { createBotTable, id, integer, nullable, primary, digest, text, time, varchar } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The outbox of webhook calls with every attempt, the health of each receiver, and unfinished changes of URLs. */
export class Webhooks1763600000009 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'webhook_deliveries',
      large: true,
      columns: {
        bot_id: primary(id),
        id: primary(id),
        event: varchar(32),
        request_id: nullable(id),
        guild_id: nullable(digest),
        user_id: nullable(digest),
        payload: text,
        status: varchar(16),
        attempts: integer,
        retries: integer,
        next_attempt_at: time,
        give_up_at: time,
        locked_by: nullable(id),
        locked_until: nullable(time),
        last_outcome: nullable(text),
        last_status: nullable(integer),
        created_at: time,
        finished_at: nullable(time),
      },
      indices: [
        { columnNames: ['bot_id', 'next_attempt_at'], where: `"status" = 'pending'` },
        { columnNames: ['bot_id', 'status', 'id'] },
        { columnNames: ['bot_id', 'user_id', 'id', 'guild_id'] },
      ],
    });
    await createBotTable(runner, {
      name: 'webhook_attempts',
      large: true,
      columns: {
        bot_id: primary(id),
        delivery_id: primary(id),
        number: primary(integer),
        started_at: time,
        duration_ms: integer,
        outcome: text,
        status: nullable(integer),
      },
    });
    await createBotTable(runner, {
      name: 'webhook_health',
      columns: {
        bot_id: primary(id),
        failures: integer,
        last_outcome: text,
        last_delivered_at: nullable(time),
        last_failed_at: nullable(time),
      },
    });
    await createBotTable(runner, {
      name: 'webhook_url_changes',
      columns: {
        bot_id: primary(id),
        after_id: id,
      },
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['webhook_url_changes', 'webhook_health', 'webhook_attempts', 'webhook_deliveries'])
      await runner.dropTable(table);
  }
}
