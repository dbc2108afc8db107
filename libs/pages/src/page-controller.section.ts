import { countryIn, inLanguage, type NoticeSettings, type Recipient } from '@app/bots';
import { mailtoOf } from '@app/kernel';
import { html, type Html } from './html';
import { bulleted, cut, type PageParts, Room } from './page-parts';
import type { PageFacts } from './page-reading';
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
  more: 'Es gibt noch mehr. Die Kopien deiner Daten enthalten alles.',
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
    more: 'There is more. The copies of your data have everything.',
  },
};

/**
 * Who is responsible, and what the bot has said about itself in its notice settings (GDPR Art. 13, 15), as far as there is room
 * for it; all without a room.
 */
export function responsible(
  { language }: Pick<PageParts, 'language'>,
  { bot, notice }: Pick<PageFacts, 'bot' | 'notice'>,
  room = new Room(Infinity),
): Html {
  const words = CONTROLLER_WORDS[language];
  const rows = [
    row(words.bot, html`<strong><bdi>${cut(bot.name)}</bdi></strong>`),
    ...factsOf(language, bot, notice).map(([fact, value]) => room.take(() => row(fact, value))),
    // The longest one is the last: there is room for the others.
    recipientsIn(language, notice, room),
  ].filter((made) => made !== undefined);
  return html`<section>
    <h2>${words.title}</h2>
    <dl>${rows}</dl>
    ${room.isFull && html`<p class="soft">${words.more}</p>`}
  </section>`;
}

function row(fact: string, value: Html | readonly Html[]): Html {
  return html`<dt>${fact}</dt>
    <dd>${value}</dd>`;
}

/** What is said, but for the recipients. */
function factsOf(
  language: PageLanguage,
  bot: PageFacts['bot'],
  notice: NoticeSettings,
): (readonly [string, Html])[] {
  const words = CONTROLLER_WORDS[language];
  const { controller_email: email, officer_name: officer, officer_email: officerEmail } = notice;
  const contacts = [...new Set([email, bot.privacy_contact])].map(mailTo);
  const automated = inLanguage(language, notice.automated_decisions_de, notice.automated_decisions_en);
  const facts: readonly (readonly [string, Html | undefined])[] = [
    [words.controller, shown(notice.controller_name)],
    [words.address, shown(notice.controller_address)],
    [words.contact, listed(contacts) ?? html`${words.noContact}`],
    [words.officer, listed([shown(officer), mailTo(officerEmail)])],
    [words.authority, authorityOf(notice)],
    [words.policy, notice.notice_url === undefined ? undefined : leadingTo(notice.notice_url)],
    [words.automated, notice.automated_decisions === 'none' ? html`${words.none}` : shown(automated)],
    [words.interests, shown(inLanguage(language, notice.interests_de, notice.interests_en))],
    [words.source, shown(inLanguage(language, notice.source_de, notice.source_en))],
  ];
  return facts.flatMap(([fact, value]) => (value === undefined ? [] : [[fact, value] as const]));
}

/** The recipients, each with what it does, as many as there is room for. */
function recipientsIn(
  language: PageLanguage,
  { recipients = [] }: NoticeSettings,
  room: Room,
): Html | undefined {
  const items = recipients
    .map((one) => room.take(() => recipientIn(language, one)))
    .filter((item) => item !== undefined);
  return items.length === 0 ? undefined : row(CONTROLLER_WORDS[language].recipients, bulleted(items));
}

/** A recipient as in the notice and in the record: its country, what it does, and what protects a transfer to it. */
function recipientIn(language: PageLanguage, { name, country, ...said }: Recipient): Html {
  const purpose = inLanguage(language, said.purpose_de, said.purpose_en);
  const safeguards = inLanguage(language, said.safeguards_de, said.safeguards_en);
  return html`<li>
    <bdi>${name}</bdi>${country !== undefined && ` (${countryIn(language, country)})`}${
      purpose !== undefined && html`: <bdi>${purpose}</bdi>`
    }${safeguards !== undefined && html`. ${CONTROLLER_WORDS[language].safeguards}: <bdi>${safeguards}</bdi>`}
  </li>`;
}

function authorityOf({ authority_name: name, authority_url: url }: NoticeSettings): Html | undefined {
  return url === undefined ? shown(name) : leadingTo(url, name);
}

/** What is given of it, in one line. */
function listed(parts: readonly (Html | undefined)[]): Html | undefined {
  const given = parts.filter((part) => part !== undefined);
  if (given.length === 0) return undefined;
  return html`${given.map((part, at) => [at > 0 && ', ', part])}`;
}

function shown(text: string | undefined): Html | undefined {
  return text === undefined ? undefined : html`<bdi class="words">${text}</bdi>`;
}

function mailTo(address: string | null | undefined): Html | undefined {
  if (address === undefined || address === null) return undefined;
  return html`<a href="${mailtoOf(address)}">${address}</a>`;
}

/** The address was checked when it was stored: https, without a user name or password. */
function leadingTo(url: string, name = url): Html {
  return html`<a href="${url}" rel="noopener nofollow"><bdi>${name}</bdi></a>`;
}
