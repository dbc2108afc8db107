import { html, type Html } from './html';
import { isOwn, type PastEvent } from './page-events';
import type { PageParts } from './page-parts';
import type { HeldSubject, PageFacts } from './page-reading';
import { mayRefuse } from './page-refusals';
import { hasEnded, type Making, nameOf, namesOf, placeOf, refusalOf } from './page-sections';
import { dueOf } from './page-stored';
import type { PageNote } from './texts';

/** The entries that an act leaves in the history. */
const LEAVES: Readonly<Record<'accepted' | 'declined' | 'revoked', readonly string[]>> = {
  accepted: ['accepted'],
  declined: ['declined'],
  revoked: ['revoked', 'categories_withdrawn'],
};

/** An act was done: every other note warns. */
const DONE: ReadonlySet<PageNote> = new Set([
  ...(['accepted', 'declined', 'revoked', 'erased', 'corrected'] as const),
  ...(['objected', 'restricted', 'unrestricted'] as const),
]);

const waits = ({ facts }: Making): boolean => facts.subjects.some(({ asked }) => asked !== undefined);
const mayCorrect = ({ link }: Making): boolean => link.allow.includes('correct');

/** Where a note that leaves no entry in the history is shown: where what the page reads bears it out. */
const HOLDS: Readonly<Record<Exclude<PageNote, keyof typeof LEAVES>, (making: Making) => boolean>> = {
  asked: waits,
  choose: waits,
  changed: waits,
  ended: ({ facts }) => facts.subjects.some((held) => refusalOf(held) !== undefined || hasEnded(held)),
  answered: ({ facts }) =>
    facts.subjects.some(({ asked, history }) => asked === undefined && history.length > 0),
  withdrawn: ({ facts }) => facts.subjects.some(isWithdrawn),
  erased: (making) => lastOwn(making, 'data_deleted') !== undefined,
  erasedBefore: ({ facts: { subjects, purposes } }) =>
    subjects.length === 0 || subjects.some(({ values }) => purposes.some(({ key }) => !values.has(key))),
  empty: ({ facts }) => !facts.isHeld,
  corrected: (making) => lastOwn(making, 'data_submitted') !== undefined,
  same: mayCorrect,
  uncorrected: mayCorrect,
  objected: (making) => lastActOf(making) === 'objection',
  restricted: (making) => lastActOf(making) === 'restriction',
  unrestricted: (making) => lastActOf(making) === 'restriction_ended',
  unrefused: ({ link }) => mayRefuse(link),
};

/** An entry of the history, and whose it is. */
interface Done {
  readonly held: HeldSubject;
  readonly entry: HeldSubject['history'][number];
}

/** Whether the newest entry that gave or withdrew a consent is a withdrawal. */
function isWithdrawn({ history }: HeldSubject): boolean {
  const decisive = [...LEAVES.accepted, ...LEAVES.revoked];
  const newest = history.find(({ action }) => decisive.includes(action));
  return newest !== undefined && LEAVES.revoked.includes(newest.action);
}

/**
 * What the page says above all else after an act. The address names the kind of the act alone: what was done is read from what
 * is stored, and an address whose act is not the newest one says nothing.
 */
export function noteOn(making: Making, note: PageNote | undefined): Html | false {
  if (note === undefined) return false;
  const { parts, link } = making;
  const left = (LEAVES as Partial<Record<PageNote, readonly string[]>>)[note];
  const done = left && newest(making, left);
  const isSo = left === undefined ? HOLDS[note as keyof typeof HOLDS](making) : done !== undefined;
  if (!isSo) return false;
  const words = done === undefined ? addedTo(making, note) : wordsFor(making, note, done);
  const text = words ?? parts.texts.note[note];
  const place = done !== undefined && link.subject === undefined && placeOf(making, done.held.subject.ids);
  return html`<section class="${DONE.has(note) ? 'good' : 'warn'}" role="status">
    <p>${text}${place && ` (${place})`}</p>
  </section>`;
}

/** The text of a note that names its category, or says that the bot's own stores were not asked; else undefined. */
function addedTo(making: Making, note: PageNote): string | undefined {
  if (note === 'empty') return uncopied(making.parts, making.facts.holders);
  if ((note !== 'erased' && note !== 'corrected') || !making.link.allow.includes('view')) return undefined;
  const type = note === 'erased' ? 'data_deleted' : 'data_submitted';
  const category = lastOwn(making, type)?.details?.['category'];
  if (typeof category !== 'string') return undefined;
  return making.parts.texts.did[note](nameOf(making, category, undefined));
}

/** Why there is no copy of a user about whom nothing is held. */
export function uncopied({ texts }: PageParts, holders: PageFacts['holders']): string {
  return holders.length > 0 ? `${texts.note.empty} ${texts.holders.unasked}` : texts.note.empty;
}

/** The newest act on the page, if its event has this type. */
function lastOwn(making: Making, type: string): PastEvent | undefined {
  const last = newestOwn(making);
  return last?.event_type === type ? last : undefined;
}

function lastActOf(making: Making): unknown {
  return newestOwn(making)?.details?.['act'];
}

function newestOwn({ facts }: Making): PastEvent | undefined {
  const [last] = facts.subjects
    .flatMap(({ events }) => events.filter(isOwn))
    .sort((one, other) => other.created_at.localeCompare(one.created_at));
  return last;
}

/** The newest decision of a page, if it is one of some actions. */
function newest({ facts }: Making, actions: readonly string[]): Done | undefined {
  const all = facts.subjects.flatMap((held) => held.history.slice(0, 1).map((entry) => ({ held, entry })));
  const [last] = all.sort((one, other) => other.entry.created_at.localeCompare(one.entry.created_at));
  return last !== undefined && actions.includes(last.entry.action) ? last : undefined;
}

function wordsFor(making: Making, note: PageNote, { held, entry }: Done): string | undefined {
  const { parts } = making;
  const { did, due } = parts.texts;
  const keys = entry.categories ?? [];
  const names = namesOf(making, keys, entry.words);
  if (note === 'accepted') return did.accepted(names);
  if (note !== 'revoked') return undefined;
  const { facts } = making;
  const times =
    keys.length === 0
      ? [held.status.data_erased_at]
      : keys.map((key) => dueOf(held.status, key, facts.purposes));
  const [at, ...others] = new Set(times.filter((time) => time !== undefined));
  if (at === undefined || others.length > 0) return did.revoked(names);
  const when = due[keys.length === 0 ? 'by' : 'on'](parts.time(at));
  return `${did.revoked(names)} ${due.plain(when)}`;
}
