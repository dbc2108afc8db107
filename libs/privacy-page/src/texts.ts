import { languageFor } from '@app/http';
import { DE } from './texts.de';
import { EN, type PageTexts } from './texts.en';

/** The languages of the page. */
export const PAGE_TEXTS: Readonly<Record<'de' | 'en', PageTexts>> = { de: DE, en: EN };
export type PageLanguage = keyof typeof PAGE_TEXTS;
export const PAGE_LANGUAGES = Object.keys(PAGE_TEXTS) as PageLanguage[];

/** What the page says above all else after an act. */
export type PageNote = keyof PageTexts['note'];

export function noteOf(given: unknown): PageNote | undefined {
  return typeof given === 'string' && Object.hasOwn(EN.note, given) ? (given as PageNote) : undefined;
}

/** The legal bases of the GDPR by language. */
const BASES: Readonly<Record<string, Readonly<Record<PageLanguage, string>>>> = {
  consent: { en: 'consent (Art. 6(1)(a) GDPR)', de: 'Einwilligung (Art. 6 Abs. 1 lit. a DSGVO)' },
  contract: { en: 'contract (Art. 6(1)(b) GDPR)', de: 'Vertrag (Art. 6 Abs. 1 lit. b DSGVO)' },
  legal_obligation: {
    en: 'legal obligation (Art. 6(1)(c) GDPR)',
    de: 'rechtliche Verpflichtung (Art. 6 Abs. 1 lit. c DSGVO)',
  },
  vital_interests: {
    en: 'vital interests (Art. 6(1)(d) GDPR)',
    de: 'lebenswichtige Interessen (Art. 6 Abs. 1 lit. d DSGVO)',
  },
  public_task: {
    en: 'public task (Art. 6(1)(e) GDPR)',
    de: 'öffentliche Aufgabe (Art. 6 Abs. 1 lit. e DSGVO)',
  },
  legitimate_interests: {
    en: 'legitimate interests (Art. 6(1)(f) GDPR)',
    de: 'berechtigte Interessen (Art. 6 Abs. 1 lit. f DSGVO)',
  },
};

export function basisIn(language: PageLanguage, basis: string): string {
  return BASES[basis]?.[language] ?? basis;
}

/** Characters of `Accept-Language` that are looked at. */
const ACCEPTED_MAX = 200;

/** The language of a page: that of its switch, else that of the link, else the first of `Accept-Language` that it has. */
export function languageOf(
  given: string | undefined,
  ofLink: string | null,
  accepted: string | undefined,
): PageLanguage {
  if (isOffered(given)) return given;
  if (ofLink !== null) return offered(ofLink) ?? 'en';
  const ranges = (accepted ?? '')
    .slice(0, ACCEPTED_MAX)
    .split(',')
    .map((range) => {
      const [tag = '', weight = 'q=1'] = range.split(';', 2).map((part) => part.trim());
      return { tag, weight: Number(weight.replace('q=', '')) };
    });
  const found = ranges
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ tag }) => offered(tag))
    .find((tag) => tag !== undefined);
  return found ?? 'en';
}

function offered(tag: string): PageLanguage | undefined {
  const found = languageFor(tag.toLowerCase(), PAGE_LANGUAGES);
  return isOffered(found) ? found : undefined;
}

function isOffered(tag: string | undefined): tag is PageLanguage {
  return tag !== undefined && Object.hasOwn(PAGE_TEXTS, tag);
}
