import { amongValues, givenRows, type Tx } from '@app/database';
import { notFound } from '@app/kernel';
import type { ConsentNotice, ConsentTexts } from './consent-texts';
import { digestOf } from './text-digest';

/** A shown text with the further facts of a registered one: its digest is over these fields. */
export type ShownWords = ConsentTexts & ConsentNotice;

type Part = Omit<ConsentTexts, 'categories'> | ConsentTexts['categories'][number];

const REGISTERED = 'SELECT content, notice FROM consent_texts WHERE bot_id = ? AND digest = ? LIMIT 1';
const FIND = 'SELECT content FROM consent_words WHERE bot_id = ? AND digest = ?';

/**
 * Keeps a text that the service has made of declarations, so that the words can be shown later (GDPR Art. 7(1)). Its parts
 * are stored once each: requests that name other categories share them.
 */
export async function keepWords(
  tx: Tx,
  botId: string,
  digest: string,
  { categories, ...frame }: ConsentTexts,
  at: string,
): Promise<void> {
  if ((await tx.get(FIND, botId, digest)) !== undefined) return;
  const parts = [frame, ...categories].map((part) => [digestOf(part), JSON.stringify(part)] as const);
  const list = JSON.stringify(parts.map(([each]) => each));
  const rows = new Map<string, string>([...parts, [digest, list]]);
  const given = givenRows(tx, ['digest', 'content'], [...rows]);
  // In the same order everywhere, so that no two units wait for each other. On SQLite the condition ends the FROM clause.
  await tx.run(
    `INSERT INTO consent_words (bot_id, digest, content, created_at)
     SELECT ?, digest, content, ? FROM ${given.sql} WHERE place > 0 ORDER BY digest ON CONFLICT (bot_id, digest) DO NOTHING`,
    ...[botId, at, ...given.values],
  );
}

/** The words of a shown text, whether the bot has registered it or the service has made it. @throws ApiError 404 */
export async function wordsShown(tx: Tx, botId: string, digest: string): Promise<ShownWords> {
  return (await wordsFound(tx, botId, digest)) ?? unknownText();
}

/** {@link wordsShown}; undefined for an unknown digest. */
export async function wordsFound(tx: Tx, botId: string, digest: string): Promise<ShownWords | undefined> {
  return (await registeredWords(tx, botId, digest)) ?? madeWords(tx, botId, digest);
}

/** The texts of {@link wordsShown} without the further facts. @throws ApiError 404 */
export async function textsShown(tx: Tx, botId: string, digest: string): Promise<ConsentTexts> {
  const found = await tx.get<{ content: string }>(REGISTERED, botId, digest);
  if (found !== undefined) return JSON.parse(found.content) as ConsentTexts;
  return (await madeWords(tx, botId, digest)) ?? unknownText();
}

function unknownText(): never {
  throw notFound('Consent text');
}

async function registeredWords(tx: Tx, botId: string, digest: string): Promise<ShownWords | undefined> {
  const found = await tx.get<{ content: string; notice: string | null }>(REGISTERED, botId, digest);
  if (found === undefined) return undefined;
  return {
    ...(JSON.parse(found.content) as ConsentTexts),
    ...(JSON.parse(found.notice ?? '{}') as ConsentNotice),
  };
}

async function madeWords(tx: Tx, botId: string, digest: string): Promise<ShownWords | undefined> {
  const list = await tx.get<{ content: string }>(FIND, botId, digest);
  const digests = JSON.parse(list?.content ?? '[]') as unknown;
  // The digest of a part is none of a text.
  if (!Array.isArray(digests) || digests.length === 0) return undefined;
  const among = amongValues(tx, 'digest', digests as string[]);
  const rows = await tx.all<{ digest: string; content: string }>(
    `SELECT digest, content FROM consent_words WHERE bot_id = ? AND ${among.sql}`,
    ...[botId, among.value],
  );
  const found = new Map(rows.map((row) => [row.digest, JSON.parse(row.content) as Part]));
  const [frame, ...categories] = (digests as string[]).map((each) => found.get(each) ?? unknownText());
  const { title, body, ...labels } = frame as Omit<ConsentTexts, 'categories'>;
  return { title, body, categories: categories as ConsentTexts['categories'][number][], ...labels };
}
