import { consentCovering, coversInForce, lockDecisions } from '@app/consent';
import {
  type ConsentedTable,
  type Digest,
  type HeldRows,
  sameSubject,
  subjectAt,
  withoutIndex,
} from '@app/crypto';
import type { Tx } from '@app/database';
import { categoryOf } from './consented-rows.sql';

/** Rows whose consents or objections one call looks at, so that no other call waits for it. */
const COVERAGE_MAX = 10_000;
/** Consents that one statement locks. */
const LOCKED_AT_ONCE = 500;

/** A mark of a withdrawal stays, so that what has one is erased once a consent is the basis. */
const UNMARKED = `AND ${withoutIndex('d.withdrawn_at')} = ''`;

/**
 * Whether a table holds rows of a category that no consent in force covers, of all or without the mark of a withdrawal.
 * It stays so until the unit ends, which has locked the category `FOR UPDATE`: on PostgreSQL the consents are locked as well,
 * by given keys in their order, a part at a time, since one join over all of them can get a plan that is quadratic. More rows than are looked at
 * count as uncovered.
 */
export async function holdsUncovered(
  tx: Tx,
  one: ConsentedTable,
  botId: string,
  category: string,
  what: Extract<HeldRows, 'uncovered' | 'unmarked'>,
): Promise<boolean> {
  // The time is never less. It is named for its index: by the primary key SQLite would read all rows of the bot.
  const rows = `FROM ${one.table} d WHERE d.bot_id = ? AND ${categoryOf(one)} = ? AND d.${one.agedBy ?? 'updated_at'} >= ''
    ${what === 'unmarked' ? UNMARKED : ''}`;
  const holds = async (sql: string): Promise<boolean> =>
    (await tx.get(`SELECT 1 ${rows} ${sql}`, botId, category)) !== undefined;
  if (await holds(`LIMIT 1 OFFSET ${COVERAGE_MAX}`)) return true;
  if (tx.engine === 'sqlite')
    return holds(`AND NOT ${consentCovering(tx.engine, 'd', categoryOf(one)).exists} LIMIT 1`);
  const found = await tx.all<Record<'guild_id' | 'user_id', Digest>>(
    `SELECT DISTINCT d.guild_id, d.user_id ${rows} ORDER BY d.guild_id, d.user_id`,
    ...[botId, category],
  );
  for (let at = 0; at < found.length; at += LOCKED_AT_ONCE) {
    const subjects = found.slice(at, at + LOCKED_AT_ONCE).map((row) => subjectAt(botId, row));
    const decisions = await lockDecisions(tx, subjects, true);
    if (!decisions.every((decision) => coversInForce(decision, category))) return true;
  }
  return false;
}

/**
 * Whether a table holds rows of a category of users who have objected to everything. It stays so as by {@link holdsUncovered}: such an
 * objection locks every category, and begins anew where one was registered before it had all its locks. More objections than
 * are looked at count as if there were.
 */
export async function holdsObjected(
  tx: Tx,
  one: ConsentedTable,
  botId: string,
  category: string,
): Promise<boolean> {
  const objections = `FROM processing_refusals WHERE bot_id = ? AND category_key = '' AND kind = 'objection'`;
  const any = `SELECT 1 FROM ${one.table} WHERE bot_id = ? AND ${categoryOf(one)} = ? LIMIT 1`;
  if ((await tx.get(any, botId, category)) === undefined) return false;
  const isTooMany = await tx.get(`SELECT 1 ${objections} LIMIT 1 OFFSET ${COVERAGE_MAX}`, botId);
  if (isTooMany !== undefined) return true;
  const held = `SELECT 1 FROM ${one.table} d WHERE ${sameSubject('d', 'r')} AND ${withoutIndex(categoryOf(one))} = ? LIMIT 1`;
  const of = `(SELECT bot_id, guild_id, user_id ${objections} LIMIT ${COVERAGE_MAX}) r`;
  return (
    (await tx.get(`SELECT 1 FROM ${of} WHERE (${held}) IS NOT NULL LIMIT 1`, botId, category)) !== undefined
  );
}
