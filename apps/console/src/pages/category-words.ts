/** What users read around the words of a bot: on their privacy page (`page`) and in Discord, as those say it. A test holds both together. */
export const USER_WORDS = {
  en: {
    page: {
      purpose: 'Purpose',
      basis: 'Legal basis',
      withoutConsentReason: 'No consent: reason given by the bot',
      retention: 'Kept',
      noPurpose: 'The bot names none.',
      untilErased: 'until you have it erased',
      asked: 'The bot asks for your consent',
      choose: 'Choose what you consent to. You can withdraw it here at any time.',
      accept: 'Consent to what I have chosen',
      acceptAll: 'I consent',
      decline: 'No, thank you',
      words: 'The text that you were shown',
    },
    pageBasis: {
      consent: 'consent (Art. 6(1)(a) GDPR)',
      contract: 'contract (Art. 6(1)(b) GDPR)',
      legal_obligation: 'legal obligation (Art. 6(1)(c) GDPR)',
      vital_interests: 'vital interests (Art. 6(1)(d) GDPR)',
      public_task: 'public task (Art. 6(1)(e) GDPR)',
      legitimate_interests: 'legitimate interests (Art. 6(1)(f) GDPR)',
    },
    discord: {
      about_title: 'What {bot} stores about you',
      about_fields: 'Data: {fields}',
      about_basis: 'Legal basis: {basis}',
      about_without_consent: 'Stored without consent. Reason given by the bot: {reason}',
      about_kept_day: 'Kept for: 1 day after the last change',
      about_kept_days: 'Kept for: {days} days after the last change',
      about_kept: 'Kept until you withdraw your consent or have it erased',
      about_kept_after_day: 'Kept until you have it erased, or until one day after you withdraw your consent',
      about_kept_after: 'Kept until you have it erased, or until {days} days after you withdraw your consent',
      about_kept_without_consent: 'Kept until you have it erased',
      basis_consent: 'your consent (Art. 6(1)(a) GDPR)',
      basis_contract: 'a contract (Art. 6(1)(b) GDPR)',
      basis_legal_obligation: 'a legal obligation (Art. 6(1)(c) GDPR)',
      basis_vital_interests: 'vital interests (Art. 6(1)(d) GDPR)',
      basis_public_task: 'a public task (Art. 6(1)(e) GDPR)',
      basis_legitimate_interests: 'legitimate interests (Art. 6(1)(f) GDPR)',
      consent_choose: 'Choose what may be stored',
      consent_agree: 'I agree',
      consent_decline: 'No, thank you',
      consent_notice: 'Privacy notice: {url}',
      consent_version: 'Version {version}',
    },
  },
  de: {
    page: {
      purpose: 'Zweck',
      basis: 'Rechtsgrundlage',
      withoutConsentReason: 'Ohne Einwilligung: Begründung des Bots',
      retention: 'Gespeichert',
      noPurpose: 'Der Bot nennt keinen.',
      untilErased: 'bis du die Löschung verlangst',
      asked: 'Der Bot bittet um deine Einwilligung',
      choose: 'Wähle aus, worin du einwilligst. Du kannst das hier jederzeit widerrufen.',
      accept: 'In die Auswahl einwilligen',
      acceptAll: 'Ich willige ein',
      decline: 'Nein, danke',
      words: 'Der Text, der dir gezeigt wurde',
    },
    pageBasis: {
      consent: 'Einwilligung (Art. 6 Abs. 1 lit. a DSGVO)',
      contract: 'Vertrag (Art. 6 Abs. 1 lit. b DSGVO)',
      legal_obligation: 'rechtliche Verpflichtung (Art. 6 Abs. 1 lit. c DSGVO)',
      vital_interests: 'lebenswichtige Interessen (Art. 6 Abs. 1 lit. d DSGVO)',
      public_task: 'öffentliche Aufgabe (Art. 6 Abs. 1 lit. e DSGVO)',
      legitimate_interests: 'berechtigte Interessen (Art. 6 Abs. 1 lit. f DSGVO)',
    },
    discord: {
      about_title: 'Was {bot} über dich speichert',
      about_fields: 'Daten: {fields}',
      about_basis: 'Rechtsgrundlage: {basis}',
      about_without_consent: 'Ohne Einwilligung gespeichert. Begründung des Bots: {reason}',
      about_kept_day: 'Speicherdauer: 1 Tag ab der letzten Änderung',
      about_kept_days: 'Speicherdauer: {days} Tage ab der letzten Änderung',
      about_kept: 'Gespeichert, bis du deine Einwilligung widerrufst oder die Löschung verlangst',
      about_kept_after_day:
        'Gespeichert, bis du die Löschung verlangst oder bis einen Tag nach deinem Widerruf',
      about_kept_after:
        'Gespeichert, bis du die Löschung verlangst oder bis {days} Tage nach deinem Widerruf',
      about_kept_without_consent: 'Gespeichert, bis du die Löschung verlangst',
      basis_consent: 'deine Einwilligung (Art. 6 Abs. 1 lit. a DSGVO)',
      basis_contract: 'ein Vertrag (Art. 6 Abs. 1 lit. b DSGVO)',
      basis_legal_obligation: 'eine rechtliche Verpflichtung (Art. 6 Abs. 1 lit. c DSGVO)',
      basis_vital_interests: 'lebenswichtige Interessen (Art. 6 Abs. 1 lit. d DSGVO)',
      basis_public_task: 'eine öffentliche Aufgabe (Art. 6 Abs. 1 lit. e DSGVO)',
      basis_legitimate_interests: 'berechtigte Interessen (Art. 6 Abs. 1 lit. f DSGVO)',
      consent_choose: 'Wähle, was gespeichert werden darf',
      consent_agree: 'Ich stimme zu',
      consent_decline: 'Nein, danke',
      consent_notice: 'Datenschutzerklärung: {url}',
      consent_version: 'Version {version}',
    },
  },
} as const;

export type Side = keyof typeof USER_WORDS;
export const SIDES = ['de', 'en'] as const satisfies readonly Side[];

/** How long values are kept, as `/privacy` in Discord says it. `after`: days after which a withdrawal erases them; null for never. */
export function keptInDiscord(side: Side, days: number | null, after: number | null): string {
  const { discord } = USER_WORDS[side];
  if (days === 1) return discord.about_kept_day;
  if (days !== null) return discord.about_kept_days.replace('{days}', String(days));
  if (after === null) return discord.about_kept_without_consent;
  if (after === 0) return discord.about_kept;
  return after === 1
    ? discord.about_kept_after_day
    : discord.about_kept_after.replace('{days}', String(after));
}

/** The same as the privacy page says it. */
export function keptOnPage(side: Side, days: number | null, after: number | null): string {
  if (days !== null) return daysOnPage(side, days);
  if (after === null) return USER_WORDS[side].page.untilErased;
  if (side === 'de') {
    if (after === 0) return 'bis du deine Einwilligung widerrufst oder die Löschung verlangst';
    return `bis du die Löschung verlangst oder bis ${after === 1 ? 'einen Tag' : `${after} Tage`} nach deinem Widerruf`;
  }
  if (after === 0) return 'until you withdraw your consent or have it erased';
  return `until you have it erased, or until ${after === 1 ? 'one day' : `${after} days`} after you withdraw your consent`;
}

/** "for 30 days after the last change", as the privacy page says it. */
export function daysOnPage(side: Side, days: number): string {
  if (side === 'de') return `${days === 1 ? 'einen Tag' : `${days} Tage`} lang nach der letzten Änderung`;
  return `${days === 1 ? 'for one day' : `for ${days} days`} after the last change`;
}
