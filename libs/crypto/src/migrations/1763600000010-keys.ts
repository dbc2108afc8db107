import {
  createKeyTable,
  id,
  integer,
  isPostgres,
  type KeysMigration,
  nullable,
  primary,
  snowflake,
  text,
  time,
  varchar,
} from '@app/database';
import { StartError } from '@app/kernel';

import type { QueryRunner } from 'typeorm';

const TABLES = ['subject_keys', 'service_keys', 'erasure_ledger'];

/** The keys of the subjects and of the installation, and the ledger of erasures. */
export class Keys1763600000010 implements KeysMigration {
  readonly isOfKeys = true;

  async up(runner: QueryRunner): Promise<void> {
    await createKeyTable(runner, {
      name: 'subject_keys',
      columns: {
        bot_id: primary(id),
        guild_id: primary(snowflake),
        user_id: primary(snowflake),
        id: varchar(32),
        sealed: text,
        created_at: time,
      },
    });
    await createKeyTable(runner, {
      name: 'service_keys',
      columns: {
        name: primary(varchar(32)),
        id: primary(varchar(64)),
        sealed: text,
        public_part: nullable(text),
        created_at: time,
        retired_at: nullable(time),
      },
    });
    await createKeyTable(runner, {
      name: 'erasure_ledger',
      columns: {
        bot_id: primary(id),
        request_id: primary(id),
        subject: varchar(20),
        key_id: nullable(varchar(32)),
        erased_at: time,
        place: nullable(integer),
        chain: nullable(text),
      },
    });
  }

  /** @throws StartError when any table holds a row, since stored data cannot be read without its keys */
  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      const found = (await runner.query(`SELECT 1 FROM keys.${table} LIMIT 1`)) as unknown[];
      if (found.length > 0)
        throw new StartError(
          `keys.${table} is not empty: without it no stored data can be read. Nothing was changed; to begin anew, use another database.`,
        );
    }
    for (const table of TABLES) await runner.query(`DROP TABLE keys.${table}`);
    if (isPostgres(runner)) await runner.query('DROP SCHEMA keys');
  }
}
