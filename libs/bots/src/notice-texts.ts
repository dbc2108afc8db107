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

/** The countries to which the GDPR applies: the European Union, Iceland, Liechtenstein and Norway. */
const EEA = new Set(
  'AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE IS LI NO'.split(' '),
);

/** Whether data that is sent to a country leaves the European Economic Area (GDPR Art. 44). */
export const isThirdCountry = (country: string): boolean => !EEA.has(country);
