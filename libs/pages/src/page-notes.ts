import { html, type Html } from './html';
import type { HeldSubject, PastEvent } from './page-reading';
import { type Making, nameOf, namesOf, placeOf } from './page-sections';
import { dueOf } from './page-stored';
import { type PageNote, TONES } from './texts';

/** The entries that an act leaves in the history. */
const LEAVES: Partial<Readonly<Record<PageNote, readonly string[]>>> = {
  accepted: ['accepted'],
  declined: ['declined'],
  revoked: ['revoked', 'categories_withdrawn'],
};

/** An entry of the history, and whose it is. */
interface Done {
  readonly held: HeldSubject;
  readonly entry: HeldSubject['history'][number];
}

/**
 * What the page says above all else after an act. The address names the kind of the act alone: what was done is read from the
 * history, and an address whose act is not the newest one says nothing.
 */
export function noteOn(making: Making, note: PageNote | undefined): Html | false {
  if (note === undefined) return false;
  const { parts, link } = making;
  const left = LEAVES[note];
  const done = left && newest(making, left);
  if (left !== undefined && done === undefined) return false;
  const words = note === 'erased' ? erasedOn(making) : done && wordsFor(making, note, done);
  const text = words ?? parts.texts.note[note];
  const place = done !== undefined && link.subject === undefined && placeOf(making, done.held.subject.ids);
  return html`<section class="${TONES[note]}" role="status">
    <p>${text}${place && ` (${place})`}</p>
  </section>`;
}

/** The category that was erased last on a page, where the page shows what was done. */
function erasedOn(making: Making): string | undefined {
  const { parts, facts, link } = making;
  if (!link.allow.includes('view')) return undefined;
  const [last] = facts.subjects
    .flatMap(({ events }) => events.filter(isErasure))
    .sort((one, other) => other.created_at.localeCompare(one.created_at));
  const category = last?.details?.['category'];
  return typeof category === 'string'
    ? parts.texts.did.erased(nameOf(making, category, undefined))
    : undefined;
}

function isErasure({ event_type: type, source, details }: PastEvent): boolean {
  return type === 'data_deleted' && source === 'service' && details?.['via'] === 'privacy_page';
}

/** The newest decision of a page, if it is one of some actions. */
function newest({ facts }: Making, actions: readonly string[]): Done | undefined {
  const all = facts.subjects.flatMap((held) => held.history.slice(0, 1).map((entry) => ({ held, entry })));
  const [last] = all.sort((one, other) => other.entry.created_at.localeCompare(one.entry.created_at));
  return last !== undefined && actions.includes(last.entry.action) ? last : undefined;
}

function wordsFor(making: Making, note: PageNote, { held, entry }: Done): string | undefined {
  const { parts } = making;
  const { did } = parts.texts;
  const keys = entry.categories ?? [];
  const names = namesOf(making, keys, entry.words);
  if (note === 'accepted') return did.accepted(names);
  if (note !== 'revoked') return undefined;
  const due = [
    ...new Set(keys.length === 0 ? [held.status.data_erased_at] : keys.map((key) => dueOf(held.status, key))),
  ];
  const [at] = due;
  return `${did.revoked(names)}${at !== undefined && due.length === 1 ? ` ${did.due(parts.time(at))}` : ''}`;
}
