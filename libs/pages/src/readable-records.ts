import type { ShownWords } from '@app/consent';
import { html } from './html';
import type { PageParts } from './page-parts';
import { eventWords } from './page-sections';
import { wholeWords } from './page-words';
import { word } from './texts';

/** The label of a category in a record. */
export type RecordLabels = (key: string) => string;

type Item = Readonly<Record<string, unknown>>;
type Row = readonly [label: string, value: unknown];
type Make = (parts: PageParts, item: Item, labels: RecordLabels) => Iterable<string>;

const MAKERS: Readonly<Record<string, Make>> = {
  consent_history: entry,
  consent_texts: shownText,
  audit_events: event,
  deletion_requests: erasure,
  webhook_deliveries: delivery,
  processing_refusals: refusal,
  holders: holder,
};

/** Details whose values are words of the service. */
const CODED = new Set(['via', 'format', 'scope', 'reason']);

/** Sources of a consent that the service names: all others are words of the bot. */
const SOURCES: ReadonlySet<unknown> = new Set(['api', 'privacy_page', 'console']);

/** An item of a section of the full export, in words. Items of other modules are shown with their own names. */
export function recordedIn(
  parts: PageParts,
  section: string,
  item: Item,
  labels: RecordLabels,
): Iterable<string> {
  const make = Object.hasOwn(MAKERS, section) ? MAKERS[section] : undefined;
  return make === undefined ? parts.wholeValuesOf(item, undefined) : make(parts, item, labels);
}

function* entry(parts: PageParts, item: Item, labels: RecordLabels): Generator<string> {
  const { texts } = parts;
  const { fact } = texts;
  const keys = item['categories'] as readonly string[] | null;
  const shown = item['texts'] as readonly { readonly language: string; readonly digest: string }[];
  const tag = item['language'];
  yield title(parts, item['created_at'], word(texts.action, String(item['action'])));
  yield* rows(parts, [
    [fact.categories, keys === null ? fact.all : keys.map(labels)],
    [fact.version, versionOf(String(item['version']))],
    [fact.text, shown.map(({ language, digest }) => `${shortOf(digest)} (${parts.languageNamed(language)})`)],
    [fact.language, typeof tag === 'string' ? parts.languageNamed(tag) : null],
    [fact.source, SOURCES.has(item['source']) ? word(texts.code, String(item['source'])) : item['source']],
  ]);
}

/** The words that the user was shown, and with a registered text who gets the data, and where it is stored. */
function* shownText(parts: PageParts, item: Item): Generator<string> {
  const { fact } = parts.texts;
  const language = item['language'] as string | undefined;
  const lang = language !== undefined && html`lang="${language}"`;
  yield html`<h4><bdi ${lang}>${String(item['title'])}</bdi></h4>
    <p class="soft">${fact.text} ${shortOf(String(item['digest']))}</p>`.text;
  yield* wholeWords(parts, item as unknown as ShownWords, language);
  yield* rows(parts, [
    [fact.buttons, [item['accept_label'], item['decline_label']].filter((label) => label !== undefined)],
  ]);
}

/** What was done. An event that the bot has written is called the bot's, with its details as they are. */
function* event(parts: PageParts, item: Item, labels: RecordLabels): Generator<string> {
  const { texts } = parts;
  const type = String(item['event_type']);
  const isOwn = item['source'] === 'service';
  const details = item['details'] as Item | null;
  yield title(
    parts,
    item['created_at'],
    isOwn ? eventWords(parts, type, details?.['act']) : `${texts.byBot}: ${word(texts.event, type)}`,
  );
  if (!isOwn) yield* details === null ? [] : parts.wholeValuesOf(details, undefined);
  else yield* rows(parts, detailsOf(parts, details ?? {}, labels));
  if (item['unreadable'] === true) yield html`<p>${texts.unreadable}</p>`.text;
}

function detailsOf({ texts }: PageParts, details: Item, labels: RecordLabels): Row[] {
  // `via` says of the page what `actor` says of all.
  const named = Object.entries(details).filter(
    ([name]) => name !== 'act' && !(name === 'via' && 'actor' in details),
  );
  return named.map(([name, value]) => {
    const label = word(texts.fact, name);
    if (name === 'actor') return [label, word(texts.code, actorOf(String(value)))];
    if (name === 'version') return [label, versionOf(String(value))];
    if (name === 'category') return [label, labels(String(value))];
    if (name === 'categories' && Array.isArray(value))
      return [label, value.map((key) => labels(String(key)))];
    return [label, CODED.has(name) ? word(texts.code, String(value)) : value];
  });
}

function* erasure(parts: PageParts, item: Item, labels: RecordLabels): Generator<string> {
  const { fact, code } = parts.texts;
  const keys = item['deleted_categories'] as readonly string[] | null;
  yield title(parts, item['created_at'], word(code, String(item['status'])));
  yield* rows(parts, [
    [fact.finished, timeOf(parts, item['completed_at'])],
    [fact.categories, keys?.map(labels)],
    [fact.request_id, item['request_id']],
    [fact.told, item['webhook_sent']],
  ]);
}

function* delivery(parts: PageParts, item: Item): Generator<string> {
  const { fact, code } = parts.texts;
  yield title(parts, item['created_at'], word(code, String(item['event'])));
  yield* rows(parts, [
    [fact.state, word(code, String(item['status']))],
    [fact.finished, timeOf(parts, item['finished_at'])],
  ]);
}

function* refusal(parts: PageParts, item: Item, labels: RecordLabels): Generator<string> {
  const { fact, refusals } = parts.texts;
  const key = item['category'];
  yield title(parts, item['created_at'], word(refusals.kind, String(item['kind'])));
  yield* rows(parts, [[fact.category, typeof key === 'string' ? labels(key) : fact.all]]);
}

/** What one of the bot's own stores has about the user, as the bot states it. */
function* holder(parts: PageParts, item: Item, labels: RecordLabels): Generator<string> {
  const { texts, language } = parts;
  const covers = item['covers'] as readonly string[];
  yield html`<h4><bdi>${String(item[`label_${language}`])}</bdi></h4>
    <p class="soft"><bdi>${covers.map(labels).join(', ')}</bdi></p>
    <p>${stateOf(parts, item)}</p>`.text;
  if (item['unreadable'] === true) yield html`<p>${texts.unreadable}</p>`.text;
  if (item['data'] === null) return;
  if (item['state'] !== 'stated')
    yield html`<p>${texts.holders.earlier(parts.time(String(item['answered_at'])))}</p>`.text;
  yield* parts.wholeValuesOf(item['data'], undefined);
}

function stateOf(parts: PageParts, { state, asked_at: asked, answered_at: answered }: Item): string {
  const { holders } = parts.texts;
  const at = (time: unknown): string => parts.time(String(time));
  if (state === 'stated') return holders.stated(at(answered));
  if (state === 'nothing') return holders.nothing(at(answered));
  if (state === 'asked') return holders.asked(at(asked));
  return state === 'overdue' ? holders.overdue(at(asked)) : holders.notAsked;
}

function title(parts: PageParts, at: unknown, text: string): string {
  return html`<h4>${parts.time(String(at))}: <bdi>${text}</bdi></h4>`.text;
}

function timeOf(parts: PageParts, at: unknown): string | null {
  return typeof at === 'string' ? parts.time(at) : null;
}

/** Facts with their names, without the ones that have no value. */
function* rows(parts: PageParts, given: readonly Row[]): Generator<string> {
  const there = given.filter(
    ([, value]) => value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  if (there.length > 0) yield* parts.wholeValuesOf(Object.fromEntries(there), undefined);
}

/** The word for who did an act: to a user the keys of a bot are the bot. */
function actorOf(actor: string): string {
  return actor.startsWith('key:') ? 'api' : actor;
}

/** The version of a request; of one that the service has made from declarations, the beginning of its digest. */
export function versionOf(version: string): string {
  return version.startsWith('sha256:') ? shortOf(version) : version;
}

/** What ties an entry of the history to its text. */
function shortOf(digest: string): string {
  return digest.replace('sha256:', '').slice(0, 8);
}
