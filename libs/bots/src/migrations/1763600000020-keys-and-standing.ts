import { addColumn, integer, nullable, text, time } from '@app/database';
import { StartError } from '@app/kernel';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The scopes, the expiry and the last use of a key; the tier of a bot, and its suspension by the operator. */
export class KeysAndStanding1763600000020 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Every key that exists has all four scopes.
    await addColumn(runner, 'api_keys', 'scopes', { ...integer, default: 15 });
    for (const column of ['expires_at', 'rotated_at', 'last_used_at'])
      await addColumn(runner, 'api_keys', column, nullable(time));
    await addColumn(runner, 'bots', 'tier', nullable(text));
    for (const column of ['suspended_at', 'resumed_at'])
      await addColumn(runner, 'bots', column, nullable(time));
  }

  /** @throws StartError when a key or a bot would be allowed more than before */
  async down(runner: QueryRunner): Promise<void> {
    const restricted = (await runner.query(
      `SELECT 1 FROM api_keys WHERE scopes <> 15 OR expires_at IS NOT NULL
       UNION ALL SELECT 1 FROM bots WHERE suspended_at IS NOT NULL LIMIT 1`,
    )) as unknown[];
    if (restricted.length > 0)
      throw new StartError(
        'A bot is suspended, or an API key has an expiry or not all scopes: without these columns they would be allowed more. Nothing was changed.',
      );
    for (const column of ['resumed_at', 'suspended_at', 'tier'])
      await runner.query(`ALTER TABLE bots DROP COLUMN ${column}`);
    for (const column of ['last_used_at', 'rotated_at', 'expires_at', 'scopes'])
      await runner.query(`ALTER TABLE api_keys DROP COLUMN ${column}`);
  }
}
