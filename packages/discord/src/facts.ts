import { type Lethe, LetheError, NotFoundError, type Schemas } from '@lethe/sdk';
import { PATIENT } from './patient';
import { bestTag } from './texts';

export type Category = Schemas['CategoryView'];
export type Notice = Partial<Schemas['NoticeSettingsView']>;
export type ConsentText = Schemas['ConsentTextView'];
type Bot = Awaited<ReturnType<Lethe['bots']['me']>>;

const KEPT_MS = 60_000;
/** A request for consent names at most so many categories. */
const CATEGORIES_MAX = 50;

/** What a bot has declared, read again after a minute: it is the same for all users. */
export class BotFacts {
  private unknown = '';
  private readonly kept = new Map<string, { value: Promise<unknown>; atMs: number }>();

  constructor(
    private readonly lethe: Lethe,
    private readonly named: readonly string[] | undefined,
    private readonly now: () => number,
    private readonly report: (error: unknown) => void,
  ) {}

  bot(): Promise<Bot> {
    return this.once('bot', () => this.lethe.bots.me({}, PATIENT));
  }

  /** What the bot says about itself (GDPR Art. 13). A service without notice settings knows nothing of it. */
  notice(): Promise<Notice> {
    return this.once('notice', () => this.lethe.bots.noticeSettings({}, PATIENT).catch(unlessMissing({})));
  }

  /** Every declared category. */
  categories(): Promise<Category[]> {
    return this.once('categories', async () => {
      const all = await this.lethe.categories.list({}, PATIENT).toArray();
      this.compare(all.map(({ key }) => key));
      return all;
    });
  }

  /** Reports the names of the option that no category has, once until they change. */
  private compare(declared: readonly string[]): void {
    const unknown = (this.named ?? []).filter((key) => !declared.includes(key)).join(', ');
    if (unknown !== '' && unknown !== this.unknown)
      this.report(
        new RangeError(
          `The option \`categories\` names what the bot has not declared: ${unknown}. No consent is asked for it. ` +
            `Correct the name, or declare the category. Declared: ${declared.join(', ') || 'none'}.`,
        ),
      );
    this.unknown = unknown;
  }

  /** The categories that consent is asked for; none that needs no consent. @throws RangeError where one request cannot name them */
  async asked(): Promise<Category[]> {
    const all = await this.categories();
    const asked = all.filter((one) => needsConsent(one) && (this.named?.includes(one.key) ?? true));
    if (asked.length > CATEGORIES_MAX)
      throw new RangeError(
        `The option \`categories\` must name at most ${CATEGORIES_MAX} of the ${asked.length} declared categories.`,
      );
    return asked;
  }

  /**
   * Whether the bot has holders: stores of its own, which an erasure asks; undefined where it cannot be read, which fails no act of
   * a user. An older service knows of none.
   */
  async hasOwnStores(): Promise<boolean | undefined> {
    const read = async (): Promise<boolean> =>
      (await this.lethe.holders.list({}, PATIENT).toArray()).length > 0;
    try {
      return await this.once('own stores', () => read().catch(unlessMissing(false)));
    } catch (error) {
      if (!(error instanceof LetheError)) this.report(error);
      return undefined;
    }
  }

  /** The registered texts of a version. */
  texts(version: string | undefined): Promise<ConsentText[]> {
    if (version === undefined) return Promise.resolve([]);
    return this.once('texts', () =>
      this.lethe.consents.texts({ consent_version: version }, PATIENT).toArray(),
    );
  }

  /** After a failure: what was read may no longer be true. */
  forget(): void {
    this.kept.clear();
  }

  /** No failure is kept. */
  private once<T>(name: string, load: () => Promise<T>): Promise<T> {
    const kept = this.kept.get(name);
    const ageMs = this.now() - (kept?.atMs ?? Infinity);
    // By a clock that was set back it would last longer.
    if (kept !== undefined && ageMs >= 0 && ageMs < KEPT_MS) return kept.value as Promise<T>;
    const value = load();
    this.kept.set(name, { value, atMs: this.now() });
    value.catch(() => this.kept.get(name)?.value === value && this.kept.delete(name));
    return value;
  }
}

/** What holds where the service is older, and does not know what is asked. */
const unlessMissing =
  <T>(otherwise: T) =>
  (error: unknown): T => {
    if (error instanceof NotFoundError) return otherwise;
    throw error;
  };

/** Whether a consent can be about a category. An older service does not say so of any. */
export const needsConsent = ({ requires_consent: requires }: Category): boolean => requires !== false;

/** Why a category is stored without a consent (GDPR Art. 13(1)(c)); undefined for one that needs a consent. */
export const reasonOf = (category: Category, locale: string): string | undefined =>
  needsConsent(category) ? undefined : either(locale, category.reason_de, category.reason_en);

/**
 * The purpose of a category for the user, as the service chooses it for its texts: in their language, else in English, else
 * as it is declared without one, else in German or whichever there is.
 */
export function purposeOf(category: Category, locale: string): string | null {
  const { description, description_de: de, description_en: en, descriptions } = category;
  const words = Object.entries({ de, ...descriptions, en: en || description?.trim() });
  const all = new Map(words.flatMap(([tag, text]) => (text ? [[tag, text] as const] : [])));
  return all.get(bestTag(locale, [...all.keys()]) ?? '') ?? null;
}

/** One of two texts, in the language of the user, as far as there is one in it. */
export function either(
  locale: string,
  de: string | null | undefined,
  en: string | null | undefined,
): string | undefined {
  const all = new Map(Object.entries({ en, de }).flatMap(([tag, text]) => (text ? [[tag, text]] : [])));
  return all.get(bestTag(locale, [...all.keys()]) ?? '');
}

type Labelled = Pick<Category, 'key' | 'label_de' | 'label_en' | 'labels'>;

/** The name of a category or field in the language of the user, as the service chooses it for its texts. */
export function labelOf({ label_de: de, label_en: en, labels }: Labelled, locale: string): string {
  const all: Readonly<Record<string, string>> = { en, de, ...labels };
  return all[bestTag(locale, Object.keys(all)) ?? 'en'] ?? en;
}
