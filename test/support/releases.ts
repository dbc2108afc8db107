import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { keysPath } from '@app/database';
import type { KeySet } from '@lethe/sdk/evidence';
import { Client } from 'pg';
import { bareDatabase, engine, type TestDatabase } from './database';
import type { SubjectIds } from './snowflakes';

const RELEASES = join(__dirname, '../engines/releases');
const FAR = '2999-01-01T00:00:00.000Z';
const PAST = '2020-01-01T00:00:00.000Z';

/** The releases of which data is kept, each made by `npm run fixture`. */
export const releases = (): string[] => readdirSync(RELEASES).sort();

export interface KeptBot {
  readonly id: string;
  readonly platform_bot_id: string;
  readonly name: string;
  readonly api_key: string;
  readonly webhook_secret: string;
  readonly keys?: { readonly void: string; readonly reading: string };
  readonly link?: { readonly url: string };
  /** The key of the store whose answer an erasure waits for. */
  readonly holder?: string;
  readonly erased: readonly (SubjectIds & { readonly request_id: string; readonly salt: string })[];
  /** The users of the guild whose deletion is scheduled. */
  readonly leaving: readonly SubjectIds[];
  /** An audit event of which a proof is kept. */
  readonly proof_of: string;
  /** What each path was answered. */
  readonly answers: Readonly<Record<string, { readonly status: number; readonly text: string }>>;
  /** The export of the audit log, line by line. */
  readonly log: readonly string[];
}

/** What an installation has to answer after each upgrade. */
export interface Kept {
  readonly master_key: string;
  readonly key_set: KeySet;
  /** Texts of erased users have it. */
  readonly mark: string;
  readonly leaving_guild: string;
  readonly bots: readonly [KeptBot, KeptBot];
}

const unpacked = (release: string, file: string): Buffer =>
  gunzipSync(readFileSync(join(RELEASES, release, `${file}.gz`)));

export function kept(release: string): Kept {
  return JSON.parse(unpacked(release, `${engine}.json`).toString()) as Kept;
}

/** The database of the release as it was kept, on the engine of the run. */
export async function databaseOf(release: string, directory: string): Promise<TestDatabase> {
  const database = await bareDatabase(directory);
  if (engine === 'sqlite') {
    const path = join(directory, 'lethe.db');
    writeFileSync(path, unpacked(release, 'lethe.db'));
    writeFileSync(keysPath(path), unpacked(release, 'keys.db'));
  } else {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(unpacked(release, 'postgres.sql').toString());
    await client.end();
  }
  await asOfToday(database, release);
  return database;
}

/**
 * Moves what ends or is due by time, whatever the day of the run: no link has ended, no call is due or given up, no guild is
 * deleted, and no store is overdue.
 */
async function asOfToday(database: TestDatabase, release: string): Promise<void> {
  await database.run(
    'UPDATE servers SET deletion_scheduled_for = ? WHERE deletion_scheduled_for IS NOT NULL',
    FAR,
  );
  if (kept(release).bots.some(({ holder }) => holder !== undefined))
    for (const tasks of ['holder_tasks', 'holder_exports'])
      await database.run(`UPDATE ${tasks} SET created_at = ? WHERE open = 1`, new Date().toISOString());
  await database.run('UPDATE privacy_links SET expires_at = ?', FAR);
  await database.run(
    `UPDATE webhook_deliveries SET next_attempt_at = ?, give_up_at = ? WHERE status = 'pending'`,
    ...[FAR, FAR],
  );
  await forgetLeases(database);
}

/** The next start takes the time of the machine, and runs all jobs. */
async function forgetLeases(database: TestDatabase): Promise<void> {
  await database.run('DELETE FROM job_leases');
}

/** The scheduled deletions are due at the next start. */
export async function deletionsAreDue(database: TestDatabase): Promise<void> {
  await database.run(
    'UPDATE servers SET deletion_scheduled_for = ? WHERE deletion_scheduled_for IS NOT NULL',
    PAST,
  );
  await forgetLeases(database);
}

/** Nothing ends by time, whatever the day of the run. */
export const LASTING = {
  EVIDENCE_RETENTION_DAYS: '36500',
  REVOKED_DATA_GRACE_DAYS: 'off',
  WEBHOOK_RETENTION_DAYS: '3650',
};
