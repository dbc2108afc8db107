import 'reflect-metadata';
import { ConfigError, loadConfig } from '@app/common';
import { allMigrations, lockFile, openForWriting, sqliteOptions, StartError } from '@app/database';
import { DataSource } from 'typeorm';
// Modules bring migrations of their own when they are loaded.
import './app.module';

/** Brings the schema up to date and ends: for installations that start with MIGRATE_ON_START=false. */
async function migrate(): Promise<void> {
  const { path } = loadConfig().database;
  const release = lockFile(path);
  const options = { ...sqliteOptions(path, 'write'), migrations: allMigrations() };
  const source = await openForWriting(new DataSource(options), true);
  await source.destroy();
  release();
  process.stdout.write(`${path} is up to date.\n`);
}

migrate().catch((error: unknown) => {
  const known = error instanceof ConfigError || error instanceof StartError;
  process.stderr.write(`${known ? error.message : String((error as Error).stack)}\n`);
  process.exit(1);
});
