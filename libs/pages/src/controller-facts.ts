import { countryIn, inLanguage, type NoticeSettings, type Recipient } from '@app/bots';
import { linked, listed, mailTo, own, type Said, said, written } from './said';
import type { PageLanguage } from './texts';

const DE = {
  title: 'Wer verantwortlich ist',
  bot: 'Bot',
  controller: 'Verantwortlicher',
  address: 'Anschrift',
  contact: 'Kontakt zum Datenschutz',
  noContact: 'Der Bot nennt keinen Kontakt. Frage dort nach, wo du ihn nutzt.',
  officer: 'Datenschutzbeauftragter',
  recipients: 'Wer die Daten erhält',
  safeguards: 'Garantien',
  interests: 'Berechtigte Interessen',
  source: 'Woher die Daten stammen',
  automated: 'Automatisierte Entscheidungen',
  none: 'Es gibt keine (Art. 22 DSGVO).',
  authority: 'Aufsichtsbehörde',
  policy: 'Datenschutzerklärung des Bots',
  more: 'Es gibt noch mehr. Die Kopie zum Lesen enthält alles.',
};

/** The words of the facts about a controller, also of the documents in `reports`. */
export const CONTROLLER_WORDS: Readonly<Record<PageLanguage, typeof DE>> = {
  de: DE,
  en: {
    title: 'Who is responsible',
    bot: 'Bot',
    controller: 'Controller',
    address: 'Address',
    contact: 'Contact for privacy',
    noContact: 'The bot names no contact. Ask where you use it.',
    officer: 'Data protection officer',
    recipients: 'Who receives the data',
    safeguards: 'Safeguards',
    interests: 'Legitimate interests',
    source: 'Where the data comes from',
    automated: 'Automated decisions',
    none: 'There are none (Art. 22 GDPR).',
    authority: 'Supervisory authority',
    policy: "The bot's own privacy policy",
    more: 'There is more. The copy to read has everything.',
  },
};

/** `either` and `here` are for a page on which the user can object, with and without a contact; `used` is for who may have objected. */
type ObjectionWords = Readonly<Record<'title' | 'text' | 'either' | 'here' | 'byContact' | 'used', string>>;

/** The right to object, which is said apart from any other information (GDPR Art. 21(4)). The names of the categories follow. */
export const OBJECTION: Readonly<Record<PageLanguage, ObjectionWords>> = {
  de: {
    title: 'Dein Widerspruchsrecht (Art. 21 DSGVO)',
    text: 'Du kannst jederzeit der Verarbeitung der Daten in den folgenden Kategorien widersprechen. Die Daten werden dann gelöscht.',
    either: 'Widersprechen kannst du hier auf der Seite oder beim Kontakt zum Datenschutz.',
    here: 'Widersprechen kannst du hier auf der Seite.',
    byContact: 'Widersprechen kannst du beim Kontakt zum Datenschutz.',
    used: 'Hast du schon widersprochen, steht es oben.',
  },
  en: {
    title: 'Your right to object (Art. 21 GDPR)',
    text: 'You can object at any time to the processing of the data in the categories below. The data is then erased.',
    either: 'You can object on this page or through the contact for privacy.',
    here: 'You can object on this page.',
    byContact: 'You can object through the contact for privacy.',
    used: 'If you have objected already, it is said above.',
  },
};

export type NamedFact = readonly [name: string, value: Said];

/** Those of which something is said. */
export function givenFacts(facts: readonly (readonly [string, Said | undefined])[]): NamedFact[] {
  return facts.filter((fact): fact is NamedFact => fact[1] !== undefined);
}

/** What a bot has declared about itself, but for its recipients. A fact of which nothing is said is undefined. */
export function declaredIn(language: PageLanguage, settings: NoticeSettings) {
  const { authority_name: authority, authority_url: authorityUrl, notice_url: policy } = settings;
  return {
    name: written(settings.controller_name),
    address: written(settings.controller_address),
    officer: listed([written(settings.officer_name), mailTo(settings.officer_email)]),
    authority:
      authorityUrl === undefined ? written(authority) : linked(authority ?? authorityUrl, authorityUrl),
    policy: policy === undefined ? undefined : linked(policy, policy),
    // A text alone does not say that there are any.
    automated:
      settings.automated_decisions === 'exist'
        ? written(inLanguage(language, settings.automated_decisions_de, settings.automated_decisions_en))
        : undefined,
    interests: written(inLanguage(language, settings.interests_de, settings.interests_en)),
    source: written(inLanguage(language, settings.source_de, settings.source_en)),
  };
}

/** A recipient with its country and what it does. */
export function recipientIn(language: PageLanguage, { name, country, ...does }: Recipient): Said {
  const place = country === undefined ? said`${name}` : said`${name} (${countryIn(language, country)})`;
  const purpose = inLanguage(language, does.purpose_de, does.purpose_en);
  return purpose === undefined ? place : said`${place}: ${purpose}`;
}

/** A recipient in words, with what protects a transfer to it as far as that is declared. */
export function safeguarded(
  language: PageLanguage,
  recipient: Said,
  { safeguards_de: de, safeguards_en: en }: Recipient,
): Said {
  const safeguards = inLanguage(language, de, en);
  if (safeguards === undefined) return recipient;
  return said`${recipient}. ${own(CONTROLLER_WORDS[language].safeguards)}: ${safeguards}`;
}
