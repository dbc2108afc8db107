import { amongValues, type Batches, pages, parsed, type Tx, type UnitOfWork } from '@app/database';
import { daysAfter } from '@app/kernel';
import type { ShownText } from './consent.entity';

/** Rows read by one statement, and changed by one unit. */
const PAGE = 500;

/** Days after which words that an entry names are looked for again: it costs a walk over the history of the bot. */
const AGAIN_DAYS = 30;

const WORDS = `SELECT digest, created_at, CASE WHEN content LIKE '[%' THEN content END AS parts
  FROM consent_words WHERE bot_id = ? AND digest > ? ORDER BY digest LIMIT ${PAGE}`;
const ENTRIES = `SELECT guild_id, user_id, id, texts FROM consent_history
  WHERE bot_id = ? AND (guild_id, user_id, id) > (?, ?, ?) ORDER BY guild_id, user_id, id LIMIT ${PAGE}`;

type WordsRow = Record<'digest' | 'created_at', string> & { readonly parts: string | null };
type EntryRow = Record<'guild_id' | 'user_id' | 'id', string> & { readonly texts: string | null };

/**
 * Removes the words of a bot that were last made before `beforeIso` and that no entry of the history names, with the parts of which
 * no kept text is made. Words that are made again meanwhile stay: they are not that old any more.
 */
export async function* removeUnnamedWords(unitOfWork: UnitOfWork, botId: string, beforeIso: string): Batches {
  // The time of words can be a day behind.
  const before = daysAfter(beforeIso, -1);
  const old = new Set<string>();
  const texts = new Map<string, readonly string[]>();
  const named = new Set<string>();
  const words = (after: WordsRow | undefined) =>
    unitOfWork.read((tx) => tx.all<WordsRow>(WORDS, botId, after?.digest ?? ''));
  for await (const page of pages(PAGE, words)) {
    for (const { digest, created_at: at, parts } of page) {
      if (at < before) old.add(digest);
      const made = parsed<string[]>(parts);
      if (made !== null && at < before) texts.set(digest, made);
      else for (const part of made ?? []) named.add(part);
    }
    yield undefined;
  }
  const entries = (after: EntryRow | undefined) => {
    const { guild_id: guild = '', user_id: user = '', id = '' } = after ?? {};
    return unitOfWork.read((tx) => tx.all<EntryRow>(ENTRIES, botId, guild, user, id));
  };
  if (texts.size > 0)
    for await (const page of pages(PAGE, entries)) {
      for (const { digest } of page.flatMap((entry) => parsed<ShownText[]>(entry.texts) ?? [])) {
        for (const each of [digest, ...(texts.get(digest) ?? [])]) named.add(each);
        texts.delete(digest);
      }
      if (texts.size === 0) break;
      yield undefined;
    }
  const change =
    (sql: string, digests: readonly string[], ...values: readonly string[]) =>
    (tx: Tx) => {
      const among = amongValues(tx, 'digest', digests);
      return tx.run(
        `${sql} WHERE bot_id = ? AND created_at < ? AND ${among.sql}`,
        ...values,
        botId,
        before,
        among.value,
      );
    };
  const [kept, gone] = [
    [...old].filter((each) => named.has(each)),
    [...old].filter((each) => !named.has(each)),
  ];
  for (let at = 0; at < gone.length; at += PAGE)
    yield change('DELETE FROM consent_words', gone.slice(at, at + PAGE));
  for (let at = 0; at < kept.length; at += PAGE)
    yield change(
      'UPDATE consent_words SET created_at = ?',
      kept.slice(at, at + PAGE),
      daysAfter(before, AGAIN_DAYS),
    );
}
