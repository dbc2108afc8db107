import { pages, type Tx, type UnitOfWork } from '@app/database';

/** What other libraries read of a bot. */
export interface BotFacts {
  readonly id: string;
  readonly name: string;
  readonly privacy_contact: string | null;
  readonly webhook_url: string | null;
}

/** A unit, or the UnitOfWork for a read on its own. */
type Reader = Pick<UnitOfWork, 'get'>;

/** The id of a bot, if it still has this URL. */
export const BOT_AT_URL = 'SELECT id FROM bots WHERE id = ? AND webhook_url = ?';

const FACTS = 'SELECT id, name, privacy_contact, webhook_url FROM bots';

/** A bot, also one that is being deleted; undefined for an unknown id. */
export function findBot(reader: Reader, id: string): Promise<BotFacts | undefined> {
  return reader.get(`${FACTS} WHERE id = ?`, id);
}

/** Whether a bot is deleted or being deleted: the keys of its subjects are destroyed, and its rows are being removed. */
export async function isDeleted(reader: Reader, id: string): Promise<boolean> {
  return (await reader.get('SELECT 1 FROM bots WHERE id = ? AND deleted_at IS NULL', id)) === undefined;
}

/** {@link findBot} for several ids. PostgreSQL only. */
export async function findBots(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, BotFacts>> {
  const rows = await tx.all<BotFacts>(`${FACTS} WHERE id = ANY (?)`, ids);
  return new Map(rows.map((bot) => [bot.id, bot]));
}

/** The first bot after `after` in the order of ids that is not being deleted; '' starts at the beginning. */
export function nextBot(reader: Reader, after: string): Promise<BotFacts | undefined> {
  return reader.get(`${FACTS} WHERE id > ? AND deleted_at IS NULL ORDER BY id LIMIT 1`, after);
}

/** The ids of all bots, also while a bot is being deleted, page by page in their order. */
export async function* botPages(unitOfWork: UnitOfWork, size: number): AsyncGenerator<readonly string[]> {
  const sql = `SELECT id FROM bots WHERE id > ? ORDER BY id LIMIT ${size}`;
  const read = (after?: { id: string }) =>
    unitOfWork.read((tx) => tx.all<{ id: string }>(sql, after?.id ?? ''));
  for await (const page of pages(size, read)) yield page.map(({ id }) => id);
}

/** Locks a bot until the unit ends; undefined for an unknown id, and for a locked one that is skipped. */
export function lockBot(
  tx: Tx,
  id: string,
  mode: 'KEY SHARE' | 'UPDATE' | 'NO KEY UPDATE' | 'NO KEY UPDATE SKIP LOCKED',
): Promise<BotFacts | undefined> {
  return tx.get(`${FACTS} WHERE id = ? FOR ${mode}`, id);
}

/** Locks bots like {@link lockBot} with `KEY SHARE`, and waits for no other unit. Returns the ids of the locked ones. */
export async function tryLockBots(tx: Tx, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (tx.engine === 'sqlite') return new Set(ids);
  const rows = await tx.all<{ id: string }>(
    'SELECT id FROM bots WHERE id = ANY (?) ORDER BY id FOR KEY SHARE SKIP LOCKED',
    ids,
  );
  return new Set(rows.map(({ id }) => id));
}

/** Since when a bot is suspended, and when its latest suspension ended. */
interface Suspension {
  readonly suspended_at: string | null;
  readonly resumed_at: string | null;
}

export function suspensionOf(reader: Reader, id: string): Promise<Suspension | undefined> {
  return reader.get('SELECT suspended_at, resumed_at FROM bots WHERE id = ?', id);
}

/** The bits of the scopes of a key at a time in ISO 8601; 0 for a key that is not in force. */
export async function scopesInForce(
  reader: Reader,
  botId: string,
  keyId: string,
  at: string,
): Promise<number> {
  const sql = 'SELECT expires_at, scopes FROM api_keys WHERE bot_id = ? AND id = ?';
  const key = await reader.get<{ expires_at: string | null; scopes: number }>(sql, botId, keyId);
  return key !== undefined && (key.expires_at === null || key.expires_at > at) ? key.scopes : 0;
}

/** The ids of all bots that the operator has suspended. */
export async function suspendedBots(tx: Tx): Promise<string[]> {
  const rows = await tx.all<{ id: string }>('SELECT id FROM bots WHERE suspended_at IS NOT NULL ORDER BY id');
  return rows.map(({ id }) => id);
}

/** The number of bots, and how many of them the operator has suspended; without bots that are being deleted. */
export async function countBots(
  unitOfWork: UnitOfWork,
): Promise<{ readonly bots: number; readonly suspended: number }> {
  const row = await unitOfWork.snapshot((tx) =>
    tx.get<Record<'bots' | 'suspended', number>>(
      'SELECT COUNT(*) AS bots, COUNT(suspended_at) AS suspended FROM bots WHERE deleted_at IS NULL',
    ),
  );
  return { bots: row?.bots ?? 0, suspended: row?.suspended ?? 0 };
}

/** The number of all bots, those that are being deleted too. */
export function countAllBots(tx: Tx): Promise<number> {
  return tx.total('SELECT COUNT(*) AS total FROM bots');
}
