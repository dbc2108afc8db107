import { DE } from './de';
import { EN, type Texts } from './en';

export type { Texts };

/** Words of further languages by BCP 47 tag, for example `fr` or `pt-BR`. What is missing is said in English. */
export type TextTable = Readonly<Record<string, Partial<Texts>>>;

const OWN: TextTable = { en: EN, de: DE };

/** The words in one language. */
export interface Words {
  /** The tag under which the words were found. */
  readonly language: string;
  /** A text with its values. */
  readonly say: (key: keyof Texts, values?: Readonly<Record<string, string | number>>) => string;
}

/** The tag of a list that fits a locale best: the same one, the same language, English, the first. */
export function bestTag(locale: string, tags: readonly string[]): string | undefined {
  const lower = locale.toLowerCase();
  const [base] = lower.split('-');
  const ranks: ((tag: string) => boolean)[] = [
    (tag) => tag === lower,
    (tag) => tag === base,
    (tag) => tag.split('-')[0] === base,
    (tag) => tag === 'en',
    (tag) => tag.startsWith('en-'),
    () => true,
  ];
  for (const fits of ranks) {
    const found = tags.find((tag) => fits(tag.toLowerCase()));
    if (found !== undefined) return found;
  }
  return undefined;
}

export function wordsFor(locale: string, table: TextTable = {}): Words {
  const language = bestTag(locale, [...Object.keys(OWN), ...Object.keys(table)]) ?? 'en';
  const texts: Texts = { ...EN, ...OWN[language], ...table[language] };
  return {
    language,
    // One pass: a value that contains braces is shown as it is.
    say: (key, values = {}) =>
      texts[key].replace(/\{(\w+)\}/g, (found, name: string) => String(values[name] ?? found)),
  };
}
