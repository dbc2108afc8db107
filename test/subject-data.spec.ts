import { HoldsSubjectData, SubjectDataHolders } from '@app/database';
import type { Database } from 'better-sqlite3';
import SqliteDatabase from 'better-sqlite3';
import { useService } from './support/service';

const service = useService();

/** Tables about users that no holder claims. */
function unclaimed(database: Database, claimed: readonly string[]): string[] {
  const tables = database
    .prepare(
      `SELECT t.name FROM sqlite_master t WHERE t.type = 'table'
         AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) c WHERE c.name LIKE '%user_id%' OR c.name LIKE '%subject%')`,
    )
    .pluck()
    .all() as string[];
  return tables.filter((table) => !claimed.includes(table)).sort();
}

const claimed = () =>
  service.app
    .get(SubjectDataHolders)
    .all()
    .flatMap((holder) => holder.tables);

describe('SubjectDataHolders', () => {
  it('claim every table that has a user id, so that export and erasure reach all of it', () => {
    expect(service.inDatabase((database) => unclaimed(database, claimed()))).toStrictEqual([]);
  });

  it('claim no table twice and none that is not there', () => {
    const tables = claimed();
    expect(new Set(tables).size).toBe(tables.length);
    const existing = service.inDatabase((database) =>
      database.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).pluck().all(),
    );
    expect(existing).toEqual(expect.arrayContaining(tables));
  });

  it('would be found wanting for a table that nobody claims', () => {
    const database = new SqliteDatabase(':memory:');
    database.exec(
      'CREATE TABLE reminders (bot_id text, user_id text, at text); CREATE TABLE cities (name text)',
    );
    expect(unclaimed(database, claimed())).toStrictEqual(['reminders']);
    database.close();
  });

  it('are found by their decorator, whichever module brings them', () => {
    expect(HoldsSubjectData.KEY).toBeDefined();
    expect(service.app.get(SubjectDataHolders).all().length).toBeGreaterThanOrEqual(3);
  });
});
