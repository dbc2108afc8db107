import { amongValues, pages, type SqlPart, type Tx, type UnitOfWork } from '@app/database';
import type { Clock, Config } from '@app/kernel';
import type { Digest } from './keyed-digest';
import { type Subject, SUBJECT_WHERE } from './subject';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Whether the ledger of erasures says that a key of a bot's subjects was destroyed. */
export async function isDestroyed(tx: Tx, botId: string, keyId: string): Promise<boolean> {
  const sql = 'SELECT 1 FROM keys.erasure_ledger WHERE bot_id = ? AND key_id = ? LIMIT 1';
  return (await tx.get(sql, botId, keyId)) !== undefined;
}

/**
 * Enters in the ledger that the keys of a bot's subjects are destroyed with the bot: data of the bot from before lacks them rightly.
 * The request of the entry is the bot itself. It is about no subject and names no key.
 */
export async function noteDeletedBot(tx: Tx, botId: string, deletedAt: string): Promise<void> {
  await tx.run(
    `INSERT INTO keys.erasure_ledger (bot_id, request_id, guild_id, user_id, erased_at) VALUES (?, ?, '', '', ?)
     ON CONFLICT (bot_id, request_id) DO UPDATE SET erased_at = excluded.erased_at WHERE excluded.erased_at > erasure_ledger.erased_at`,
    ...[botId, botId, deletedAt],
  );
}

/** Until which ISO time the keys of a bot's subjects were destroyed with the bot; '' where it was never deleted. A restore can bring it back. */
export async function keysDestroyedUntil(tx: Tx, botId: string): Promise<string> {
  const sql = 'SELECT erased_at FROM keys.erasure_ledger WHERE bot_id = ? AND request_id = ?';
  return (await tx.get<{ erased_at: string }>(sql, botId, botId))?.erased_at ?? '';
}

/** Entries of the ledger from before this ISO time are ignored: their requests may have been pruned, and no backup is that old. */
export function ledgerBegins(clock: Clock, config: Config): string {
  return clock.daysAgoIso(erasureDays(config));
}

/** Days for which an erasure is on record, with the ids of its user encrypted: with it a restored backup is erased again. */
export function erasureDays({
  evidenceRetentionDays,
  backupRetentionDays,
}: Pick<Config, 'evidenceRetentionDays' | 'backupRetentionDays'>): number {
  return Math.max(evidenceRetentionDays, backupRetentionDays);
}

/** What the ledger of erasures has about a request. */
export interface NotedErasure {
  readonly request_id: string;
  readonly guild_id: Digest;
  readonly user_id: Digest;
  readonly erased_at: string;
}

/** The entries of the ledger about requests of a bot. */
export function ledgerEntriesOf(
  tx: Tx,
  botId: string,
  requestIds: readonly string[],
): Promise<NotedErasure[]> {
  const among = amongValues(tx, 'request_id', requestIds);
  return tx.all<NotedErasure>(
    `SELECT request_id, guild_id, user_id, erased_at FROM keys.erasure_ledger WHERE bot_id = ? AND ${among.sql}`,
    ...[botId, among.value],
  );
}

/** The part of an entry of the ledger that names the key. */
export interface DestroyedKey {
  readonly bot_id: string;
  readonly request_id: string;
  readonly key_id: string | null;
}

/** The entries in a part of the ledger of which the key is stored: a restore has brought it back. */
export function storedAgain(tx: Tx, { sql, values }: SqlPart): Promise<DestroyedKey[]> {
  return tx.all<DestroyedKey>(
    `SELECT ledger.bot_id, ledger.request_id, ledger.key_id
     FROM ${sql} ledger JOIN keys.subject_keys stored ON stored.id = ledger.key_id`,
    ...values,
  );
}

/** Removes stored keys; returns their number. */
export function removeKeys(tx: Tx, keyIds: readonly string[]): Promise<number> {
  const among = amongValues(tx, 'id', keyIds);
  return tx.run(`DELETE FROM keys.subject_keys WHERE ${among.sql}`, among.value);
}

/** Removes a stored key, unless another subject than the given one has it; returns the number of removed keys. */
export async function removeKeyOf(
  tx: Tx,
  { botId, guildId, userId }: Subject,
  keyId: string,
): Promise<number> {
  const ofOther = `SELECT 1 FROM subjects WHERE key_id = ? AND NOT (${SUBJECT_WHERE})`;
  return (await tx.get(ofOther, keyId, botId, guildId, userId)) === undefined ? removeKeys(tx, [keyId]) : 0;
}

/** Keys of one read; requests are answered in between. */
const PAGE = 500;

/** The keys that no subject has, some at a time. */
export async function* orphanKeys(unitOfWork: UnitOfWork): AsyncGenerator<readonly string[]> {
  const some = `SELECT id FROM keys.subject_keys WHERE id > ? ORDER BY id LIMIT ${PAGE}`;
  const read = (after?: { readonly id: string }): Promise<{ id: string; isOrphan: boolean }[]> =>
    unitOfWork.read(async (tx) => {
      const ids = (await tx.all<{ id: string }>(some, after?.id ?? '')).map(({ id }) => id);
      const orphans = new Set(await orphansAmong(tx, ids));
      return ids.map((id) => ({ id, isOrphan: orphans.has(id) }));
    });
  for await (const page of pages(PAGE, read)) {
    yield page.filter(({ isOrphan }) => isOrphan).map(({ id }) => id);
    await nextTurn();
  }
}

/** Those of the keys that are stored, and that no subject has. */
export async function storedOrphans(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const among = amongValues(tx, 'id', await orphansAmong(tx, ids));
  const sql = `SELECT id FROM keys.subject_keys WHERE ${among.sql}`;
  return (await tx.all<{ id: string }>(sql, among.value)).map(({ id }) => id);
}

/** Removes the keys that still no subject has; returns their ids. */
export async function removeOrphans(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const stored = await storedOrphans(tx, ids);
  if (stored.length > 0) await removeKeys(tx, stored);
  return stored;
}

async function orphansAmong(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const among = amongValues(tx, 'key_id', ids);
  const sql = `SELECT key_id AS id FROM subjects WHERE ${among.sql}`;
  const held = new Set((await tx.all<{ id: string }>(sql, among.value)).map(({ id }) => id));
  return ids.filter((id) => !held.has(id));
}
