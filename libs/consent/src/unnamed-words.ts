import { amongValues, type Batches, pages, parsed, type Tx, type UnitOfWork } from '@app/database';
import { daysAfter } from '@app/kernel';
import type { ShownText } from './consent.entity';

/** Rows read by one statement, and changed by one unit. */
const PAGE = 500;

/** Days after which words that an entry names are looked for again: it costs a walk over the history of the bot. */
const AGAIN_DAYS = 30;

/** Old texts looked for by one sweep, about 5 kB of memory each; the next one looks for further ones. */
const TEXTS_MAX = 5_000;

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
  // The time of words can be a day behind. By whole days, so that one sweep a day finds old words and walks over the history.
  const before = `${daysAfter(beforeIso, -1).slice(0, 10)}T00:00:00.000Z`;
  const old = new Set<string>();
  const texts = new Map<string, readonly string[]>();
  const named = new Set<string>();
  const words = (after: WordsRow | undefined) =>
    unitOfWork.read((tx) => tx.all<WordsRow>(WORDS, botId, after?.digest ?? ''));
  for await (const page of pages(PAGE, words)) {
    for (const { digest, created_at: at, parts } of page) {
      const isOld = at < before && (parts === null || texts.size < TEXTS_MAX);
      const made = parsed<string[]>(parts);
      if (isOld) old.add(digest);
      if (made !== null && isOld) texts.set(digest, made);
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
  const change = (tx: Tx, sql: string, digests: readonly string[], ...values: readonly string[]) => {
    const among = amongValues(tx, 'digest', digests);
    const where = `bot_id = ? AND created_at < ? AND ${among.sql}`;
    return tx.run(`${sql} WHERE ${where}`, ...values, botId, before, among.value);
  };
  for (let from = 0; from < old.size; from += PAGE) {
    const some = [...old].slice(from, from + PAGE);
    const kept = some.filter((each) => named.has(each));
    const gone = some.filter((each) => !named.has(each));
    yield async (tx) => {
      await change(tx, 'UPDATE consent_words SET created_at = ?', kept, daysAfter(before, AGAIN_DAYS));
      return change(tx, 'DELETE FROM consent_words', gone);
    };
  }
}
