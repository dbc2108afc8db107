import { PAGE_TEXTS, word } from '@app/pages';
export { inLanguage } from '@app/bots';
import { DE } from './documents.texts.de';
import { type DocumentTexts, EN } from './documents.texts.en';

/** The sentences of the documents by language. */
export const TEXTS: Readonly<Record<'de' | 'en', DocumentTexts>> = { de: DE, en: EN };
export type DocumentLanguage = keyof typeof TEXTS;
export const DOCUMENT_LANGUAGES = Object.keys(TEXTS) as DocumentLanguage[];

/** The word for a legal basis; its name if there is none. */
export function basisIn(language: DocumentLanguage, basis: string): string {
  return word(PAGE_TEXTS[language].basisOf, basis);
}

const LOCALES: Readonly<Record<DocumentLanguage, string>> = { de: 'de-DE', en: 'en-GB' };
const DAY = { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const;

/** A day as people write it, in UTC. */
export function dayIn(language: DocumentLanguage, iso: string): string {
  return new Intl.DateTimeFormat(LOCALES[language], DAY).format(new Date(iso));
}

/** A duration in the largest unit of which there is one. */
export function durationIn(language: DocumentLanguage, ms: number): string {
  const [unit, length] = UNITS.find(([, from]) => ms >= from) ?? (['millisecond', 1] as const);
  return new Intl.NumberFormat(LOCALES[language], {
    ...{ style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 1 },
  }).format(ms / length);
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** A moment as people write it, in UTC. */
export function timeIn(language: DocumentLanguage, iso: string): string {
  return new Intl.DateTimeFormat(LOCALES[language], {
    ...DAY,
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  }).format(new Date(iso));
}
