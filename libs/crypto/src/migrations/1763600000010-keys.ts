import {
  createKeyTable,
  id,
  integer,
  isPostgres,
  type KeysMigration,
  nullable,
  primary,
  digest,
  text,
  time,
  varchar,
} from '@app/database';
import { StartError } from '@app/kernel';

import type { QueryRunner } from 'typeorm';

const TABLES = ['subject_keys', 'service_keys', 'erasure_ledger'];

/** The id of a slot without a key, as long as every id. */
const FREE = '............';

/**
 * SQLite moves rows between pages and leaves copies behind. A stored key never moves: rows are only appended and
 * overwritten, all of one length, and a destroyed key is overwritten in its place. A later key takes the free slot.
 */
const SLOTS = [
  `CREATE TABLE IF NOT EXISTS keys.key_slots (slot INTEGER PRIMARY KEY, id TEXT NOT NULL, sealed TEXT NOT NULL)`,
  `CREATE INDEX IF NOT EXISTS keys.ix_key_slots_id ON key_slots (id)`,
  `CREATE VIEW IF NOT EXISTS keys.subject_keys AS SELECT id, sealed FROM key_slots WHERE id <> '${FREE}'`,
  `CREATE TRIGGER IF NOT EXISTS keys.subject_keys_insert INSTEAD OF INSERT ON subject_keys
   WHEN NOT EXISTS (SELECT 1 FROM key_slots WHERE id = NEW.id) BEGIN
     UPDATE key_slots SET id = NEW.id, sealed = NEW.sealed
     WHERE slot = (SELECT slot FROM key_slots WHERE id = '${FREE}' AND length(sealed) = length(NEW.sealed) LIMIT 1);
     INSERT INTO key_slots (id, sealed) SELECT NEW.id, NEW.sealed WHERE changes() = 0;
   END`,
  `CREATE TRIGGER IF NOT EXISTS keys.subject_keys_update INSTEAD OF UPDATE ON subject_keys BEGIN
     UPDATE key_slots SET sealed = NEW.sealed WHERE id = OLD.id;
   END`,
  `CREATE TRIGGER IF NOT EXISTS keys.subject_keys_delete INSTEAD OF DELETE ON subject_keys BEGIN
     UPDATE key_slots SET id = '${FREE}', sealed = printf('%.*c', length(sealed), '0') WHERE id = OLD.id;
   END`,
];

/** The keys of the subjects and of the installation, and the ledger of erasures. */
export class Keys1763600000010 implements KeysMigration {
  readonly isOfKeys = true;

  async up(runner: QueryRunner): Promise<void> {
    if (isPostgres(runner))
      await createKeyTable(runner, {
        name: 'subject_keys',
        columns: { id: primary(varchar(32)), sealed: text },
      });
    else for (const statement of SLOTS) await runner.query(statement);
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
        guild_id: digest,
        user_id: digest,
        key_id: nullable(varchar(32)),
        erased_at: time,
        place: nullable(integer),
        chain: nullable(text),
      },
      indices: [{ columnNames: ['bot_id', 'key_id'] }],
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
    if (!isPostgres(runner)) {
      await runner.query('DROP VIEW keys.subject_keys');
      await runner.query('ALTER TABLE keys.key_slots RENAME TO subject_keys');
    }
    for (const table of TABLES) await runner.query(`DROP TABLE keys.${table}`);
    if (isPostgres(runner)) await runner.query('DROP SCHEMA keys');
  }
}
