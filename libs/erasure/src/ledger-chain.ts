import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { lockBot } from '@app/bots';
import { type Tx, UnitOfWork } from '@app/database';
import { type Subject } from '@app/subjects';
import type { LedgerEntry } from './ledger-lines';

/** Entries of one unit. */
const BATCH = 500;

const COLUMNS = 'bot_id, request_id, guild_id, user_id, key_id, erased_at';

type Entry = Omit<LedgerEntry, 'place' | 'chain'>;
type Partly = Pick<LedgerEntry, 'place' | 'chain'>;

/** The number of an entry in the ledger of its bot, and the hash over it and all entries before it. */
export interface LedgerPlace {
  readonly place: number;
  readonly chain: string;
}

/**
 * Chains the entries of a bot's erasure ledger. A certificate contains the hash of its entry, so no earlier entry can be
 * removed or changed unnoticed. Entries get their places when a certificate is issued: erasures do not wait for it.
 */
@Injectable()
export class LedgerChain {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /**
   * The place of a subject's erasure. Undefined without an entry, for one of another subject, and for one whose hash does
   * not follow from the entry before it.
   */
  async placeOf(subject: Subject, requestId: string): Promise<LedgerPlace | undefined> {
    for (;;) {
      const found = await this.unitOfWork.write((tx) => this.placed(tx, subject, requestId));
      if (found?.place !== null) return found as LedgerPlace | undefined;
    }
  }

  /** The entry after at most {@link BATCH} entries without a place got theirs. */
  private async placed(tx: Tx, subject: Subject, requestId: string): Promise<Partly | undefined> {
    const { botId, guildId, userId } = subject;
    const sql = `SELECT ${COLUMNS}, place, chain FROM keys.erasure_ledger WHERE bot_id = ? AND request_id = ?`;
    const find = async () => {
      const entry = await tx.get<LedgerEntry>(sql, botId, requestId);
      return entry?.guild_id === guildId && entry.user_id === userId ? entry : undefined;
    };
    const found = await find();
    if (found?.place === null) await this.extend(tx, botId);
    const entry = found?.place === null ? await find() : found;
    if (entry === undefined || !(await isLinked(tx, entry))) return undefined;
    // PostgreSQL returns large integers as text.
    return { place: entry.place === null ? null : Number(entry.place), chain: entry.chain };
  }

  /** One unit at a time for each bot. The lock does not block submits, which only have a foreign key to the bot. */
  private async extend(tx: Tx, botId: string): Promise<void> {
    await lockBot(tx, botId, 'NO KEY UPDATE');
    const last = await tx.get<LedgerPlace>(
      `SELECT place, chain FROM keys.erasure_ledger WHERE bot_id = ? AND place IS NOT NULL
       ORDER BY place DESC LIMIT 1`,
      botId,
    );
    let { place, chain } = last ?? { place: 0, chain: '' };
    const entries = await tx.all<Entry>(
      `SELECT ${COLUMNS} FROM keys.erasure_ledger
       WHERE bot_id = ? AND place IS NULL ORDER BY erased_at, request_id LIMIT ${BATCH}`,
      botId,
    );
    for (const entry of entries) {
      place += 1;
      chain = linked(chain, place, entry);
      await tx.run(
        'UPDATE keys.erasure_ledger SET place = ?, chain = ? WHERE bot_id = ? AND request_id = ?',
        ...[place, chain, botId, entry.request_id],
      );
    }
  }
}

/** The entry before the oldest one was removed by retention: of that one only the signed certificates vouch. */
async function isLinked(tx: Tx, entry: LedgerEntry): Promise<boolean> {
  if (entry.place === null) return true;
  const place = Number(entry.place);
  const sql = 'SELECT chain FROM keys.erasure_ledger WHERE bot_id = ? AND place = ?';
  const before = place === 1 ? { chain: '' } : await tx.get<{ chain: string }>(sql, entry.bot_id, place - 1);
  return before === undefined || linked(before.chain, place, entry) === entry.chain;
}

/** SHA-256, in hexadecimal, over a JSON list of the hash before, the place and the columns of the entry. */
export function linked(before: string, place: number, entry: Entry): string {
  const { bot_id, request_id, guild_id, user_id, key_id, erased_at } = entry;
  const linked = [before, place, bot_id, request_id, guild_id, user_id, key_id, erased_at];
  return hash('sha256', JSON.stringify(linked), 'hex');
}
