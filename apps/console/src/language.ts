import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { keepHere, keptHere } from './kept-here';
import { type TextName, TEXTS } from './texts';
import { type Language, localeOf } from './times';
import { type Kind, ofDays, wordFor } from './words';

export type { Language };

const KEPT = 'lethe-language';

/** The language of the address, by which a page in it leads here, or the chosen one, or the one of the browser. */
export function firstLanguage(): Language {
  const asked = [new URLSearchParams(location.search).get('lang'), keptHere(KEPT)];
  const found = asked.find((each) => each === 'de' || each === 'en');
  if (found !== undefined) return found;
  return navigator.language.toLowerCase().startsWith('de') ? 'de' : 'en';
}

export function keepLanguage(language: Language): void {
  keepHere(KEPT, language);
  // The address would undo the choice when the page is loaded again.
  const address = new URL(location.href);
  if (address.searchParams.has('lang')) {
    address.searchParams.delete('lang');
    history.replaceState(history.state, '', address);
  }
  document.documentElement.lang = language;
}

export const LanguageContext = createContext<{ language: Language; change: (to: Language) => void }>({
  language: 'en',
  change: () => undefined,
});

export interface Words {
  readonly language: Language;
  /** A text; names in braces are replaced. */
  readonly t: (name: TextName, values?: Readonly<Record<string, string | number>>) => string;
  /** The word for a value of the service; the value itself where it has none. */
  readonly named: (kind: Kind, value: string) => string;
  readonly time: (text: string | null | undefined) => string;
  readonly count: (value: number) => string;
  /** A number of days, with the word. */
  readonly ofDays: (number: number) => string;
  /** A number of days from now, with the words. */
  readonly inDays: (number: number) => string;
  /** Names as one text, with commas and the word for "and". */
  readonly listed: (names: readonly string[]) => string;
}

/** A text with the values for its names in braces. */
export function filled(text: string, values: Readonly<Record<string, string | number>> = {}): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? '–'));
}

/** The texts and formats of the present language. */
export function useWords(): Words {
  const { language } = useContext(LanguageContext);
  const times = new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'medium', timeStyle: 'medium' });
  const counts = new Intl.NumberFormat(language);
  return {
    language,
    t: (name, values) => filled(TEXTS[language][name], values),
    named: (kind, value) => wordFor(language, kind, value) ?? value,
    time: (text) => (text == null ? '–' : times.format(new Date(text))),
    count: (value) => counts.format(value),
    ofDays: (number) => ofDays(language, number),
    inDays: (number) => new Intl.RelativeTimeFormat(language).format(number, 'day'),
    listed: (names) => new Intl.ListFormat(localeOf(language)).format(names),
  };
}
