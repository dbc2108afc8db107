import { type Labels, languageFor } from '@app/http';
import { isReadableText } from '@app/kernel';

/** A purpose in words for people who read different languages (GDPR Art. 12(1)), as it is declared, stored and answered. */
export interface Purposes {
  readonly description_de?: string;
  readonly description_en?: string;
  /** In further languages. */
  readonly descriptions?: Labels;
}

type Given = { readonly [Name in keyof Purposes]?: Purposes[Name] | null };

const NAMES = ['description_de', 'description_en', 'descriptions'] as const;

/** `before` as `given` changes it: what it does not mention stays, null clears. */
export function changedPurposes(given: Given, before?: Purposes | null): Purposes | null {
  const kept = NAMES.map((name) => [name, given[name] === undefined ? before?.[name] : given[name]] as const);
  const named = kept.filter(([, words]) => words != null);
  return named.length === 0 ? null : Object.fromEntries(named);
}

/** The words of a purpose by language tag. */
export function purposesByLanguage({
  description_de: de,
  description_en: en,
  descriptions,
}: Purposes): Labels {
  return { ...descriptions, ...(de !== undefined && { de }), ...(en !== undefined && { en }) };
}

/**
 * The purpose of a category or a field in the words for a reader of `language`: in that language, else in English, else in
 * those without a language, else in German or whichever there is; null where none can be read.
 */
export function purposeIn(
  language: string,
  words: Purposes & { readonly description?: string | null },
): string | null {
  const { description = null } = words;
  const withoutLanguage = description !== null && isReadableText(description) ? description : null;
  const declared = Object.entries(purposesByLanguage(words)).filter(([, text]) => text !== '');
  const all: Labels = Object.fromEntries(declared);
  const own = languageFor(language, Object.keys(all));
  return (own && all[own]) ?? all['en'] ?? withoutLanguage ?? all['de'] ?? declared[0]?.[1] ?? null;
}
