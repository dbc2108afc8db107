import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { lockBot } from '@app/bots';
import { type Tx, UnitOfWork } from '@app/database';
import type { LedgerEntry } from './ledger-lines';

/** Entries of one unit. */
const BATCH = 500;

type Entry = Omit<LedgerEntry, 'place' | 'chain'>;

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

  /** The place of a request's entry; undefined when it has none. */
  async placeOf(botId: string, requestId: string): Promise<LedgerPlace | undefined> {
    for (;;) {
      const found = await this.unitOfWork.write((tx) => this.placed(tx, botId, requestId));
      if (found === undefined) return undefined;
      const { place, chain } = found;
      if (place !== null && chain !== null) return { place, chain };
    }
  }

  /** The entry after at most {@link BATCH} entries without a place got theirs. */
  private async placed(
    tx: Tx,
    botId: string,
    requestId: string,
  ): Promise<{ place: number | null; chain: string | null } | undefined> {
    const found = await this.find(tx, botId, requestId);
    if (found === undefined || found.chain !== null) return found;
    await this.extend(tx, botId);
    return this.find(tx, botId, requestId);
  }

  private find(
    tx: Tx,
    botId: string,
    requestId: string,
  ): Promise<{ place: number | null; chain: string | null } | undefined> {
    return tx.get(
      'SELECT place, chain FROM keys.erasure_ledger WHERE bot_id = ? AND request_id = ?',
      botId,
      requestId,
    );
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
      `SELECT bot_id, request_id, guild_id, user_id, key_id, erased_at FROM keys.erasure_ledger
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

/** SHA-256, in hexadecimal, over a JSON list of the hash before, the place and the columns of the entry. */
export function linked(before: string, place: number, entry: Entry): string {
  const { bot_id, request_id, guild_id, user_id, key_id, erased_at } = entry;
  const linked = [before, place, bot_id, request_id, guild_id, user_id, key_id, erased_at];
  return hash('sha256', JSON.stringify(linked), 'hex');
}
