import { type DeclaredPurpose, legalBasisIn } from '@app/categories';
import { type Html, html } from './html';
import { type PageLanguage, PAGE_TEXTS } from './texts';
import type { PageTexts } from './texts.en';

/** Values of one list, characters of one value, and depth of nested values that are shown. */
const ROWS_MAX = 20;
const TEXT_MAX = 300;
const DEPTH_MAX = 4;

interface Field {
  readonly key: string;
  readonly label_de: string;
  readonly label_en: string;
}

/** How much of a page may be filled. What does not fit is left to the export. */
export class Room {
  isFull = false;

  constructor(private left: number) {}

  /** The part, or undefined and nothing more. */
  take(part: Html): Html | undefined {
    if (this.isFull || part.text.length * 1.2 > this.left) {
      this.isFull = true;
      return undefined;
    }
    this.left -= Buffer.byteLength(part.text);
    return part;
  }
}

/** The words, dates and values of a page in one language. */
export class PageParts {
  readonly texts: PageTexts;
  private readonly dates: Intl.DateTimeFormat;

  constructor(readonly language: PageLanguage) {
    this.texts = PAGE_TEXTS[language];
    this.dates = new Intl.DateTimeFormat(language === 'de' ? 'de-DE' : 'en-GB', {
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      timeZone: 'UTC',
      timeZoneName: 'short',
    });
  }

  time(iso: string): string {
    return this.dates.format(new Date(iso));
  }

  labelOf(purpose: DeclaredPurpose): string {
    return this.language === 'de' ? purpose.labelDe : purpose.labelEn;
  }

  /** Purpose, legal basis and retention of a category. */
  purposeOf({ description, legalBasis, retentionDays }: DeclaredPurpose): Html {
    const { texts } = this;
    return html`<dl>
      <dt>${texts.purpose}</dt>
      <dd>${description === null ? texts.noPurpose : cut(description)}</dd>
      <dt>${texts.basis}</dt>
      <dd>${legalBasisIn(this.language, legalBasis)}</dd>
      <dt>${texts.retention}</dt>
      <dd>${retentionDays === null ? texts.untilErased : texts.days(retentionDays)}</dd>
    </dl>`;
  }

  /** The fields of a category with their labels. */
  valuesOf(value: unknown, purpose: DeclaredPurpose | undefined, whole = false): Html {
    const fields = JSON.parse(purpose?.fields ?? '[]') as readonly Field[];
    const labels = new Map(
      fields.map((field) => [field.key, this.language === 'de' ? field.label_de : field.label_en]),
    );
    return this.value(value, labels, whole ? Infinity : 0);
  }

  private value(value: unknown, labels: ReadonlyMap<string, string>, depth: number): Html {
    const isWhole = depth === Infinity;
    if (value === null || value === undefined || value === '')
      return html`<span class="soft">${this.texts.empty}</span>`;
    if (typeof value === 'boolean') return html`${value ? this.texts.yes : this.texts.no}`;
    if (typeof value !== 'object') {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return html`<bdi>${isWhole ? text : cut(text)}</bdi>`;
    }
    const entries = Object.entries(value);
    if (entries.length === 0) return html`<span class="soft">${this.texts.empty}</span>`;
    if (!isWhole && depth >= DEPTH_MAX) return html`<span class="soft">…</span>`;
    const shown = isWhole ? entries : entries.slice(0, ROWS_MAX);
    const more = entries.length > shown.length && html`<p class="soft">${this.texts.more}</p>`;
    const inner = (item: unknown): Html => this.value(item, NO_LABELS, depth + 1);
    if (Array.isArray(value))
      return html`<ul>
          ${shown.map(([, item]) => html`<li>${inner(item)}</li>`)}
        </ul>
        ${more}`;
    const rows = shown.map(
      ([key, item]) =>
        html`<dt><bdi>${isWhole ? (labels.get(key) ?? key) : cut(labels.get(key) ?? key)}</bdi></dt>
          <dd>${inner(item)}</dd>`,
    );
    return html`<dl>${rows}</dl>
      ${more}`;
  }
}

const NO_LABELS: ReadonlyMap<string, string> = new Map();

/** At most {@link TEXT_MAX} characters. */
export function cut(text: string, max = TEXT_MAX): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}
