import { sqliteDriver } from './sqlite.driver';

describe('a driver of SQLite that this installation does not have', () => {
  it('is no fault of a process without SQLite, and says what to do when a database is opened', () => {
    const Missing = sqliteDriver('better-sqlite3-of-another-node');
    expect(() => new Missing('lethe.db')).toThrow(
      /^The SQLite driver better-sqlite3-of-another-node is not installed: .+ Run `npm ci` with the Node\.js that runs Lethe \(v\d+\.\d+\.\d+\)$/,
    );
  });
});
