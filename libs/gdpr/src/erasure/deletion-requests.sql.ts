import { amongValues, givenRows, json, parsed, type SqlPart, type Tx, type UnitOfWork } from '@app/database';
import { SELECT_KEY_ID, type Subject, SUBJECT_WHERE, subjectValues } from '@app/crypto';
import type { DeletionRequest } from './deletion-request.entity';

const COLUMNS = `bot_id AS "botId", id, guild_id AS "guildId", user_id AS "userId", status, via AS "by", subject, certificate,
  deleted_categories AS "deletedCategories", erased_rows AS "erasedRows", webhook_sent AS "webhookSent",
  created_at AS "createdAt", completed_at AS "completedAt", unrecoverable_at AS "unrecoverableAt",
  subject_commitment AS "subjectCommitment", key_id AS "keyId"`;

/** JSON columns as their texts. */
type Row = Omit<DeletionRequest, 'deletedCategories' | 'erasedRows'> &
  Readonly<Record<'deletedCategories' | 'erasedRows', string | null>>;

/** What names a request. */
type RequestName = Pick<DeletionRequest, 'botId' | 'id'>;

/** The requests that are being carried out. */
export function findProcessing(tx: Tx): Promise<DeletionRequest[]> {
  return find(tx, `status = 'processing'`);
}

/** One request; undefined for an unknown one. */
export async function findRequest(tx: Tx, { botId, id }: RequestName): Promise<DeletionRequest | undefined> {
  return (await find(tx, 'bot_id = ? AND id = ?', botId, id))[0];
}

/** Some requests of a bot, by their ids. */
export async function findRequests(
  tx: Tx,
  botId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, DeletionRequest>> {
  const among = amongValues(tx, 'id', ids);
  const found = await find(tx, `bot_id = ? AND ${among.sql}`, botId, among.value);
  return new Map(found.map((request) => [request.id, request]));
}

/** Locks requests, in the same order everywhere, and returns each as it is; undefined for an unknown one. */
export async function lockRequests(
  tx: Tx,
  requests: readonly RequestName[],
): Promise<(DeletionRequest | undefined)[]> {
  const given = givenRows(
    tx,
    ['bot_id', 'id'],
    requests.map(({ botId, id }) => [botId, id]),
  );
  const among = `(bot_id, id) IN (SELECT given.bot_id, given.id FROM ${given.sql})`;
  const found = await find(tx, `${among} ORDER BY bot_id, id FOR UPDATE`, ...given.values);
  const byId = new Map(found.map((request) => [request.id, request]));
  return requests.map(({ id }) => byId.get(id));
}

/** Records requests, unless their user is being erased already. Returns the ids of the recorded ones. */
export async function insertRequests(
  tx: Tx,
  requests: readonly DeletionRequest[],
): Promise<ReadonlySet<string>> {
  const columns = 'bot_id, id, guild_id, user_id, created_at, subject_commitment, subject, via';
  const given = givenRows(
    tx,
    columns.split(', '),
    requests.map(({ botId, id, guildId, userId, createdAt, subjectCommitment, subject, by }) => [
      ...[botId, id, guildId, userId, createdAt, subjectCommitment, subject, by],
    ]),
  );
  const rows = await tx.all<{ id: string }>(
    `INSERT INTO deletion_requests (${columns}, status, webhook_sent)
     SELECT ${columns}, 'processing', 0 FROM ${given.sql} WHERE place > 0 ORDER BY bot_id, user_id, id
     ON CONFLICT DO NOTHING RETURNING id`,
    ...given.values,
  );
  return new Set(rows.map(({ id }) => id));
}

/** Stores status, times and result of requests as they are given. */
export async function updateRequests(tx: Tx, requests: readonly DeletionRequest[]): Promise<void> {
  const columns = [
    'status',
    'deleted_categories',
    'erased_rows',
    'key_id',
    'completed_at',
    'unrecoverable_at',
  ];
  const given = givenRows(
    tx,
    ['bot_id', 'id', ...columns],
    requests.map(
      ({ botId, id, status, deletedCategories, erasedRows, keyId, completedAt, unrecoverableAt }) => [
        ...[botId, id, status, json(deletedCategories), json(erasedRows), keyId],
        ...[completedAt, unrecoverableAt],
      ],
    ),
  );
  await tx.run(
    `UPDATE deletion_requests SET ${columns.map((column) => `${column} = given.${column}`).join(', ')}
     FROM ${given.sql} WHERE deletion_requests.bot_id = given.bot_id AND deletion_requests.id = given.id`,
    ...given.values,
  );
}

/** The id of the newest completed erasure of a subject: the ids are in the order of time. */
export async function newestErasureOf(tx: Tx, subject: Subject): Promise<string | undefined> {
  const sql = `SELECT id FROM deletion_requests WHERE ${SUBJECT_WHERE} AND status = 'completed' ORDER BY id DESC LIMIT 1`;
  return (await tx.get<{ id: string }>(sql, ...subjectValues(subject)))?.id;
}

/** For each subject, whether an erasure of it is under way. */
export async function areBeingErased(tx: Tx, subjects: readonly Subject[]): Promise<boolean[]> {
  const sql = `SELECT 1 FROM deletion_requests WHERE ${SUBJECT_WHERE} AND status = 'processing'`;
  const found = await tx.each(sql, subjects.map(subjectValues));
  return found.map((rows) => rows.length > 0);
}

/**
 * Whether an erasure of a subject is under way, or its key is not `keyId` any more: an erasure destroys the key, and what is
 * held later has another one. The cost does not depend on the number of earlier erasures.
 */
export async function isErased(
  reader: Pick<UnitOfWork, 'get'>,
  subject: Subject,
  keyId?: string,
): Promise<boolean> {
  const values = subjectValues(subject);
  const found = await reader.get<{ key_id: string | null; processing: boolean | number }>(
    `SELECT (${SELECT_KEY_ID}) AS key_id,
       EXISTS (SELECT 1 FROM deletion_requests WHERE ${SUBJECT_WHERE} AND status = 'processing') AS processing`,
    ...[...values, ...values],
  );
  return Boolean(found?.processing) || (keyId !== undefined && found?.key_id !== keyId);
}

/** Records that the receiver of the bot confirmed `user_forgotten`. */
export async function confirmForgotten(tx: Tx, botId: string, requestId: string | null): Promise<void> {
  await tx.run('UPDATE deletion_requests SET webhook_sent = 1 WHERE bot_id = ? AND id = ?', botId, requestId);
}

/** Erasures that are neither completed nor failed. */
export interface ErasureBacklog {
  /** Counted up to 10,000. */
  readonly processing: number;
  /** When the oldest of all began; undefined for none. */
  readonly oldest: string | undefined;
}

const COUNTED_MAX = 10_000;
const PROCESSING = `FROM deletion_requests WHERE status = 'processing'`;

export async function erasureBacklog(reader: Pick<UnitOfWork, 'get'>): Promise<ErasureBacklog> {
  const row = await reader.get<{ at: string | null; processing: number }>(
    `SELECT MIN(created_at) AS at,
     (SELECT COUNT(*) FROM (SELECT 1 ${PROCESSING} LIMIT ${COUNTED_MAX}) found) AS processing ${PROCESSING}`,
  );
  return { processing: row?.processing ?? 0, oldest: row?.at ?? undefined };
}

async function find(tx: Tx, where: string, ...values: SqlPart['values']): Promise<DeletionRequest[]> {
  const rows = await tx.all<Row>(`SELECT ${COLUMNS} FROM deletion_requests WHERE ${where}`, ...values);
  return rows.map((row) => ({
    ...row,
    deletedCategories: parsed<readonly string[]>(row.deletedCategories),
    erasedRows: parsed<Readonly<Record<string, number>>>(row.erasedRows),
  }));
}
