import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Tx } from '@app/database';

interface Entry {
  readonly bot_id: string;
  readonly request_id: string;
  readonly subject: string;
  readonly key_id: string | null;
  readonly erased_at: string;
}

/** Where an entry stands in the ledger of its bot, and a hash over it and all before it. */
export interface LedgerPlace {
  readonly place: number;
  readonly chain: string;
}

/**
 * Chains the entries of a bot's erasure ledger, so that none can be taken out or changed behind a certificate that names
 * the chain. No erasure waits for it: entries get their places when first a place is asked for.
 */
@Injectable()
export class LedgerChain {
  /** The place of a request's entry; undefined when it has none, such as after an erasure by an older Lethe. */
  async placeOf(tx: Tx, botId: string, requestId: string): Promise<LedgerPlace | undefined> {
    const placed = await this.find(tx, botId, requestId);
    if (placed?.chain != null) return placed as LedgerPlace;
    if (placed === undefined) return undefined;
    await this.extend(tx, botId);
    return (await this.find(tx, botId, requestId)) as LedgerPlace;
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

  /** One at a time for each bot; submits, which only refer to it, are not kept waiting. */
  private async extend(tx: Tx, botId: string): Promise<void> {
    await tx.get('SELECT 1 FROM bots WHERE id = ? FOR NO KEY UPDATE', botId);
    const last = await tx.get<LedgerPlace>(
      `SELECT place, chain FROM keys.erasure_ledger WHERE bot_id = ? AND place IS NOT NULL
       ORDER BY place DESC LIMIT 1`,
      botId,
    );
    let { place, chain } = last ?? { place: 0, chain: '' };
    const entries = await tx.all<Entry>(
      `SELECT bot_id, request_id, subject, key_id, erased_at FROM keys.erasure_ledger
       WHERE bot_id = ? AND place IS NULL ORDER BY erased_at, request_id`,
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

/** SHA-256 over the chain before and the entry, as a JSON list; in hexadecimal digits. */
function linked(before: string, place: number, entry: Entry): string {
  const { bot_id: botId, request_id: requestId, subject, key_id: keyId, erased_at: erasedAt } = entry;
  return hash('sha256', JSON.stringify([before, place, botId, requestId, subject, keyId, erasedAt]), 'hex');
}
