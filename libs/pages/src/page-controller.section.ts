import type { NoticeSettings } from '@app/bots';
import { html, type Html } from './html';
import { cut, type PageParts } from './page-parts';
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
};

const WORDS: Readonly<Record<PageLanguage, typeof DE>> = {
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
  },
};

type Recipient = NonNullable<NoticeSettings['recipients']>[number];
type Fact = readonly [name: string, value: Html | false | undefined];

/** Who is responsible, and what the bot has said about itself in its notice settings (GDPR Art. 13, 15), as far as it has. */
export function responsible(
  { language }: Pick<PageParts, 'language'>,
  { bot, notice }: Pick<PageFacts, 'bot' | 'notice'>,
): Html {
  const words = WORDS[language];
  const either = (de: string | undefined, en: string | undefined): string | undefined =>
    language === 'de' ? (de ?? en) : (en ?? de);
  const { controller_email: email, officer_name: officer, officer_email: officerEmail } = notice;
  const contacts = [...new Set([email, bot.privacy_contact])].map(mailTo);
  const recipients = notice.recipients?.map((one) => recipientIn(language, one, either)) ?? [];
  const automated = either(notice.automated_decisions_de, notice.automated_decisions_en);
  const facts: readonly Fact[] = [
    [words.bot, html`<strong><bdi>${cut(bot.name)}</bdi></strong>`],
    [words.controller, shown(notice.controller_name)],
    [words.address, shown(notice.controller_address)],
    [words.contact, listed(contacts) ?? html`${words.noContact}`],
    [words.officer, listed([shown(officer), mailTo(officerEmail)])],
    [
      words.recipients,
      recipients.length > 0 &&
        html`<ul>
          ${recipients}
        </ul>`,
    ],
    [words.interests, shown(either(notice.interests_de, notice.interests_en))],
    [words.source, shown(either(notice.source_de, notice.source_en))],
    [words.automated, notice.automated_decisions === 'none' ? html`${words.none}` : shown(automated)],
    [words.authority, authorityOf(notice)],
    [words.policy, notice.notice_url !== undefined && leadingTo(notice.notice_url)],
  ];
  const given = facts.filter(([, value]) => value !== undefined && value !== false);
  return html`<section>
    <h2>${words.title}</h2>
    <dl>
      ${given.map(
        ([fact, value]) =>
          html`<dt>${fact}</dt>
            <dd>${value}</dd>`,
      )}
    </dl>
  </section>`;
}

/** A recipient as in the notice and in the record: its country, what it does, and what protects a transfer to it. */
function recipientIn(
  language: PageLanguage,
  { name, country, ...said }: Recipient,
  either: (de: string | undefined, en: string | undefined) => string | undefined,
): Html {
  const purpose = either(said.purpose_de, said.purpose_en);
  const safeguards = either(said.safeguards_de, said.safeguards_en);
  return html`<li>
    <bdi>${cut(name)}</bdi>${country !== undefined && ` (${placeOf(language, country)})`}${
      purpose !== undefined && html`: <bdi>${cut(purpose)}</bdi>`
    }${safeguards !== undefined && html`. ${WORDS[language].safeguards}: <bdi>${cut(safeguards)}</bdi>`}
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
  return html`<a href="mailto:${encodeURIComponent(address)}">${address}</a>`;
}

/** The address was checked when it was stored: https, without a user name. */
function leadingTo(url: string, name = url): Html {
  return html`<a href="${url}" rel="noopener nofollow"><bdi>${cut(name)}</bdi></a>`;
}

function placeOf(language: PageLanguage, country: string): string {
  return new Intl.DisplayNames([language], { type: 'region', fallback: 'code' }).of(country) ?? country;
}
