/** The six bases of GDPR Art. 6(1), as documents for people name them. */
const BASES: Readonly<Record<string, Readonly<Record<'de' | 'en', string>>>> = {
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
export const LEGAL_BASES = Object.keys(BASES);

export function legalBasisIn(language: 'de' | 'en', basis: string): string {
  return BASES[basis]?.[language] ?? basis;
}
