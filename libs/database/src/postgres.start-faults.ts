import { adminCommand, StartError } from '@app/kernel';
import { QueryRunnerAlreadyReleasedError } from 'typeorm';
import { driverCode, isConnectionLost, isInsecure } from './database-faults';

/** SQLSTATE of a deadlock. */
export const DEADLOCK = '40P01';
/** SQLSTATE of a lock that was not free in time. */
export const LOCKED = '55P03';
/** SQLSTATE of a session that the server has ended since its transaction sent nothing, or lasted too long. */
const ENDED = /^25P0[34]$/;

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server listens there. Start the server, or correct DATABASE_URL.',
  ENOTFOUND: 'the host does not exist. Correct DATABASE_URL.',
  EAI_AGAIN: 'the name of the host could not be looked up. Try again, or correct DATABASE_URL.',
  '28P01': 'user or password is wrong. Correct DATABASE_URL; special characters have to be percent-encoded.',
  '28000':
    'the server refuses this user from this address. Correct DATABASE_URL, or the pg_hba.conf of the server.',
  '3D000': 'the database does not exist. Create it with CREATE DATABASE, or correct DATABASE_URL.',
  [DEADLOCK]:
    'running instances use the tables that the migrations change. Nothing was changed; try again, or stop them first.',
  [LOCKED]:
    'another session holds what the migrations change (pg_stat_activity shows it: pg_dump?). Nothing was changed; try again.',
  '42501': `the user may not change the schema. Grant it CREATE on the database and on the schema public, or run ${adminCommand('db:migrate')} as the owner of the tables.`,
  '53300': 'the server has no free connection. Raise max_connections, or lower DATABASE_POOL_SIZE.',
  '57P03': 'the server is starting up or shutting down. Try again.',
};

const SETTINGS_REFUSED =
  'it refuses the settings of a session, as a pooler does. Set DATABASE_DIRECT_URL to the server behind the pooler.';

/** The fault and its remedy; undefined for a fault that an operator cannot correct. */
function reasonOf(error: unknown): string | undefined {
  const code = driverCode(error);
  const message = String((error as Error).message);
  if (code === '08P01' && message.startsWith('unsupported startup parameter')) return SETTINGS_REFUSED;
  // PgBouncer has this code for each refusal.
  if (code === '08P01')
    return `it answers "${message}". Correct DATABASE_URL, or the settings of the pooler.`;
  const known = REASONS[code];
  if (known !== undefined) return known;
  if (isInsecure(error))
    return `no secure connection (${code || message}). Check sslmode and sslrootcert in DATABASE_URL.`;
  if (/^(53|57)/.test(code) || ENDED.test(code))
    return `the server cancelled the work (${code}). Nothing was changed; try again.`;
  if (isConnectionLost(error) || error instanceof QueryRunnerAlreadyReleasedError)
    return `the connection ended${code && ` (${code})`}. Unfinished work is undone; try again.`;
  return undefined;
}

/** @throws StartError in place of a fault that the operator can correct */
export async function withReason<T>(place: string, setting: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = error instanceof StartError ? undefined : reasonOf(error);
    if (reason === undefined) throw error;
    throw new StartError(
      `The database (${place}) cannot be used: ${reason.replaceAll('DATABASE_URL', setting)}`,
    );
  }
}
