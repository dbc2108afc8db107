import { amongValues, givenRows, type Tx } from '@app/database';
import { attempt, dtoOf, JsonText } from '@app/http';
import { ApiError, daysAfter, type FieldFault, invalidRequest, notFound } from '@app/kernel';
import { type ConsentNotice, type ConsentTexts, digestOf, NOTICE, textDigest } from './consent-texts';
import { type ConsentTextView, RegisterConsentText } from './consent-texts.dto';
import type { ConsentText } from './consent.entity';

/** A shown text with the further facts of a registered one: its digest is over these fields. */
export type ShownWords = ConsentTexts & ConsentNotice;

/** {@link ShownWords} with the tag of their language. */
export type WordsInLanguage = ShownWords & { readonly language: string };

type Part = Omit<ConsentTexts, 'categories'> | ConsentTexts['categories'][number];

const REGISTERED = 'SELECT content, notice FROM consent_texts WHERE bot_id = ? AND digest = ? LIMIT 1';
const FIND = 'SELECT content FROM consent_words WHERE bot_id = ? AND digest = ?';
const MADE_AT = 'SELECT created_at FROM consent_words WHERE bot_id = ? AND digest = ?';

/**
 * Keeps texts, by their digests, that the service has made of declarations, so that the words can be shown later (GDPR
 * Art. 7(1)). Their parts are stored once each: requests that name other categories share them. Their time is that of the last day
 * on which they were made: by it `removeUnnamedWords` finds the old ones.
 */
export async function keepWords(
  tx: Tx,
  botId: string,
  made: ReadonlyMap<string, ConsentTexts>,
  at: string,
): Promise<void> {
  const rows = new Map<string, string>();
  for (const [digest, { categories, ...frame }] of made) {
    const kept = await tx.get<{ created_at: string }>(MADE_AT, botId, digest);
    if (kept !== undefined && kept.created_at > daysAfter(at, -1)) continue;
    const parts = [frame, ...categories].map((part) => [digestOf(part), JSON.stringify(part)] as const);
    for (const [part, content] of parts) rows.set(part, content);
    rows.set(digest, JSON.stringify(parts.map(([part]) => part)));
  }
  if (rows.size === 0) return;
  const given = givenRows(tx, ['digest', 'content'], [...rows]);
  // In the same order everywhere, so that no two units wait for each other. On SQLite the condition ends the FROM clause.
  await tx.run(
    `INSERT INTO consent_words (bot_id, digest, content, created_at)
     SELECT ?, digest, content, ? FROM ${given.sql} WHERE place > 0 ORDER BY digest
     ON CONFLICT (bot_id, digest) DO UPDATE SET created_at = excluded.created_at
     WHERE consent_words.created_at < excluded.created_at`,
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
  // A digest of a part has no list of digests: it names no text.
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

/** A text in one language, as it is stored. */
export type StorableText = Pick<ConsentText, 'language' | 'digest' | 'content' | 'notice'>;

/** The texts of a registration in further languages. @throws ApiError 400 that names each bad field by its path */
export function furtherTexts({
  consent_version,
  language,
  texts,
}: RegisterConsentText): RegisterConsentText[] {
  const faults: FieldFault[] = [];
  const found = Object.entries(texts ?? {}).flatMap(([tag, text]) => {
    const at = `texts.${tag}`;
    if (tag === language) faults.push({ field: at, message: 'is the language of the text itself' });
    else if (typeof text !== 'object' || text === null || Array.isArray(text))
      faults.push({ field: at, message: 'must be a JSON object' });
    else {
      const given = { ...text, consent_version, language: tag, texts: undefined };
      const read = attempt(() => dtoOf(RegisterConsentText, given));
      if (!(read instanceof ApiError)) return [read];
      for (const { field, message } of read.details?.['fields'] as readonly FieldFault[])
        faults.push({ field: field === 'language' ? at : `${at}.${field}`, message });
    }
    return [];
  });
  if (faults.length > 0) throw invalidRequest(faults);
  return found;
}

export function storable(input: RegisterConsentText): StorableText {
  const { language, title, body } = input;
  const categories = (input.categories ?? []).map(({ key, label, text }) => ({ key, label, text }));
  const content = { title, body, categories, ...given(input, ['accept_label', 'decline_label']) };
  const facts = given(input, NOTICE);
  const notice = Object.keys(facts).length === 0 ? null : facts;
  return { language, digest: textDigest(content, notice), content, notice };
}

/** The fields that a registration gives. */
function given<Name extends keyof RegisterConsentText>(input: RegisterConsentText, names: readonly Name[]) {
  const fields = names.map((name) => [name, input[name]] as const);
  return Object.fromEntries(fields.filter(([, value]) => value != null)) as {
    readonly [Field in Name]?: NonNullable<RegisterConsentText[Field]>;
  };
}

/** The answer to a registration: the first text, with the others by their language. */
export function inLanguages([first, ...others]: readonly ConsentTextView[]): ConsentTextView {
  const texts = Object.fromEntries(others.map((each) => [each.language, each]));
  return { ...(first as ConsentTextView), ...(others.length > 0 && { texts }) };
}

/** A registered text as it is stored, with its JSON. */
export type TextRow = Record<'consent_version' | 'language' | 'digest' | 'content' | 'created_at', string> & {
  readonly notice: string | null;
};

/** The answer about a registered text, from its stored JSON as it is. */
export function textOf({ content, notice, created_at, ...named }: TextRow): JsonText {
  const { consent_version, language, digest } = named;
  const parts = [JSON.stringify({ consent_version, language, digest }), content];
  if (notice !== null) parts.push(notice);
  parts.push(JSON.stringify({ created_at }));
  return new JsonText(`{${parts.map((part) => part.slice(1, -1)).join(',')}}`);
}
