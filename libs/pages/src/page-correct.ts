import { hash } from 'node:crypto';
import type { DeclaredPurpose } from '@app/categories';
import type { NamedSubject } from '@app/crypto';
import type { WebPage } from '@app/http';
import { html, type Html, inField } from './html';
import { framed, wayBack } from './page-frame';
import { cut, type Field, guildNamed, type PageParts } from './page-parts';
import type { HeldSubject, PageFacts } from './page-reading';
import { hidden, isConsented, type Making, placeOf } from './page-sections';
import type { PageTexts } from './texts.en';

/** Characters of a value that a form holds whole: in UTF-8 and escaped they are less than the body of a form. */
const HELD_MAX = 700;
/** A longer text, and one of several lines, is written in a larger box. */
const LINE_MAX = 60;

/** A value that its user may correct. */
export interface Correctable {
  readonly subject: NamedSubject;
  readonly purpose: DeclaredPurpose;
  readonly field: Field;
  readonly value: unknown;
  readonly servers: PageFacts['servers'];
}

/** Why a correction was refused, and what was typed. */
export interface RefusedCorrection {
  readonly why: 'wrong' | 'changed' | 'large';
  readonly typed: string;
}

const STATUS: Readonly<Record<RefusedCorrection['why'], number>> = { wrong: 400, changed: 409, large: 413 };

/** What a form holds of the value that it was made for. */
export function digestOf(value: unknown): string {
  return hash('sha256', JSON.stringify(value) ?? '', 'base64url');
}

/** What users read and write of a value; undefined for one that a page has no form for. */
export function writtenOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? JSON.stringify(value) : undefined;
}

/** Makes the forms beside the values of a category, as far as the user may correct it; undefined where nothing can be. */
export function corrections(
  making: Making,
  { subject, status }: HeldSubject,
  category: string,
): ((field: Field, value: unknown) => Html | false) | undefined {
  const { parts, link, facts, besides } = making;
  const needsNone = facts.purposes.some(
    ({ key, withoutConsent }) => key === category && withoutConsent !== null,
  );
  if (!link.allow.includes('correct') || facts.isSuspended) return undefined;
  if (!needsNone && !isConsented(status, category)) return undefined;
  return (field, value) => {
    const written = field.editable === true ? writtenOf(value) : undefined;
    if (written === undefined) return false;
    if (written.length > HELD_MAX) return html`<p class="soft">${parts.texts.correction.long}</p>`;
    const named = `${guildNamed(subject)}/${category}/${field.key}`;
    const title = parts.texts.correction.title(cut(parts.labelIn(field), 100));
    const folded = besides.take(
      () =>
        html`<details class="edit">
          <summary>${title}</summary>
          ${formOf(making, named, field, value, written)}
        </details>`,
    );
    const path = `/p/${link.token}/correct?of=${encodeURIComponent(named)}&lang=${parts.language}`;
    return folded ?? html`<p class="edit"><a href="${path}">${title}</a></p>`;
  };
}

/** The page for one value: where the first page has no room for its form, and after a correction that was refused. */
export function correctingPage(
  making: Pick<Making, 'parts' | 'link' | 'form' | 'path'>,
  { subject, purpose, field, value, servers }: Correctable,
  refused?: RefusedCorrection,
): WebPage {
  const { parts, link } = making;
  const { texts, language } = parts;
  const named = `${guildNamed(subject)}/${purpose.key}/${field.key}`;
  const path = `/p/${link.token}/correct?of=${encodeURIComponent(named)}`;
  const title = texts.correction.title(cut(parts.labelIn(field), 100));
  const status = refused && { status: STATUS[refused.why] };
  return framed(
    { language, title, path, ...status },
    html`${refused !== undefined && html`<section class="warn" role="alert"><p id="fault">${faultOf(texts, field, refused)}</p></section>`}
      <section>
        <p class="soft">
          ${placeOf({ parts, facts: { servers } }, subject.ids)} · ${cut(parts.labelOf(purpose))}
        </p>
        <h2>${texts.correction.now}</h2>
        <div class="value">${parts.valuesOf({ [field.key]: value }, purpose)}</div>
        <div class="edit">
          ${formOf(making, named, field, value, refused?.typed ?? writtenOf(value) ?? '', refused !== undefined)}
        </div>
        ${wayBack(making.path, language)}
      </section>`,
  );
}

function faultOf(texts: PageTexts, { type }: Field, { why }: RefusedCorrection): string {
  if (why === 'changed') return texts.correction.changed;
  if (why === 'large') return texts.correction.large;
  return (
    texts.correction.wrong[type as keyof PageTexts['correction']['wrong']] ?? texts.correction.wrong.string
  );
}

/** The form for one value. It holds the digest of the value that is shown, so that another one is not replaced unseen. */
function formOf(
  { parts, form }: Pick<Making, 'parts' | 'form'>,
  named: string,
  field: Field,
  value: unknown,
  typed: string,
  isWrong = false,
): Html {
  const { texts } = parts;
  const shown = `${named}/${digestOf(value)}`;
  const content = html`${hidden('shown', shown)}<label
      >${texts.correction.label} ${inputOf(parts, field, typed, isWrong)}</label
    ><button class="plain">${texts.correction.save}</button>`;
  return form('correct', content, shown);
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Where the value is written: what a browser cannot hold in a field of its type is held as text, so that nothing is lost. */
function inputOf({ texts }: PageParts, { type }: Field, typed: string, isWrong: boolean): Html {
  const held = inField(typed);
  const fault = isWrong && html` aria-invalid="true" aria-describedby="fault"`;
  if (type === 'boolean')
    return html`<select name="value" ${fault}>
      ${['true', 'false'].map((each) => html`<option value="${each}" ${each === typed && html` selected`}>${texts[each === 'true' ? 'yes' : 'no']}</option>`)}
    </select>`;
  if (type === 'string' && (typed.length > LINE_MAX || /[\r\n]/.test(typed)))
    // Browsers leave the first line break out.
    return html`<textarea name="value" maxlength="${HELD_MAX}" rows="4" ${fault}>${'\n'}${held}</textarea>`;
  const kind =
    type === 'date' && DAY.test(typed) ? html` type="date"` : type === 'number' && html` inputmode="decimal"`;
  return html`<input
    name="value"
    value="${held}"
    maxlength="${HELD_MAX}"
    autocomplete="off"
    ${kind}
    ${fault}
  />`;
}
