import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { CODES } from './codes';
import { de } from './texts.de';
import { en, type TextName, type Texts } from './texts.en';

export const LANGUAGES: Readonly<Record<'en' | 'de', Texts>> = { en, de };
export type Language = keyof typeof LANGUAGES;

const KEPT = 'lethe-language';

/** The chosen language, or the one of the browser. */
export function firstLanguage(): Language {
  const kept = localStorage.getItem(KEPT);
  if (kept === 'de' || kept === 'en') return kept;
  return navigator.language.toLowerCase().startsWith('de') ? 'de' : 'en';
}

export function keepLanguage(language: Language): void {
  localStorage.setItem(KEPT, language);
  document.documentElement.lang = language;
}

export const LanguageContext = createContext<{ language: Language; change: (to: Language) => void }>({
  language: 'en',
  change: () => undefined,
});

export interface Words {
  readonly language: Language;
  readonly t: (name: TextName) => string;
  /** A name of the interface in words. */
  readonly code: (name: string) => string;
  readonly time: (text: string | null | undefined) => string;
  readonly count: (value: number) => string;
}

/** The texts and formats of the present language. */
export function useWords(): Words {
  const { language } = useContext(LanguageContext);
  const times = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });
  const counts = new Intl.NumberFormat(language);
  return {
    language,
    t: (name) => LANGUAGES[language][name],
    code: (name) => CODES[language][name] ?? name,
    time: (text) => (text == null ? '–' : times.format(new Date(text))),
    count: (value) => counts.format(value),
  };
}
