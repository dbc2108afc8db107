import type { NoticeSettings } from '@app/bots';
import { html, type Html } from './html';
import type { Room } from './page-parts';
import type { PageLanguage } from './texts';

const DE = {
  title: 'Wer für deine Daten verantwortlich ist',
  controller: 'Verantwortlicher',
  address: 'Anschrift',
  email: 'E-Mail',
  officer: 'Datenschutzbeauftragter',
  recipients: 'Wer die Daten erhält',
  interests: 'Verfolgte berechtigte Interessen',
  source: 'Woher die Daten stammen',
  automated: 'Automatisierte Entscheidungen',
  none: 'Es gibt keine (Art. 22 DSGVO).',
  authority: 'Aufsichtsbehörde',
  policy: 'Datenschutzerklärung des Bots',
  more: 'Es gibt noch mehr. Die Kopien deiner Daten enthalten alles.',
};

const WORDS: Readonly<Record<PageLanguage, typeof DE>> = {
  de: DE,
  en: {
    title: 'Who is responsible for your data',
    controller: 'Controller',
    address: 'Address',
    email: 'E-mail',
    officer: 'Data protection officer',
    recipients: 'Who receives the data',
    interests: 'Legitimate interests that are pursued',
    source: 'Where the data comes from',
    automated: 'Automated decisions',
    none: 'There are none (Art. 22 GDPR).',
    authority: 'Supervisory authority',
    policy: "The bot's own privacy policy",
    more: 'There is more. The copies of your data have everything.',
  },
};

type Recipient = NonNullable<NoticeSettings['recipients']>[number];

/**
 * What the bot has said about itself in its notice settings (GDPR Art. 13, 15), as far as there is room for it; all without a
 * room. False where it has said nothing.
 */
export function controllerSection(
  language: PageLanguage,
  settings: NoticeSettings,
  room?: Room,
): Html | false {
  const words = WORDS[language];
  const taken = (make: () => Html): Html | undefined => (room === undefined ? make() : room.take(make));
  const rows = [
    ...factsOf(language, settings).map(([fact, value]) => taken(() => row(fact, value))),
    // The longest one is the last: there is room for the others.
    recipientsIn(language, settings, taken),
  ].filter((made) => made !== undefined);
  const isCut = room?.isFull === true;
  if (rows.length === 0 && !isCut) return false;
  return html`<section>
    <h2>${words.title}</h2>
    <dl>${rows}</dl>
    ${isCut && html`<p class="soft">${words.more}</p>`}
  </section>`;
}

function row(fact: string, value: Html | readonly Html[]): Html {
  return html`<dt>${fact}</dt>
    <dd>${value}</dd>`;
}

function either(language: PageLanguage, de: string | undefined, en: string | undefined): string | undefined {
  return language === 'de' ? (de ?? en) : (en ?? de);
}

/** What is said, but for the recipients. */
function factsOf(language: PageLanguage, settings: NoticeSettings): (readonly [string, Html])[] {
  const words = WORDS[language];
  const { controller_name: name, controller_address: address, controller_email: email } = settings;
  const { officer_name: officer, officer_email: officerEmail, authority_name, authority_url } = settings;
  const automated = either(language, settings.automated_decisions_de, settings.automated_decisions_en);
  const facts: readonly (readonly [string, Html | undefined])[] = [
    [words.controller, shown(name)],
    [words.address, shown(address)],
    [words.email, mailTo(email)],
    [
      words.officer,
      (officer ?? officerEmail) === undefined ? undefined : html`${shown(officer)} ${mailTo(officerEmail)}`,
    ],
    [
      words.authority,
      authority_url === undefined ? shown(authority_name) : leadingTo(authority_url, authority_name),
    ],
    [words.policy, settings.notice_url === undefined ? undefined : leadingTo(settings.notice_url)],
    [words.automated, settings.automated_decisions === 'none' ? html`${words.none}` : shown(automated)],
    [words.interests, shown(either(language, settings.interests_de, settings.interests_en))],
    [words.source, shown(either(language, settings.source_de, settings.source_en))],
  ];
  return facts.flatMap(([fact, value]) => (value === undefined ? [] : [[fact, value] as const]));
}

/** The recipients, each with what it does, as many as there is room for. */
function recipientsIn(
  language: PageLanguage,
  { recipients = [] }: NoticeSettings,
  taken: (make: () => Html) => Html | undefined,
): Html | undefined {
  const countries = new Intl.DisplayNames([language], { type: 'region', fallback: 'code' });
  const lineOf = ({ name, country, ...texts }: Recipient): Html => {
    const further = [
      country === undefined ? undefined : (countries.of(country) ?? country),
      either(language, texts.purpose_de, texts.purpose_en),
      either(language, texts.safeguards_de, texts.safeguards_en),
    ].filter((text) => text !== undefined);
    return html`<bdi>${name}</bdi>${further.map((text) => html`, <bdi>${text}</bdi>`)}<br />`;
  };
  const lines = recipients
    .map((recipient) => taken(() => lineOf(recipient)))
    .filter((line) => line !== undefined);
  return lines.length === 0 ? undefined : row(WORDS[language].recipients, lines);
}

function shown(text: string | undefined): Html | undefined {
  return text === undefined ? undefined : html`<bdi class="words">${text}</bdi>`;
}

function mailTo(address: string | undefined): Html | undefined {
  return address === undefined
    ? undefined
    : html`<a href="mailto:${encodeURIComponent(address)}">${address}</a>`;
}

/** The address was checked when it was stored: https, without a user name. */
function leadingTo(url: string, name = url): Html {
  return html`<a href="${url}" rel="noopener nofollow"><bdi>${name}</bdi></a>`;
}
