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
const SQLITE_TABLES = ['key_slots', 'service_keys', 'erasure_ledger'];
const POSTGRES_TABLES = [
  ...['subject_keys_a', 'subject_keys_b', 'removed_keys', 'key_rewrite'],
  ...['service_keys', 'erasure_ledger'],
];
/** Each has a trigger and its function on PostgreSQL. */
const ACTS = ['insert', 'update', 'delete'];

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

/**
 * PostgreSQL leaves the bytes of deleted and moved rows in the file of their table. Each key is therefore in one of two
 * tables, and {@link KeyRewrite} moves all keys to the other table and removes the file of the first one. After an even number of
 * rewrites a key is added to the table `a`. An update or a delete looks into the first table a second time, since a rewrite can have moved the
 * key from the second to the first table meanwhile.
 */
const TWO_TABLES = [
  'INSERT INTO keys.key_rewrite (number) VALUES (0)',
  `CREATE VIEW keys.subject_keys AS
   SELECT id, sealed FROM keys.subject_keys_a UNION ALL SELECT id, sealed FROM keys.subject_keys_b`,
  `CREATE FUNCTION keys.insert_key() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
     LOCK TABLE keys.key_rewrite IN ROW SHARE MODE;
     IF (SELECT number FROM keys.key_rewrite) % 2 = 0
     THEN INSERT INTO keys.subject_keys_a (id, sealed) VALUES (NEW.id, NEW.sealed);
     ELSE INSERT INTO keys.subject_keys_b (id, sealed) VALUES (NEW.id, NEW.sealed);
     END IF;
     RETURN NEW;
   END $$`,
  `CREATE FUNCTION keys.update_key() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
     UPDATE keys.subject_keys_a SET sealed = NEW.sealed WHERE id = OLD.id AND sealed = OLD.sealed;
     IF FOUND THEN RETURN NEW; END IF;
     UPDATE keys.subject_keys_b SET sealed = NEW.sealed WHERE id = OLD.id AND sealed = OLD.sealed;
     IF FOUND THEN RETURN NEW; END IF;
     UPDATE keys.subject_keys_a SET sealed = NEW.sealed WHERE id = OLD.id AND sealed = OLD.sealed;
     IF FOUND THEN RETURN NEW; END IF;
     RETURN NULL;
   END $$`,
  `CREATE FUNCTION keys.delete_key() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
     DELETE FROM keys.subject_keys_a WHERE id = OLD.id;
     DELETE FROM keys.subject_keys_b WHERE id = OLD.id;
     DELETE FROM keys.subject_keys_a WHERE id = OLD.id;
     LOCK TABLE keys.key_rewrite IN ROW SHARE MODE;
     INSERT INTO keys.removed_keys (id, rewrites) SELECT OLD.id, number FROM keys.key_rewrite
     ON CONFLICT (id) DO UPDATE SET rewrites = excluded.rewrites;
     RETURN OLD;
   END $$`,
  ...ACTS.map(
    (act) => `CREATE TRIGGER subject_keys_${act} INSTEAD OF ${act.toUpperCase()} ON keys.subject_keys
              FOR EACH ROW EXECUTE FUNCTION keys.${act}_key()`,
  ),
];

async function createTwoTables(runner: QueryRunner): Promise<void> {
  for (const name of ['subject_keys_a', 'subject_keys_b'])
    await createKeyTable(runner, { name, columns: { id: primary(varchar(32)), sealed: text } });
  // The statistics of a column contain some of its values.
  for (const table of ['keys.subject_keys_a', 'keys.subject_keys_b'])
    await runner.query(`ALTER TABLE ${table} ALTER COLUMN sealed SET STATISTICS 0`);
  await createKeyTable(runner, {
    name: 'removed_keys',
    columns: { id: primary(varchar(32)), rewrites: integer },
    indices: [{ columnNames: ['rewrites'] }],
  });
  await createKeyTable(runner, { name: 'key_rewrite', columns: { number: primary(integer) } });
  for (const statement of TWO_TABLES) await runner.query(statement);
}

/** The keys of the subjects and of the installation, and the ledger of erasures. */
export class Keys1763600000010 implements KeysMigration {
  readonly isOfKeys = true;

  async up(runner: QueryRunner): Promise<void> {
    if (isPostgres(runner)) await createTwoTables(runner);
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
    await runner.query('DROP VIEW keys.subject_keys');
    for (const table of isPostgres(runner) ? POSTGRES_TABLES : SQLITE_TABLES)
      await runner.query(`DROP TABLE keys.${table}`);
    if (!isPostgres(runner)) return;
    for (const act of ACTS) await runner.query(`DROP FUNCTION keys.${act}_key`);
    await runner.query('DROP SCHEMA keys');
  }
}
