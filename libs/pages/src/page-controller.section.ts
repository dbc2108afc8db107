import type { NoticeSettings } from '@app/bots';
import {
  CONTROLLER_WORDS,
  declaredIn,
  givenFacts,
  type NamedFact,
  recipientIn,
  safeguarded,
} from './controller-facts';
import { html, type Html } from './html';
import { bulleted, cut, type PageParts, Room } from './page-parts';
import type { PageFacts } from './page-reading';
import { line, listed, mailTo, own } from './said';
import type { PageLanguage } from './texts';

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
    ...factsOf(language, bot, notice).map(([fact, value]) => room.take(() => row(fact, line(value)))),
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
function factsOf(language: PageLanguage, bot: PageFacts['bot'], notice: NoticeSettings): NamedFact[] {
  const words = CONTROLLER_WORDS[language];
  const declared = declaredIn(language, notice);
  const contacts = [...new Set([notice.controller_email, bot.privacy_contact])].map(mailTo);
  return givenFacts([
    [words.controller, declared.name],
    [words.address, declared.address],
    [words.contact, listed(contacts) ?? own(words.noContact)],
    [words.officer, declared.officer],
    [words.authority, declared.authority],
    [words.policy, declared.policy],
    [words.automated, notice.automated_decisions === 'none' ? own(words.none) : declared.automated],
    [words.interests, declared.interests],
    [words.source, declared.source],
  ]);
}

/** The recipients, each with what it does and what protects a transfer to it, as many as there is room for. */
function recipientsIn(
  language: PageLanguage,
  { recipients = [] }: NoticeSettings,
  room: Room,
): Html | undefined {
  const items = recipients
    .map((one) =>
      room.take(() => html`<li>${line(safeguarded(language, recipientIn(language, one), one))}</li>`),
    )
    .filter((item) => item !== undefined);
  return items.length === 0 ? undefined : row(CONTROLLER_WORDS[language].recipients, bulleted(items));
}
