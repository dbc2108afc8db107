import { eachOf, type Tx } from '@app/database';
import { JsonText } from '@app/http';
import { type Subject, SUBJECT_WHERE } from '@app/subjects';
import type { ConsentHistoryEntryView } from './consent-history.dto';
import type { ConsentTransition, ShownText } from './consent.entity';
import { historyEntryView } from './consent.views';

type Entry = Omit<ConsentTransition, 'bot'>;

/** What a user is shown: the requested language, if any, and the digests of the texts. */
export interface Shown {
  readonly language: string | null;
  readonly texts: readonly ShownText[];
}

/** Entries of one subject read by one statement; each may name 50 categories. */
const BATCH = 50;

const COLUMNS = 'id, consent_id, action, version, categories, created_at, language, texts, source';

const INSERT = `INSERT INTO consent_history (bot_id, guild_id, user_id, ${COLUMNS})`;

const APPEND = `${INSERT} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** A decision is about what was shown last under its request. */
const LATEST = `FROM consent_history WHERE ${SUBJECT_WHERE} AND consent_id = ? ORDER BY id DESC LIMIT 1`;

const APPEND_DECISION = `${INSERT}
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT language ${LATEST}), (SELECT texts ${LATEST}), ?) RETURNING language, texts`;

type Row = Record<'id' | 'consent_id' | 'version' | 'created_at', string> & {
  action: ConsentTransition['action'];
} & Record<'categories' | 'language' | 'texts' | 'source', string | null>;

/** An entry without its subject, which the reader has given. */
export type HistoryEntry = Omit<Entry, 'botId' | 'guildId' | 'userId'>;

/** Appends an entry about texts shown to a user. */
export async function appendShown(tx: Tx, entry: Entry): Promise<void> {
  const { language, texts, source } = entry;
  await tx.run(APPEND, ...valuesOf(entry), language, JSON.stringify(texts ?? []), source);
}

/** Appends an entry about a decision, with the texts shown last under its request; answers the entry. */
export async function appendDecision(
  tx: Tx,
  entry: Omit<Entry, 'language' | 'texts'>,
): Promise<HistoryEntry> {
  const { botId, guildId, userId, consentId, source } = entry;
  const latest = [botId, guildId, userId, consentId];
  const values = [...valuesOf(entry), ...latest, ...latest, source];
  const shown = await tx.get<Pick<Row, 'language' | 'texts'>>(APPEND_DECISION, ...values);
  return { ...entry, language: shown?.language ?? null, texts: textsOf(shown?.texts ?? null) };
}

function valuesOf(entry: Omit<Entry, 'language' | 'texts' | 'source'>) {
  const { botId, guildId, userId, id, consentId, action, version, categories, createdAt } = entry;
  const named = categories === null ? null : JSON.stringify(categories);
  return [botId, guildId, userId, id, consentId, action, version, named, createdAt];
}

/** The newest entry about a request or about its consent. */
export async function latestOf(
  tx: Tx,
  { botId, guildId, userId }: Subject,
  consentId: string,
): Promise<HistoryEntry | undefined> {
  const row = await tx.get<Row>(`SELECT ${COLUMNS} ${LATEST}`, botId, guildId, userId, consentId);
  return row && entryOf(row);
}

export async function countHistory(tx: Tx, { botId, guildId, userId }: Subject): Promise<number> {
  const sql = `SELECT COUNT(*) AS total FROM consent_history WHERE ${SUBJECT_WHERE}`;
  const row = await tx.get<{ total: number }>(sql, botId, guildId, userId);
  return Number(row?.total ?? 0);
}

/** A page of the history as the JSON that is answered, newest first, from its stored JSON as it is. */
export async function historyPage(
  tx: Tx,
  { botId, guildId, userId }: Subject,
  limit: number,
  offset: number,
): Promise<JsonText[]> {
  const sql = `SELECT ${COLUMNS} FROM consent_history WHERE ${SUBJECT_WHERE} ORDER BY id DESC LIMIT ? OFFSET ?`;
  const rows = await tx.all<Row>(sql, botId, guildId, userId, limit, offset);
  return rows.map(({ id, consent_id, action, version, categories, language, texts, source, created_at }) => {
    const head = JSON.stringify({ id, consent_id, action, version }).slice(0, -1);
    const shown = `"categories":${categories},"language":${JSON.stringify(language)},"texts":${texts ?? '[]'}`;
    return new JsonText(`${head},${shown},${JSON.stringify({ source, created_at }).slice(1)}`);
  });
}

/** The whole history, oldest first, read in parts. */
export async function* historyOf(
  tx: Tx,
  { botId, guildId, userId }: Subject,
): AsyncGenerator<ConsentHistoryEntryView> {
  const sql = `SELECT ${COLUMNS} FROM consent_history WHERE ${SUBJECT_WHERE} AND id > ? ORDER BY id LIMIT ${BATCH}`;
  const read = (after?: Row): Promise<Row[]> => tx.all(sql, botId, guildId, userId, after?.id ?? '');
  for await (const row of eachOf(BATCH, read)) yield historyEntryView(entryOf(row));
}

function entryOf(row: Row): HistoryEntry {
  return {
    id: row.id,
    consentId: row.consent_id,
    action: row.action,
    version: row.version,
    categories: row.categories === null ? null : (JSON.parse(row.categories) as string[]),
    createdAt: row.created_at,
    language: row.language,
    texts: textsOf(row.texts),
    source: row.source,
  };
}

function textsOf(json: string | null): ShownText[] | null {
  return json === null ? null : (JSON.parse(json) as ShownText[]);
}
