import type { DeclaredPurpose } from '@app/categories';
import { html, type Html } from './html';
import { corrections } from './page-correct';
import { bulleted, cut, guildNamed, type PageParts } from './page-parts';
import type { HeldSubject } from './page-reading';
import type { Making } from './page-sections';
import type { OpenLink } from './privacy-links.service';

/** A category as it is shown. */
interface Shown {
  readonly key: string;
  /** Undefined for data of modules. */
  readonly purpose: DeclaredPurpose | undefined;
  readonly isWithdrawn: boolean;
}

/** What is stored, by category: the values first, and what they are for below them. What is in force comes before what was withdrawn. */
export function stored(making: Making, held: HeldSubject): Html {
  const { parts, facts, room } = making;
  const { values, status, isCut, isUnreadable } = held;
  const { texts } = parts;
  const others = [...values.keys()].filter((key) => !facts.purposes.some((purpose) => purpose.key === key));
  const all: Shown[] = [
    ...facts.purposes.map((purpose) => ({ key: purpose.key, purpose })),
    ...others.map((key) => ({ key, purpose: undefined })),
  ].map((each) => ({ ...each, isWithdrawn: isWithdrawn(status, each.key, each.purpose) }));
  const inForceFirst = (one: Shown, other: Shown) => Number(one.isWithdrawn) - Number(other.isWithdrawn);
  const filled = all.filter(({ key }) => values.has(key)).sort(inForceFirst);
  const empty = all.filter(({ key }) => !values.has(key));
  const shown = filled.map((each) => room.take(() => valued(making, held, each)));
  const bare = empty.map((each) =>
    room.take(
      () =>
        html`<article>
          ${titleOf(parts, each, false)}
          ${each.purpose !== undefined && parts.purposeOf(each.purpose, facts.withdrawnDays)}
        </article>`,
    ),
  );
  return html`<section>
    <h2>${texts.stored}</h2>
    ${values.size === 0 && !isUnreadable && html`<p>${texts.nothingStored}</p>`} ${shown}
    ${
      bare.length > 0 &&
      html`<article>
        <details>
          <summary>${isCut || isUnreadable ? texts.others : texts.noValues(bare.length)}</summary>
          ${bare}
        </details>
      </article>`
    }
    ${(isCut || room.isFull) && html`<p>${parts.more}</p>`}
    ${isUnreadable && html`<p>${texts.unreadable}</p>`}
  </section>`;
}

/** A category with its values. */
function valued(making: Making, held: HeldSubject, shown: Shown): Html {
  const { parts, facts, link } = making;
  const { subject, values, status } = held;
  const { texts } = parts;
  const { key, purpose } = shown;
  const due = shown.isWithdrawn ? dueOf(status, key) : undefined;
  return html`<article>
    ${titleOf(parts, shown, true)}
    <div class="value">${parts.valuesOf(values.get(key), purpose, corrections(making, held, key))}</div>
    ${due !== undefined && html`<p>${texts.dueAt(parts.time(due))}</p>`}
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

function titleOf(parts: PageParts, { key, purpose, isWithdrawn: withdrawn }: Shown, isFilled: boolean): Html {
  return html`<h3>
    <bdi>${purpose === undefined ? key : cut(parts.labelOf(purpose))}</bdi>
    ${withdrawn && html`<small>${parts.texts.stateOf.revoked}</small>`}
    ${isFilled && purpose?.withoutConsent != null && html`<small>${parts.texts.withoutConsent}</small>`}
  </h3>`;
}

/** When the values of a withdrawn category will be erased, as far as that is known. */
export function dueOf(
  { categories, data_erased_at: ofAll }: HeldSubject['status'],
  key: string,
): string | undefined {
  return categories?.find((each) => each.key === key)?.data_erased_at ?? ofAll ?? undefined;
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
