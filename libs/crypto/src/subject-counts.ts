import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Tx, UnitOfWork } from '@app/database';

/** Subjects counted at once. On PostgreSQL a larger number is an estimate. */
const SLICE = 10_000;

const BEHIND = 'FROM subjects WHERE (bot_id, guild_id, user_id) > (?, ?, ?)';
const ESTIMATE = `SELECT SUM(GREATEST(parts.reltuples, 0)) AS total FROM pg_class parts
  JOIN pg_inherits inherits ON inherits.inhrelid = parts.oid WHERE inherits.inhparent = 'subjects'::regclass`;

/**
 * The number of subjects about whom anything is held: each has a key. On PostgreSQL a number above 10,000 is the estimate
 * of the planner, which is as old as the last ANALYZE. SQLite has no estimate: it counts in slices, and other requests are
 * answered in between.
 */
export function countSubjects(unitOfWork: UnitOfWork): Promise<number> {
  return unitOfWork.engine === 'postgres' ? unitOfWork.snapshot(estimated) : counted(unitOfWork);
}

async function estimated(tx: Tx): Promise<number> {
  const total = await tx.total(`SELECT COUNT(*) AS total FROM (SELECT 1 FROM subjects LIMIT ${SLICE}) found`);
  return total < SLICE ? total : Math.max(total, await tx.total(ESTIMATE));
}

async function counted(unitOfWork: UnitOfWork): Promise<number> {
  for (let total = 0, after = ['', '', '']; ; total += SLICE) {
    const last = await unitOfWork.snapshot((tx) =>
      tx.get<Record<'bot_id' | 'guild_id' | 'user_id', string>>(
        `SELECT bot_id, guild_id, user_id ${BEHIND} ORDER BY bot_id, guild_id, user_id LIMIT 1 OFFSET ${SLICE - 1}`,
        ...after,
      ),
    );
    if (last === undefined) {
      const rest = await unitOfWork.snapshot((tx) =>
        tx.total(`SELECT COUNT(*) AS total FROM (SELECT 1 ${BEHIND} LIMIT ${SLICE}) found`, ...after),
      );
      return total + rest;
    }
    after = [last.bot_id, last.guild_id, last.user_id];
    await nextTurn();
  }
}

/** The number of subjects of one bot, counted up to `max`. */
export function countSubjectsOf(tx: Tx, botId: string, max: number): Promise<number> {
  const sql = 'SELECT COUNT(*) AS total FROM (SELECT 1 FROM subjects WHERE bot_id = ? LIMIT ?) found';
  return tx.total(sql, botId, max);
}
