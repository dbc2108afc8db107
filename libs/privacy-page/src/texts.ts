import { languageFor } from '@app/http';
import { DE } from './texts.de';
import { EN, type PageTexts } from './texts.en';

/** The languages of the page. */
export const PAGE_TEXTS: Readonly<Record<'de' | 'en', PageTexts>> = { de: DE, en: EN };
export type PageLanguage = keyof typeof PAGE_TEXTS;
export const PAGE_LANGUAGES = Object.keys(PAGE_TEXTS) as PageLanguage[];

/** The language of a page: that of its switch, else that of the link, else the first of `Accept-Language` that it has. */
export function languageOf(
  given: string | undefined,
  ofLink: string | null,
  accepted: string | undefined,
): PageLanguage {
  if (isOffered(given)) return given;
  if (ofLink !== null) return offered(ofLink) ?? 'en';
  const ranges = (accepted ?? '').split(',', 20).map((range) => {
    const [tag = '', weight = 'q=1'] = range.trim().split(/\s*;\s*/);
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
