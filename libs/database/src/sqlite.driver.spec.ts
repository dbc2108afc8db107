import { createRequire } from 'node:module';
import { sqliteDriver } from './sqlite.driver';

describe('a driver of SQLite that this installation does not have', () => {
  it('is no fault of a process without SQLite, and says what to do when a database is opened', () => {
    const load = () => createRequire(__filename)('better-sqlite3-of-another-node') as unknown;
    const { SqliteDatabase, missing } = sqliteDriver(['better-sqlite3-of-another-node', load]);
    expect(() => new SqliteDatabase('lethe.db')).toThrow(missing);
    expect(missing).toMatch(
      /^The SQLite driver better-sqlite3-of-another-node is not installed: .+ Install it again with the Node\.js that runs Lethe \(v\d+\.\d+\.\d+\), in a checkout by `npm ci`$/,
    );
  });
});
