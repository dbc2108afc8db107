import type { NoticeSettings } from '@app/bots';
import { html, type Html } from './html';
import { cut } from './page-parts';
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
  },
};

type Recipient = NonNullable<NoticeSettings['recipients']>[number];

/** What the bot has said about itself in its notice settings (GDPR Art. 13, 15); false where it has said nothing. */
export function controllerSection(language: PageLanguage, settings: NoticeSettings): Html | false {
  const words = WORDS[language];
  const either = (de: string | undefined, en: string | undefined): string | undefined =>
    language === 'de' ? (de ?? en) : (en ?? de);
  const recipientOf = (one: Recipient): Html => {
    const purpose = either(one.purpose_de, one.purpose_en);
    const safeguards = either(one.safeguards_de, one.safeguards_en);
    const further = [placeOf(language, one.country), purpose, safeguards].filter(
      (text) => text !== undefined,
    );
    return html`<bdi>${cut(one.name)}</bdi>${further.map((text) => html`, <bdi>${cut(text)}</bdi>`)}<br />`;
  };
  const { controller_name: name, controller_address: address, controller_email: email } = settings;
  const { officer_name: officer, officer_email: officerEmail, authority_name, authority_url } = settings;
  const automated = either(settings.automated_decisions_de, settings.automated_decisions_en);
  const facts: readonly (readonly [string, Html | false | undefined])[] = [
    [words.controller, shown(name)],
    [words.address, shown(address)],
    [words.email, mailTo(email)],
    [
      words.officer,
      (officer ?? officerEmail) !== undefined && html`${shown(officer)} ${mailTo(officerEmail)}`,
    ],
    [words.recipients, settings.recipients !== undefined && html`${settings.recipients.map(recipientOf)}`],
    [words.interests, shown(either(settings.interests_de, settings.interests_en))],
    [words.source, shown(either(settings.source_de, settings.source_en))],
    [words.automated, settings.automated_decisions === 'none' ? html`${words.none}` : shown(automated)],
    [
      words.authority,
      authority_url === undefined ? shown(authority_name) : leadingTo(authority_url, authority_name),
    ],
    [words.policy, settings.notice_url !== undefined && leadingTo(settings.notice_url)],
  ];
  const given = facts.filter(([, value]) => value !== undefined && value !== false);
  if (given.length === 0) return false;
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
  return html`<a href="${url}" rel="noopener nofollow"><bdi>${cut(name)}</bdi></a>`;
}

function placeOf(language: PageLanguage, country: string | undefined): string | undefined {
  if (country === undefined) return undefined;
  return new Intl.DisplayNames([language], { type: 'region', fallback: 'code' }).of(country) ?? country;
}
