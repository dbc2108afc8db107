import { eachOf, insertion, json, parsed, type Tx } from '@app/database';
import { JsonText, type Page } from '@app/http';
import { sameSubject, type Subject, SUBJECT_KEY, SUBJECT_WHERE, subjectValues } from '@app/crypto';
import { idAfter } from '@app/kernel';
import { notBefore } from './consent-changes';
import { LEAVING_REFUSAL, PUTTING_IN_FORCE } from './consent-states';
import type { ConsentHistoryEntry, ShownText } from './consent.entity';

/** What a user is shown: the requested language, if any, and the digests of the texts. */
export interface Shown {
  readonly language: string | null;
  readonly texts: readonly ShownText[];
}

/** Entries of one subject read by one statement; each may name 50 categories, in 5 KB. */
const BATCH = 10;

const OF_ENTRY = ['id', 'consent_id', 'action', 'version', 'categories', 'created_at', 'source'];
const OF_SHOWN = ['language', 'texts'];
/** The columns of an {@link UnshownEntry}, in the order of its values. */
const UNSHOWN = [...SUBJECT_KEY, ...OF_ENTRY];
const COLUMNS = [...UNSHOWN, ...OF_SHOWN];
const ANSWERED = [...OF_ENTRY, ...OF_SHOWN].join(', ');

const APPEND = insertion('INSERT INTO consent_history', COLUMNS, '');

/** A decision is about what was shown last under its request. */
const LATEST = `FROM consent_history WHERE ${SUBJECT_WHERE} AND consent_id = ? ORDER BY id DESC LIMIT 1`;

const ACCEPTED = `SELECT source FROM consent_history
  WHERE ${SUBJECT_WHERE} AND consent_id = ? AND action IN (${PUTTING_IN_FORCE}) ORDER BY id DESC LIMIT 1`;

const INSERT_DECISION = `INSERT INTO consent_history (${COLUMNS.join(', ')})`;
const DECIDE = `${INSERT_DECISION}
  VALUES (${UNSHOWN.map(() => '?').join(', ')}, (SELECT language ${LATEST}), (SELECT texts ${LATEST})) RETURNING id, language, texts`;
const DECIDE_ALL = `${INSERT_DECISION}
  SELECT given.*, latest.language, latest.texts
  FROM unnest(${UNSHOWN.map(() => '?::text[]').join(', ')}) AS given (${UNSHOWN.join(', ')})
  LEFT JOIN LATERAL (
    SELECT language, texts FROM consent_history AS entry
    WHERE ${sameSubject('entry', 'given')} AND entry.consent_id = given.consent_id
    ORDER BY entry.id DESC LIMIT 1
  ) AS latest ON true
  RETURNING id, language, texts`;

const NEWEST = `SELECT id, created_at FROM consent_history WHERE ${SUBJECT_WHERE} ORDER BY id DESC LIMIT 1`;

/**
 * The column `declined_at` of a statement: the time of the last refusal of one subject, null if a request or an
 * acceptance follows it. A withdrawal is about an earlier consent.
 */
export function declinedAt(ofSubject: string): string {
  return `(SELECT CASE action WHEN 'declined' THEN created_at END FROM consent_history
    WHERE ${ofSubject} AND action NOT IN (${LEAVING_REFUSAL}) ORDER BY id DESC LIMIT 1) AS declined_at`;
}

type Row = Record<'id' | 'consent_id' | 'version' | 'created_at', string> & {
  action: ConsentHistoryEntry['action'];
} & Record<'categories' | 'language' | 'texts' | 'source', string | null>;

type ShownRow = Pick<Row, 'id' | 'language' | 'texts'>;

/** An entry without what the user was shown. */
type UnshownEntry = Omit<ConsentHistoryEntry, 'language' | 'texts' | 'bot'>;

/** What an entry proves: where, in which language and by which texts the user was asked. */
export type HistoryEntry = Pick<ConsentHistoryEntry, 'id' | 'language' | 'texts' | 'source'>;

/** The newest entry of a subject; undefined for one without a history. */
export type Newest = Pick<Row, 'id' | 'created_at'> | undefined;

/** The newest entries of subjects that the unit has locked, so that what it appends follows them. */
export async function newestOf(tx: Tx, subjects: readonly Subject[]): Promise<Newest[]> {
  const found = await tx.each<NonNullable<Newest>>(NEWEST, subjects.map(subjectValues));
  return found.map(([newest]) => newest);
}

/** The time of the newest entry of a bot; undefined without one. */
export async function newestTime(tx: Tx, botId: string): Promise<string | undefined> {
  const sql = 'SELECT MAX(created_at) AS at FROM consent_history WHERE bot_id = ?';
  return (await tx.get<{ at: string | null }>(sql, botId))?.at ?? undefined;
}

/** Id and time of an entry that is appended after `newest`, which a process with another clock may have written. */
export function following(
  newest: Newest,
  entry: { readonly id: string; readonly createdAt: string },
): typeof entry {
  if (newest === undefined) return entry;
  return { id: idAfter(entry.id, newest.id), createdAt: notBefore(entry.createdAt, newest.created_at) };
}

/** Appends entries about texts shown to users. */
export async function appendShown(
  tx: Tx,
  given: readonly { readonly entry: UnshownEntry; readonly shown: Shown }[],
): Promise<void> {
  await APPEND(
    tx,
    given.map(({ entry, shown }) => [...valuesOf(entry), shown.language, JSON.stringify(shown.texts)]),
  );
}

/** Appends entries about decisions, each with the texts shown last under its request. */
export async function appendDecisions(tx: Tx, entries: readonly UnshownEntry[]): Promise<HistoryEntry[]> {
  const shown = new Map<string, ShownRow>();
  if (tx.engine === 'postgres') {
    const rows = entries.map(valuesOf);
    const columns = UNSHOWN.map((_, at) => rows.map((row) => row[at] ?? null));
    for (const row of await tx.all<ShownRow>(DECIDE_ALL, ...columns)) shown.set(row.id, row);
  } else
    for (const entry of entries) {
      const latest = [entry.botId, entry.guildId, entry.userId, entry.consentId];
      const row = await tx.get<ShownRow>(DECIDE, ...valuesOf(entry), ...latest, ...latest);
      if (row !== undefined) shown.set(row.id, row);
    }
  return entries.map(({ id, source }) => {
    const { language = null, texts = null } = shown.get(id) ?? {};
    return { id, language, texts: parsed<ShownText[]>(texts), source };
  });
}

function valuesOf(entry: UnshownEntry) {
  const { botId, guildId, userId, id, consentId, action, version, categories, createdAt, source } = entry;
  return [botId, guildId, userId, id, consentId, action, version, json(categories), createdAt, source];
}

/** The newest entry about a request or about its consent. */
export async function latestOf(
  tx: Tx,
  { botId, guildId, userId }: Subject,
  consentId: string,
): Promise<HistoryEntry | undefined> {
  const row = await tx.get<ShownRow & Pick<Row, 'source'>>(
    `SELECT id, language, texts, source ${LATEST}`,
    ...[botId, guildId, userId, consentId],
  );
  return row && { ...row, texts: parsed<ShownText[]>(row.texts) };
}

/** {@link latestOf} of a consent in force, with the place where the user has consented: a part can be withdrawn at another one. */
export async function decisionOf(
  tx: Tx,
  subject: Subject,
  consentId: string,
): Promise<HistoryEntry | undefined> {
  const [latest, accepted] = await Promise.all([
    latestOf(tx, subject, consentId),
    tx.get<Pick<Row, 'source'>>(ACCEPTED, ...subjectValues(subject), consentId),
  ]);
  return latest && { ...latest, source: accepted?.source ?? null };
}

export function countHistory(tx: Tx, { botId, guildId, userId }: Subject): Promise<number> {
  const sql = `SELECT COUNT(*) AS total FROM consent_history WHERE ${SUBJECT_WHERE}`;
  return tx.total(sql, botId, guildId, userId);
}

/** A page of the history as the JSON that is answered, newest first. */
export async function historyPage(
  tx: Tx,
  { botId, guildId, userId }: Subject,
  page: Page<[id: string]>,
): Promise<JsonText[]> {
  const before = page.after === undefined ? '' : 'AND id < ?';
  const rows = await tx.all<Row>(
    `SELECT ${ANSWERED} FROM consent_history WHERE ${SUBJECT_WHERE} ${before} ORDER BY id DESC LIMIT ? OFFSET ?`,
    ...[botId, guildId, userId, ...(page.after ?? []), page.limit, page.offset],
  );
  return page.cut(rows, ({ id }) => [id]).map(textOf);
}

/** The whole history as the JSON that is answered, oldest first, read in parts. The digests of its texts are put into `shown`. */
export async function* historyOf(
  tx: Tx,
  { botId, guildId, userId }: Subject,
  shown: Set<string>,
): AsyncGenerator<JsonText> {
  const sql = `SELECT ${ANSWERED} FROM consent_history WHERE ${SUBJECT_WHERE} AND id > ? ORDER BY id LIMIT ${BATCH}`;
  const read = (after?: Row): Promise<Row[]> => tx.all(sql, botId, guildId, userId, after?.id ?? '');
  for await (const row of eachOf(BATCH, read)) {
    for (const { digest } of parsed<ShownText[]>(row.texts) ?? []) shown.add(digest);
    yield textOf(row);
  }
}

/** An entry as it is answered, from its stored JSON as it is. */
function textOf({ id, consent_id, action, version, categories, language, texts, source, created_at }: Row) {
  const head = JSON.stringify({ id, consent_id, action, version }).slice(0, -1);
  const shown = `"categories":${categories},"language":${JSON.stringify(language)},"texts":${texts ?? '[]'}`;
  return new JsonText(`${head},${shown},${JSON.stringify({ source, created_at }).slice(1)}`);
}
