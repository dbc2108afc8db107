import { Inject, Injectable } from '@nestjs/common';
import { findBot, lockBot } from '@app/bots';
import { declarationsOf, type DeclaredPurpose } from '@app/categories';
import { Cursors, type Subject } from '@app/crypto';
import { botDeleted, type Tx, UnitOfWork } from '@app/database';
import { languageFor, ListPage } from '@app/http';
import { Acts, type Claim } from '@app/acts';
import { Clock, type Config, CONFIG, conflict, invalidRequest, requireBytes } from '@app/kernel';
import type { Shown } from './consent-history';
import { consentTexts, type ConsentTexts, declaredVersion, speaks, textDigest } from './consent-texts';
import type {
  ConsentTextsQuery,
  ConsentTextView,
  ConsentWordsView,
  RegisterConsentText,
} from './consent-texts.dto';
import {
  furtherTexts,
  inLanguages,
  keepWords,
  storable,
  type StorableText,
  textOf,
  type TextRow,
  wordsShown,
} from './consent-words';
import type { RequestConsent } from './consent.dto';

/** Most languages of one version; a request without a language is about all of them. */
const LANGUAGES_MAX = 50;

const DEFAULT_LANGUAGE = 'en';

const SHOWN = 'consent_version, language, digest, content, notice, created_at';

/** The content of a request and its texts. */
export interface Asking {
  readonly version: string;
  readonly shown: Shown;
  /** The texts to show to the user; null for a request without categories. */
  readonly texts: ConsentTexts | null;
  /** Whether the service has made them of declarations, so that they are kept. */
  readonly isMade?: true;
}

/**
 * The texts of requests. A registered text is never changed, since users have agreed to it: another text needs another
 * version.
 */
@Injectable()
export class ConsentTextsService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly acts: Acts,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    private readonly cursors: Cursors,
  ) {}

  /**
   * Registers a text, in all languages given or in none; a repeat returns the registered one.
   * @throws ApiError 409 `text_exists` for another text, `too_many_languages` or `limit_reached`, and 413.
   */
  register(botId: string, input: RegisterConsentText, claim: Claim): Promise<ConsentTextView> {
    const { consent_version: consentVersion } = input;
    const texts = [input, ...furtherTexts(input)].map(storable);
    const register = async (tx: Tx): Promise<ConsentTextView> => {
      // Registrations of one bot wait for each other, so that the counts below are exact.
      await lockBot(tx, botId, 'NO KEY UPDATE');
      for (const text of texts) await this.insert(tx, botId, consentVersion, text);
      return viewOfAll(tx);
    };
    const viewOfAll = async (tx: Tx): Promise<ConsentTextView> => {
      const views: ConsentTextView[] = [];
      for (const { language } of texts) {
        const { text } = textOf(await find(tx, botId, consentVersion, language));
        views.push(JSON.parse(text) as ConsentTextView);
      }
      return inLanguages(views);
    };
    // A registered text is never changed.
    return this.acts.once(claim, register, { again: viewOfAll });
  }

  /** One page, ordered by version and language. */
  list(botId: string, query: ConsentTextsQuery): Promise<ListPage> {
    const page = this.cursors.page<[version: string, language: string]>(botId, 'texts', query);
    const [where, values] =
      query.consent_version == null ? ['', []] : [' AND consent_version = ?', [query.consent_version]];
    return this.unitOfWork.read(async (tx) => {
      const from = `FROM consent_texts WHERE bot_id = ?${where}`;
      const total = await page.total(() => tx.total(`SELECT COUNT(*) AS total ${from}`, botId, ...values));
      const rows = await tx.all<TextRow>(
        `SELECT ${SHOWN} ${from} AND (consent_version, language) > (?, ?) ORDER BY consent_version, language LIMIT ? OFFSET ?`,
        ...[botId, ...values, ...(page.after ?? ['', '']), page.limit, page.offset],
      );
      const texts = page.cut(rows, (row) => [row.consent_version, row.language]).map(textOf);
      return new ListPage('texts', texts, page.of(total));
    });
  }

  /**
   * The content of a request: the texts registered for its version, or texts made from the categories. Declarations are
   * read only if they are shown or give the version.
   * @throws ApiError 404 for a category that is not declared, 400 for a language without a text if none is in English.
   */
  async asking(
    tx: Tx,
    botId: string,
    input: RequestConsent,
    keys: readonly string[] | null,
  ): Promise<Asking> {
    const declared = input.consent_version == null ? await declarationsOf(tx, botId, keys ?? []) : undefined;
    const version = input.consent_version ?? declaredVersion(declared ?? []);
    const registered = await digestsOf(tx, botId, version);
    const language = served(input.language ?? null, registered);
    if (keys === null) {
      const texts = registered.filter((text) => language === null || text.language === language);
      return { version, shown: { language, texts }, texts: null };
    }
    if (registered.length === 0) {
      const words = declared ?? (await declarationsOf(tx, botId, keys));
      return { version, ...(await this.made(tx, botId, language, words)) };
    }
    const chosen = language ?? preferred(registered.map((text) => text.language));
    const texts = registered.filter((text) => text.language === chosen);
    const { content } = await find(tx, botId, version, chosen);
    return { version, shown: { language: chosen, texts }, texts: JSON.parse(content) as ConsentTexts };
  }

  /** The words of a shown text, for its digest. @throws ApiError 404 */
  async words(botId: string, digest: string): Promise<ConsentWordsView> {
    return { digest, ...(await this.unitOfWork.read((tx) => wordsShown(tx, botId, digest))) };
  }

  /** Keeps the texts that were made for requests. */
  async keep(
    tx: Tx,
    given: readonly { readonly subject: Subject; readonly asking: Asking }[],
  ): Promise<void> {
    const made = new Map<string, Map<string, ConsentTexts>>();
    for (const { subject, asking } of given) {
      const { isMade, texts, shown } = asking;
      if (!isMade || texts === null) continue;
      const ofBot = made.get(subject.botId) ?? new Map<string, ConsentTexts>();
      for (const { digest } of shown.texts) ofBot.set(digest, texts);
      made.set(subject.botId, ofBot);
    }
    // In the same order everywhere, so that no two units wait for each other.
    for (const botId of [...made.keys()].sort())
      await keepWords(tx, botId, made.get(botId) ?? new Map<string, ConsentTexts>(), this.clock.nowIso());
  }

  /** A text made from the declarations, for a version without registered ones. */
  private async made(
    tx: Tx,
    botId: string,
    named: string | null,
    words: readonly DeclaredPurpose[],
  ): Promise<Omit<Asking, 'version'>> {
    const language = named !== null && speaks(named, words) ? named : DEFAULT_LANGUAGE;
    const bot = await findBot(tx, botId);
    const texts = consentTexts(language, bot?.name ?? '', words, this.config.revokedDataGraceDays);
    return { shown: { language, texts: [{ language, digest: textDigest(texts) }] }, texts, isMade: true };
  }

  private async insert(
    tx: Tx,
    botId: string,
    version: string,
    { language, digest, content, notice }: StorableText,
  ): Promise<void> {
    const isNew = await tx.run(
      `INSERT INTO consent_texts (bot_id, consent_version, language, digest, content, notice, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (bot_id, consent_version, language) DO NOTHING`,
      ...[botId, version, language, digest, JSON.stringify(content)],
      ...[notice && JSON.stringify(notice), this.clock.nowIso()],
    );
    if (isNew === 1) await this.requireRoom(tx, botId, version);
    const stored = await find(tx, botId, version, language);
    if (stored.digest !== digest) {
      throw conflict(
        'text_exists',
        'This version has another text in this language, which users may have agreed to: choose a new consent_version',
      );
    }
    if (isNew === 1) requireBytes('A text', textOf(stored).text, this.config.declarationLimitBytes);
  }

  private async requireRoom(tx: Tx, botId: string, version: string): Promise<void> {
    if ((await digestsOf(tx, botId, version)).length > LANGUAGES_MAX)
      throw conflict('too_many_languages', `A version has texts in at most ${LANGUAGES_MAX} languages`);
    const limit = this.config.consentTextsPerBot;
    const sql =
      'SELECT 1 FROM consent_texts WHERE bot_id = ? ORDER BY consent_version, language LIMIT 1 OFFSET ?';
    if ((await tx.get(sql, botId, limit)) !== undefined)
      throw conflict('limit_reached', `A bot may register at most ${limit} texts`, { limit });
  }
}

/** A text that is registered in the unit, or was before. @throws ApiError 401 when its bot was deleted meanwhile */
async function find(tx: Tx, botId: string, consentVersion: string, language: string): Promise<TextRow> {
  const sql = `SELECT ${SHOWN} FROM consent_texts WHERE bot_id = ? AND consent_version = ? AND language = ?`;
  const found = await tx.get<TextRow>(sql, botId, consentVersion, language);
  if (found === undefined) throw botDeleted();
  return found;
}

/** The digests of the registered texts of a version. */
function digestsOf(tx: Tx, botId: string, version: string): Promise<{ language: string; digest: string }[]> {
  return tx.all(
    'SELECT language, digest FROM consent_texts WHERE bot_id = ? AND consent_version = ? ORDER BY language',
    botId,
    version,
  );
}

/**
 * The language in which a request is shown that names one: the registered one that serves it best, else English.
 * @throws ApiError 400 if neither is registered
 */
function served(named: string | null, registered: readonly { readonly language: string }[]): string | null {
  if (named === null || registered.length === 0) return named;
  const languages = registered.map((text) => text.language);
  const found = languageFor(named, languages) ?? languageFor(DEFAULT_LANGUAGE, languages);
  if (found !== undefined) return found;
  const message =
    'must be a language in which the texts of this version are registered (POST consents/texts), since none is in English';
  throw invalidRequest([{ field: 'language', message }]);
}

function preferred(languages: readonly string[]): string {
  return languages.find((language) => language === DEFAULT_LANGUAGE) ?? languages[0] ?? DEFAULT_LANGUAGE;
}
