import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { keysPath } from '@app/database';
import { Client } from 'pg';
import { bareDatabase, engine, sqliteFile, type TestDatabase } from '../database';
import { dumped } from '../sql-dump';
import type { Manifest } from './manifest';

const ROOT = resolve(__dirname, '../../fixtures/releases');

/** The master key of every fixture. */
export const FIXTURE_MASTER_KEY = Buffer.alloc(32, 'release').toString('base64');

/** The database of a release as it was written then, with what has to be true of it, for the engine of this run. */
export class Fixture {
  private readonly directory: string;

  constructor(readonly release: string) {
    this.directory = join(ROOT, release, engine);
  }

  /** The releases of which there are fixtures, the oldest first. */
  static releases(): string[] {
    const names = existsSync(ROOT) ? readdirSync(ROOT) : [];
    return names.sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));
  }

  get manifest(): Manifest {
    return JSON.parse(this.read('manifest.json').toString()) as Manifest;
  }

  /** Keeps a database that no process uses. On SQLite `path` is its file. */
  async write(database: TestDatabase, path: string): Promise<void> {
    mkdirSync(this.directory, { recursive: true });
    if (engine === 'postgres') return this.keep('dump.sql', await dumped(database));
    // What the orderly end of the service left to its log, if anything.
    for (const file of [path, keysPath(path)]) await sqliteFile(file).rows('PRAGMA wal_checkpoint(TRUNCATE)');
    this.keep('lethe.db', readFileSync(path));
    this.keep('keys.db', readFileSync(keysPath(path)));
  }

  writeManifest(manifest: Manifest): void {
    this.keep('manifest.json', JSON.stringify(manifest, undefined, 1));
  }

  /** A database like that of the release, in a directory of the caller. */
  async restore(directory: string): Promise<TestDatabase> {
    if (engine === 'sqlite') {
      for (const name of ['lethe.db', 'keys.db']) writeFileSync(join(directory, name), this.read(name));
      return sqliteFile(join(directory, 'lethe.db'));
    }
    const database = await bareDatabase(directory);
    const client = new Client({ connectionString: database.url });
    await client.connect();
    try {
      await client.query(this.read('dump.sql').toString());
    } finally {
      await client.end();
    }
    return database;
  }

  private keep(name: string, content: string | Buffer): void {
    writeFileSync(join(this.directory, `${name}.gz`), gzipSync(content, { level: 9 }));
  }

  private read(name: string): Buffer {
    return gunzipSync(readFileSync(join(this.directory, `${name}.gz`)));
  }
}
