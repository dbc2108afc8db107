import { givenRows, json, parsed, type SqlPart, type Tx } from '@app/database';
import type { Digest } from '@app/primitives';
import type { DeletionRequest, DeletionStatus } from './deletion-request.entity';

const COLUMNS = `bot_id, id, guild_id, user_id, status, deleted_categories, webhook_sent, created_at, completed_at,
  unrecoverable_at, subject, subject_commitment, key_id, erased_rows, certificate, via`;

type Texts = Record<
  | 'completed_at'
  | 'unrecoverable_at'
  | 'subject'
  | 'subject_commitment'
  | 'key_id'
  | 'certificate'
  | 'via'
  | 'deleted_categories'
  | 'erased_rows',
  string | null
>;

type Row = Readonly<
  Record<'bot_id' | 'id' | 'created_at', string> &
    Record<'guild_id' | 'user_id', Digest> &
    Texts & { status: DeletionStatus; webhook_sent: number }
>;

/** What names a request. */
export type RequestName = Pick<DeletionRequest, 'botId' | 'id'>;

/** The requests that are being carried out. */
export function findProcessing(tx: Tx): Promise<DeletionRequest[]> {
  return find(tx, `status = 'processing'`);
}

/** One request; null for an unknown one. */
export async function findRequest(tx: Tx, { botId, id }: RequestName): Promise<DeletionRequest | null> {
  return (await find(tx, 'bot_id = ? AND id = ?', botId, id))[0] ?? null;
}

/** Locks requests, in the same order everywhere, and answers each as it is; undefined for an unknown one. */
export async function lockRequests(
  tx: Tx,
  requests: readonly RequestName[],
): Promise<(DeletionRequest | undefined)[]> {
  const { sql, values } = amongRequests(tx, requests);
  const found = await find(tx, `${sql} ORDER BY bot_id, id FOR UPDATE`, ...values);
  const byId = new Map(found.map((request) => [request.id, request]));
  return requests.map(({ id }) => byId.get(id));
}

/** Records requests. Answers the ids of those whose user is not being erased already. */
export async function insertRequests(
  tx: Tx,
  requests: readonly DeletionRequest[],
): Promise<ReadonlySet<string>> {
  const columns = 'bot_id, id, guild_id, user_id, created_at, subject_commitment, subject, via';
  const given = givenRows(
    tx,
    columns.split(', '),
    requests.map(({ botId, id, guildId, userId, createdAt, subjectCommitment, subject, via }) => [
      ...[botId, id, guildId, userId, createdAt, subjectCommitment, subject, via],
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

/** The condition for the rows of requests. */
function amongRequests(tx: Tx, requests: readonly RequestName[]): SqlPart {
  const given = givenRows(
    tx,
    ['bot_id', 'id'],
    requests.map(({ botId, id }) => [botId, id]),
  );
  return { sql: `(bot_id, id) IN (SELECT given.bot_id, given.id FROM ${given.sql})`, values: given.values };
}

async function find(tx: Tx, where: string, ...values: SqlPart['values']): Promise<DeletionRequest[]> {
  const rows = await tx.all<Row>(`SELECT ${COLUMNS} FROM deletion_requests WHERE ${where}`, ...values);
  return rows.map(requestOf);
}

function requestOf(row: Row): DeletionRequest {
  return {
    botId: row.bot_id,
    id: row.id,
    guildId: row.guild_id,
    userId: row.user_id,
    status: row.status,
    deletedCategories: parsed<readonly string[]>(row.deleted_categories),
    webhookSent: Number(row.webhook_sent),
    createdAt: row.created_at,
    completedAt: row.completed_at,
    unrecoverableAt: row.unrecoverable_at,
    subject: row.subject,
    subjectCommitment: row.subject_commitment,
    keyId: row.key_id,
    erasedRows: parsed<Readonly<Record<string, number>>>(row.erased_rows),
    certificate: row.certificate,
    via: row.via,
  };
}
