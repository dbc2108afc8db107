import { hash } from 'node:crypto';
import { isObjectable } from '@app/categories';
import type { ShownRequest, ShownWords } from '@app/consent';
import { BOT_WIDE_GUILD_ID } from '@app/kernel';
import type { NamedSubject } from '@app/crypto';
import { OBJECTION } from './controller-facts';
import { html, type Html } from './html';
import type { PastEvent } from './page-events';
import type { FormAct } from './page-forms';
import { inLanguage, pathOf } from './page-frame';
import { bulleted, cut, guildNamed, PageParts, Room } from './page-parts';
import { ENTRIES_MAX, type HeldSubject, type PageFacts } from './page-reading';
import type { OpenLink } from './privacy-links.service';
import { type PageLanguage, word } from './texts';
import type { PageTexts } from './texts.en';

/** What labels of categories are made from. */
interface Labelling {
  readonly parts: PageParts;
  readonly facts: Pick<PageFacts, 'purposes'>;
}

/** A page as it is being made. */
export interface Making extends Labelling {
  readonly link: OpenLink;
  readonly facts: PageFacts;
  readonly room: Room;
  /** For the folded words of past decisions, a part of {@link room}. */
  readonly folded: Room;
  /** Whether the page is about one server that its address names: what is shown for a decision is whole there, whatever the room. */
  readonly isOfOne: boolean;
  /** For the forms beside values; those beyond it have a page of their own. */
  readonly besides: Room;
  readonly form: MakeForm;
  /** The address of the page to which its acts lead. */
  readonly path: string;
}

/** Makes a form. `shown` is what its mark covers besides its act. */
export type MakeForm = (act: FormAct, content: Html, shown?: string) => Html;

export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}" />`;
}

/**
 * The right to object apart from the others, where a category can be objected to. A page gives its subjects, what all of them have
 * objected to is left out, and `isHere` where its form is offered. A copy knows them only later.
 */
export function rights(
  { parts, facts }: Labelling & { readonly facts: Pick<PageFacts, 'purposes' | 'bot' | 'notice'> },
  page?: { readonly isHere: boolean; readonly subjects: readonly Pick<HeldSubject, 'refusals'>[] },
): Html {
  const { texts, language } = parts;
  const { title, text, either, here, byContact, used } = OBJECTION[language];
  const isObjected = (key: string): boolean =>
    page !== undefined &&
    page.subjects.length > 0 &&
    page.subjects.every(({ refusals: { objections } }) =>
      objections.some(({ category }) => category === null || category === key),
    );
  const keys = facts.purposes
    .filter(({ key, legalBasis }) => isObjectable(legalBasis) && !isObjected(key))
    .map(({ key }) => key);
  const hasContact = (facts.notice.controller_email ?? facts.bot.privacy_contact) !== null;
  const [onPage, elsewhere] = hasContact ? [either, byContact] : [here, ''];
  const objection = html`<section>
    <h2>${title}</h2>
    <p>${text} ${page?.isHere === true ? onPage : elsewhere} ${page === undefined && used}</p>
    <p>${namesOf({ parts, facts }, keys, undefined)}</p>
  </section>`;
  return html`${keys.length > 0 && objection} ${listSection(texts.rights, texts.rightsText)}`;
}

/** What a copy to read leaves to the JSON, and why. */
export function technical({ texts }: PageParts): Html {
  return listSection(texts.technical, texts.technicalText);
}

function listSection(title: string, items: readonly string[]): Html {
  return html`<section>
    <h2>${title}</h2>
    ${bulleted(items.map((text) => html`<li>${text}</li>`))}
  </section>`;
}

/** The last refusal, while no newer request waits: the user can decide again. */
export function refusalOf({
  status,
  asked,
  history,
}: HeldSubject): HeldSubject['history'][number] | undefined {
  if (status.declined_at === null || asked !== undefined) return undefined;
  return history.find(({ action }) => action === 'declined');
}

/** The place of a user: the registered name of the server, else its id. */
export function placeOf(
  {
    parts: { texts },
    facts,
  }: { readonly parts: Pick<PageParts, 'texts'>; readonly facts: Pick<PageFacts, 'servers'> },
  { guild_id: guild }: Pick<NamedSubject['ids'], 'guild_id'>,
): string {
  if (guild === BOT_WIDE_GUILD_ID) return texts.direct;
  return texts.guild(cut(facts.servers.get(guild) ?? guild, 100));
}

/** The id of a server, for the name in its place. */
export function idOf(
  { texts }: PageParts,
  { guild_id: guild }: Pick<NamedSubject['ids'], 'guild_id'>,
): Html | false {
  return guild !== BOT_WIDE_GUILD_ID && html` title="${texts.serverId(guild)}"`;
}

/** The address of the page about one subject of a link. */
export function pathAbout({ link, parts }: Pick<Making, 'link' | 'parts'>, subject: NamedSubject): string {
  return inLanguage(pathOf(link.token, guildNamed(subject)), parts.language);
}

/**
 * When stored values of a category, or of all, are erased, and why, as far as that is known. Of categories that the consent does not
 * name the last time is known. While a request waits, what ended before it has no reason.
 */
export function dueIn(
  parts: PageParts,
  { status, categories = [] }: HeldSubject['status'],
  at: string,
  about: { readonly key: string } | { readonly names: string },
): string {
  const { due } = parts.texts;
  const named = 'key' in about ? categories.find(({ key }) => key === about.key) : undefined;
  const when = due[named === undefined ? 'by' : 'on'](parts.time(at));
  const isOfAll = 'names' in about || categories.length === 0;
  const state = named?.status ?? (status === 'accepted' ? 'none' : isOfAll ? status : undefined);
  if (state === 'revoked') return due.withdrawn(when);
  if (state !== 'none' || status !== 'accepted') return due.plain(when);
  return 'names' in about ? due.uncoveredIn(when, about.names) : due.uncovered(when);
}

/** The bot's own stores by their labels. */
export function storesIn(language: PageLanguage, holders: PageFacts['holders']): string {
  return holders.map(({ labelDe, labelEn }) => (language === 'de' ? labelDe : labelEn)).join(', ');
}

/** What was done so far. */
export function past(making: Making, { events }: HeldSubject): Html | false {
  if (events.length === 0) return false;
  const { parts, room, link } = making;
  const { done, latest, latestCopied } = parts.texts;
  return html`<section>
    <h2>${done}</h2>
    ${bulleted(events.slice(0, ENTRIES_MAX).map((event) => room.take(() => html`<li>${parts.time(event.created_at)}: ${did(making, event)}</li>`)))}
    ${events.length > ENTRIES_MAX && !room.isFull && html`<p>${link.allow.includes('export') ? latestCopied : latest}</p>`}
  </section>`;
}

/** What an event says. An event that the bot has written is called the bot's: the service has done nothing of it. */
function did(making: Making, { event_type: type, source, details }: PastEvent): Html {
  const { texts } = making.parts;
  if (source !== 'service') return html`${texts.byBot}: <bdi>${cut(word(texts.event, type))}</bdi>`;
  const category = details?.['category'];
  const about =
    typeof category === 'string' ? nameOf(making, category, undefined) : aboutAll(texts, details?.['act']);
  return html`${cut(eventWords(making.parts, type, details?.['act']))}${about !== undefined && `: ${about}`}${details?.['via'] === 'privacy_page' && html` (${texts.viaPage})`}`;
}

/** What an objection and a restriction are about whose events name no category. */
function aboutAll({ refusals }: PageTexts, act: unknown): string | undefined {
  if (act === 'objection') return refusals.allObjectable;
  return act === 'restriction' || act === 'restriction_ended' ? refusals.all : undefined;
}

/** What an act of the service says; an objection and a restriction have words of their own. */
export function eventWords({ texts }: PageParts, type: string, act: unknown): string {
  const own = typeof act === 'string' ? word(texts.refusals.event, act) : undefined;
  return own === undefined || own === act ? word(texts.event, type) : own;
}

/** Names of categories at most in one line. */
const NAMES_MAX = 10;
export function namesOf(making: Labelling, keys: readonly string[], words: ShownWords | undefined): string {
  const names = keys.slice(0, NAMES_MAX).map((key) => nameOf(making, key, words));
  return [...names, ...(keys.length > NAMES_MAX ? ['…'] : [])].join(', ');
}

/**
 * The label of a category in the words that a decision and its receipt are about. If they do not name the category, its label of
 * today; its key if it is not declared any more.
 */
export function nameOf(
  { parts, facts }: Labelling,
  key: string,
  words: ShownWords | undefined,
  max = 100,
): string {
  const shown = words?.categories.find((each) => each.key === key);
  if (shown !== undefined) return cut(shown.label, max);
  const purpose = facts.purposes.find((each) => each.key === key);
  return cut(purpose === undefined ? key : parts.labelOf(purpose), max);
}

const isAsking = ({ action }: HeldSubject['history'][number]): boolean =>
  action === 'requested' || action === 'shown';

/** Whether a request, the newest if none is named, has ended without an answer, as with its last category. */
export function hasEnded({ asked, history }: HeldSubject, id = history.find(isAsking)?.consent_id): boolean {
  const about = history.filter((entry) => entry.consent_id === id);
  return asked === undefined && about.length > 0 && about.every(isAsking);
}

/** What the user has decided. After a no it is never said that the user was not asked. */
export function decision(
  parts: PageParts,
  { status, declined_at: at }: Pick<HeldSubject['status'], 'status' | 'declined_at'>,
  isOffered = false,
): Html {
  const { texts } = parts;
  const words = status === 'accepted' ? texts.declinedNewer : isOffered ? texts.declinedHere : texts.declined;
  const declined = at !== null && html`<p>${words(parts.time(at))}</p>`;
  if (status === 'none' && declined) return declined;
  return html`<p>${texts.state[status]}</p>
    ${declined}`;
}

/** Whether a consent in force covers a category that needs one. A consent that names no categories covers each of them. */
export function isConsented({ status, categories }: HeldSubject['status'], category: string): boolean {
  if (status !== 'accepted') return false;
  return (
    categories === undefined ||
    categories.some(({ key, status: state }) => key === category && state === 'accepted')
  );
}

/**
 * The digest of a request as the page shows it: the words, and the facts of the bot and the categories that a receipt will
 * state. The form carries the digest, so that an answer to changed words is refused.
 */
export function shownBy({ bot, notice, purposes }: PageFacts, asked: ShownRequest): string {
  const { id, entry, version, categories } = asked;
  // Fields are read only for categories with values. The time of the declaration changes with them.
  const stated = purposes
    .filter(({ key }) => categories?.includes(key) ?? true)
    .map((purpose) => ({ ...purpose, fields: undefined }));
  const { controller_name: name, controller_address: address, controller_email: email } = notice;
  const controller = [bot.name, bot.privacy_contact, name, address, email];
  const shown = [id, entry, version, categories, ...controller, stated];
  return `${id}.${hash('sha256', JSON.stringify(shown), 'base64url')}`;
}
