import { sqliteDriver } from './sqlite.driver';

describe('a driver of SQLite that this installation does not have', () => {
  it('is no fault of a process without SQLite, and says what to do when a database is opened', () => {
    const { SqliteDatabase, missing } = sqliteDriver('better-sqlite3-of-another-node');
    expect(() => new SqliteDatabase('lethe.db')).toThrow(missing);
    expect(missing).toMatch(
      /^The SQLite driver better-sqlite3-of-another-node is not installed: .+ Run `npm ci` with the Node\.js that runs Lethe \(v\d+\.\d+\.\d+\)$/,
    );
  });
});
