/** One of two texts of a notice: that of the language, else the other one. */
export function inLanguage(
  language: 'de' | 'en',
  de: string | undefined,
  en: string | undefined,
): string | undefined {
  return language === 'de' ? (de ?? en) : (en ?? de);
}

/** The name of a country for a reader; its code if it has none. */
export function countryIn(language: 'de' | 'en', country: string): string {
  return new Intl.DisplayNames([language], { type: 'region', fallback: 'code' }).of(country) ?? country;
}
