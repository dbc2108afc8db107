import type { DeclaredPurpose } from '@app/categories';
import { html, type Html } from './html';
import { corrections } from './page-correct';
import { bulleted, cut, guildNamed, type PageParts } from './page-parts';
import type { HeldSubject } from './page-reading';
import { dueIn, type Making, pathAbout, placeOf } from './page-sections';
import type { OpenLink } from './privacy-links.service';

/** A category as it is shown. */
interface Shown {
  readonly key: string;
  /** Undefined for data of modules. */
  readonly purpose: DeclaredPurpose | undefined;
  readonly isWithdrawn: boolean;
  /** When its values are erased without a further act. */
  readonly due: string | undefined;
}

/** What is stored, by category: the values first, and what they are for below them. What stays comes before what will be erased. */
export function stored(making: Making, held: HeldSubject): Html {
  const { parts, facts, room } = making;
  const { values, status, isCut, isUnreadable } = held;
  const { texts } = parts;
  const others = [...values.keys()].filter((key) => !facts.purposes.some((purpose) => purpose.key === key));
  const all: Shown[] = [
    ...facts.purposes.map((purpose) => ({ key: purpose.key, purpose })),
    ...others.map((key) => ({ key, purpose: undefined })),
  ].map((each) => ({
    ...each,
    isWithdrawn: isWithdrawn(status, each.key, each.purpose),
    due: dueOf(status, each.key, facts.purposes),
  }));
  const isEnding = ({ isWithdrawn: withdrawn, due }: Shown) => Number(withdrawn || due !== undefined);
  const inForceFirst = (one: Shown, other: Shown) => isEnding(one) - isEnding(other);
  const filled = all.filter(({ key }) => values.has(key)).sort(inForceFirst);
  const shown = filled.map((each) => room.take(() => valued(making, held, each)));
  return html`<section>
    <h2>${texts.stored}</h2>
    ${values.size === 0 && !isUnreadable && html`<p>${texts.nothingStored}</p>`} ${shown}
    ${(isCut || shown.includes(undefined)) && html`<p>${moreOf(making, held)}</p>`}
    ${isUnreadable && html`<p>${texts.unreadable}</p>`}
  </section>`;
}

/** Where the values are that have no room: on the page of the server, if those of others come before it on this one, else in a copy. */
function moreOf(making: Making, held: HeldSubject): Html {
  const { parts, facts } = making;
  if (facts.subjects[0] === held) return html`${parts.more}`;
  return html`${parts.texts.moreOf}
    <a href="${pathAbout(making, held.subject)}">${placeOf(making, held.subject.ids)}</a>`;
}

/** The categories in which no server of the page has a value, once for all of them. */
export function unfilled({ parts, facts, room }: Making): Html | false {
  const { purposes, subjects, further } = facts;
  const { texts } = parts;
  const empty = purposes.filter(({ key }) => subjects.every(({ values }) => !values.has(key)));
  if (empty.length === 0 || subjects.length === 0) return false;
  const isKnown =
    further.length === 0 && subjects.every(({ isCut, isUnreadable }) => !isCut && !isUnreadable);
  const isOver = (purpose: DeclaredPurpose) =>
    subjects.every(({ status }) => isWithdrawn(status, purpose.key, purpose));
  const bare = empty.map((purpose) =>
    room.take(
      () =>
        html`<article>
          ${titleOf(parts, { key: purpose.key, purpose, isWithdrawn: isOver(purpose) }, false)}
          ${parts.purposeOf(purpose, facts.withdrawnDays)}
        </article>`,
    ),
  );
  return html`<section>
    <details>
      <summary>${isKnown ? texts.noValues(empty.length) : texts.others}</summary>
      ${bare}
    </details>
  </section>`;
}

/** A category with its values. */
function valued(making: Making, held: HeldSubject, shown: Shown): Html {
  const { parts, facts, link } = making;
  const { subject, values } = held;
  const { texts } = parts;
  const { key, purpose, due } = shown;
  return html`<article>
    ${titleOf(parts, shown, true)}
    <div class="value">${parts.valuesOf(values.get(key), purpose, corrections(making, held, key))}</div>
    ${due !== undefined && html`<p>${dueIn(parts, held.status, due, { key })}</p>`}
    ${
      purpose !== undefined &&
      html`<details>
        <summary>${purpose.withoutConsent === null ? texts.why : texts.whyWithoutConsent}</summary>
        ${parts.purposeOf(purpose, facts.withdrawnDays)}
      </details>`
    }
    ${purpose !== undefined && link.allow.includes('forget') && erasing(parts, link, `${guildNamed(subject)}/${key}`, purpose)}
  </article>`;
}

/** The way to the confirmation of an erasure. */
function erasing(parts: PageParts, { token }: OpenLink, named: string, purpose: DeclaredPurpose): Html {
  const path = `/p/${token}/erase?of=${encodeURIComponent(named)}&lang=${parts.language}`;
  return html`<p class="row">
    <a class="button plain" href="${path}">${parts.texts.erase(cut(parts.labelOf(purpose), 100))}</a>
  </p>`;
}

function titleOf(
  parts: PageParts,
  { key, purpose, isWithdrawn: withdrawn }: Omit<Shown, 'due'>,
  isFilled: boolean,
): Html {
  return html`<h3>
    <bdi>${purpose === undefined ? key : cut(parts.labelOf(purpose))}</bdi>
    ${withdrawn && html`<small>${parts.texts.stateOf.revoked}</small>`}
    ${isFilled && purpose?.withoutConsent != null && html`<small>${parts.texts.withoutConsent}</small>`}
  </h3>`;
}

/**
 * When the values of a category will be erased, as far as that is known. One that the consent does not name has the last time of all
 * of these, if it rests on consent.
 */
export function dueOf(
  { categories, data_erased_at: ofAll }: HeldSubject['status'],
  key: string,
  purposes: readonly DeclaredPurpose[],
): string | undefined {
  const named = categories?.find((each) => each.key === key);
  if (named !== undefined) return named.data_erased_at;
  const basis = purposes.find((each) => each.key === key)?.legalBasis ?? 'consent';
  return basis === 'consent' ? ofAll : undefined;
}

/** The categories with values that a consent does not name, and that are erased for that. */
export function uncovered(
  status: HeldSubject['status'],
  stored: readonly string[],
  purposes: readonly DeclaredPurpose[],
): string[] {
  const isNamed = (key: string) => status.categories?.some((each) => each.key === key) ?? false;
  return stored.filter((key) => !isNamed(key) && dueOf(status, key, purposes) !== undefined);
}

/** Whether the consent to a category was withdrawn. A consent without categories covers every category based on consent. */
function isWithdrawn(
  { status, categories }: HeldSubject['status'],
  key: string,
  purpose: DeclaredPurpose | undefined,
): boolean {
  if (purpose?.withoutConsent != null) return false;
  if (categories === undefined || categories.length === 0)
    return status === 'revoked' && (purpose?.legalBasis ?? 'consent') === 'consent';
  return categories.some((each) => each.key === key && each.status === 'revoked');
}

/** What each store has answered to the erasure: what it keeps, until when and why, too (GDPR Art. 12(4), 17(3)). */
export function covered({ parts, room }: Making, { coverage }: HeldSubject): Html | false {
  if (coverage === undefined) return false;
  const { texts, language } = parts;
  const words = texts.holders.after;
  const line = ({ result, at, kept, ...holder }: (typeof coverage.holders)[number]): Html =>
    html`<li>
      <bdi>${cut(holder[`label_${language}`], 100)}</bdi>:
      ${
        result === 'kept' && kept !== undefined
          ? html`${words.kept(parts.time(kept.until))} <bdi>${cut(kept.basis)}</bdi>`
          : words.result[result as keyof typeof words.result]
      }
      ${at !== null && html`<small>${words.answered(parts.time(at))}</small>`}
    </li>`;
  return html`<section>
    <h2>${words.title}</h2>
    <p>${coverage.complete ? words.complete : words.open}</p>
    ${bulleted(coverage.holders.map((each) => room.take(() => line(each))))}
  </section>`;
}
