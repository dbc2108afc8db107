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

/** The word for a name of the interface; the name itself if there is none. */
export function word(words: Readonly<Record<string, string>>, name: string): string {
  return (Object.hasOwn(words, name) ? words[name] : undefined) ?? name;
}

/** Characters of `Accept-Language` that are looked at. */
const ACCEPTED_MAX = 200;

/** The language of a page: chosen on it, else of the link, else the first one of `Accept-Language` that the page has. */
export function languageOf(
  given: unknown,
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

function isOffered(tag: unknown): tag is PageLanguage {
  return typeof tag === 'string' && Object.hasOwn(PAGE_TEXTS, tag);
}
