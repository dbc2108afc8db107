import { isHeldElsewhere } from '@app/crypto';
import { givenRows, type Tx, type UnitOfWork } from '@app/database';
import type { Digest } from '@app/primitives';
import { amongSubjects, type Subject, SUBJECT_WHERE } from '@app/subjects';
import type { PrivacyLink } from './privacy-link.entity';

export type StoredLink = Omit<PrivacyLink, 'bot'>;

const COLUMNS =
  'bot_id, id, token, key_id, guild_id, user_id, subject, allow, language, created_at, expires_at';

type Row = Record<
  'bot_id' | 'id' | 'token' | 'key_id' | 'subject' | 'allow' | 'created_at' | 'expires_at',
  string
> & { readonly guild_id: Digest; readonly user_id: Digest; readonly language: string | null };

/** The link with a digest of its token, also an expired one. */
export async function findLink(
  reader: Pick<UnitOfWork, 'get'>,
  token: string,
): Promise<StoredLink | undefined> {
  const row = await reader.get<Row>(`SELECT ${COLUMNS} FROM privacy_links WHERE token = ?`, token);
  if (row === undefined) return undefined;
  const { bot_id, key_id, guild_id, user_id, created_at, expires_at, ...same } = row;
  return {
    ...same,
    botId: bot_id,
    keyId: key_id,
    guildId: guild_id,
    userId: user_id,
    createdAt: created_at,
    expiresAt: expires_at,
  };
}

export async function insertLink(tx: Tx, link: StoredLink): Promise<void> {
  const { botId, id, token, keyId, guildId, userId, subject, allow, language, createdAt, expiresAt } = link;
  await tx.run(
    `INSERT INTO privacy_links (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[botId, id, token, keyId, guildId, userId, subject, allow, language, createdAt, expiresAt],
  );
}

/** The key that has made a link. */
export async function keyOfLink(
  reader: Pick<UnitOfWork, 'get'>,
  botId: string,
  id: string,
): Promise<string | undefined> {
  const sql = 'SELECT key_id FROM privacy_links WHERE bot_id = ? AND id = ?';
  return (await reader.get<{ key_id: string }>(sql, botId, id))?.key_id;
}

export async function removeLink(tx: Tx, botId: string, id: string): Promise<boolean> {
  return (await tx.run('DELETE FROM privacy_links WHERE bot_id = ? AND id = ?', botId, id)) > 0;
}

/** Removes the links of erased subjects, and those for all guilds of users about whom nothing is held elsewhere. */
export async function endLinks(
  tx: Tx,
  subjects: readonly Subject[],
  allGuildsOf: (botId: string) => Digest,
): Promise<void> {
  const among = amongSubjects(tx, subjects);
  const given = givenRows(
    tx,
    ['bot_id', 'guild_id', 'user_id', 'all_guilds'],
    subjects.map(({ botId, guildId, userId }) => [botId, guildId, userId, allGuildsOf(botId)]),
  );
  // Sent in this order without waiting: PostgreSQL needs one round trip.
  await Promise.all([
    tx.run(`DELETE FROM privacy_links WHERE ${among.sql}`, ...among.values),
    tx.run(
      `DELETE FROM privacy_links WHERE (bot_id, guild_id, user_id) IN
         (SELECT given.bot_id, given.all_guilds, given.user_id FROM ${given.sql} WHERE NOT ${isHeldElsewhere('given')})`,
      ...given.values,
    ),
  ]);
}

export async function removeExpired(tx: Tx, botId: string, at: string): Promise<number> {
  return tx.run('DELETE FROM privacy_links WHERE bot_id = ? AND expires_at <= ?', botId, at);
}

/** Keeps the newest links of a subject: `count` of them. */
export async function keepNewest(tx: Tx, { botId, guildId, userId }: Subject, count: number): Promise<void> {
  await tx.run(
    `DELETE FROM privacy_links WHERE ${SUBJECT_WHERE} AND id NOT IN
       (SELECT id FROM privacy_links WHERE ${SUBJECT_WHERE} ORDER BY id DESC LIMIT ${count})`,
    ...[botId, guildId, userId, botId, guildId, userId],
  );
}

/** Whether a bot has at least `count` links. */
export async function hasAtLeast(tx: Tx, botId: string, count: number): Promise<boolean> {
  const sql = `SELECT 1 FROM privacy_links WHERE bot_id = ? ORDER BY id LIMIT 1 OFFSET ${count - 1}`;
  return (await tx.get(sql, botId)) !== undefined;
}
