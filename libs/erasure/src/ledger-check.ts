import { eachOf, type UnitOfWork } from '@app/database';
import { linked } from './ledger-chain';
import type { LedgerEntry } from './ledger-lines';

/** Entries of one read. */
const BATCH = 500;

const COLUMNS = 'bot_id, request_id, guild_id, user_id, key_id, erased_at, place, chain';

/** The number of entries of the ledger, and of those whose hash does not follow from the entry before. */
export interface CheckedLedger {
  readonly entries: number;
  readonly broken: number;
}

/** Recomputes the chains of the ledger. Retention removes old entries, so the oldest one of a bot may follow nothing. */
export async function checkLedger(unitOfWork: UnitOfWork): Promise<CheckedLedger> {
  const count = 'SELECT COUNT(*) AS entries FROM keys.erasure_ledger';
  const entries = Number((await unitOfWork.get<{ entries: number | string }>(count))?.entries ?? 0);
  let broken = 0;
  let before: LedgerEntry | undefined;
  for await (const entry of eachOf<LedgerEntry>(BATCH, (after) => page(unitOfWork, after))) {
    if (!follows(before, entry)) broken += 1;
    before = entry;
  }
  return { entries, broken };
}

function follows(before: LedgerEntry | undefined, entry: LedgerEntry): boolean {
  const place = Number(entry.place);
  if (place === 1) return linked('', place, entry) === entry.chain;
  if (before?.bot_id !== entry.bot_id) return true;
  return Number(before.place) === place - 1 && linked(before.chain ?? '', place, entry) === entry.chain;
}

function page(unitOfWork: UnitOfWork, after: LedgerEntry | undefined): Promise<LedgerEntry[]> {
  const behind = after === undefined ? '' : 'AND (bot_id, place) > (?, ?)';
  return unitOfWork.read((tx) =>
    tx.all<LedgerEntry>(
      `SELECT ${COLUMNS} FROM keys.erasure_ledger WHERE place IS NOT NULL ${behind}
       ORDER BY bot_id, place LIMIT ${BATCH}`,
      ...(after === undefined ? [] : [after.bot_id, Number(after.place)]),
    ),
  );
}
