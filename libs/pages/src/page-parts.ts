import { type Category, type DeclaredPurpose, purposeIn } from '@app/categories';
import { ERASED_ID, type NamedSubject } from '@app/crypto';
import { cutText } from '@app/kernel';
import { Html, html } from './html';
import { PAGE_TEXTS, type PageLanguage, word } from './texts';
import type { PageTexts } from './texts.en';

/** Values of one list, characters of one value, and depth of nested values that are shown. */
const ROWS_MAX = 20;
const TEXT_MAX = 300;
const DEPTH_MAX = 4;

/** A declared field of a category. */
export type Field = Category['fields'][number];

/** The name of a guild in a form: its id, or its digest where the id is lost with its key. */
export function guildNamed({ guildId, ids }: NamedSubject): string {
  return ids.guild_id === ERASED_ID ? guildId : ids.guild_id;
}

/** Makes what follows the value of a field. */
type Beside = (field: Field, value: unknown) => Html | false;

/** Bytes of the stored texts on a page. What decides, with its cut labels, and the ways to further pages are beside them. */
const ROOM_BYTES = 30_000;

/** How much of a page may be filled. What does not fit is left to the export, or to the page of one server. */
export class Room {
  isFull = false;

  constructor(
    private left = ROOM_BYTES,
    private readonly whole?: Room,
  ) {}

  /** A part of this room. What it leaves is for the rest. */
  part(bytes: number): Room {
    return new Room(bytes, this);
  }

  /** The part that is made, or undefined. Once one does not fit, no further one is made. */
  take(make: () => Html): Html | undefined {
    if (this.isFull) return undefined;
    const part = make();
    const bytes = Buffer.byteLength(part.text);
    if (Math.max(part.text.length * 1.2, bytes) > this.free) {
      this.isFull = true;
      return undefined;
    }
    this.use(bytes);
    return part;
  }

  /**
   * The part, or undefined where it does not fit: it has a page of its own, and what follows still has this room. It is not made
   * if the `length` of its texts alone is too much.
   */
  fit(length: number, make: () => Html): Html | undefined {
    return length > this.free ? undefined : this.part(this.free).take(make);
  }

  private get free(): number {
    return Math.min(this.left, this.whole?.free ?? Infinity);
  }

  private use(bytes: number): void {
    this.left -= bytes;
    this.whole?.use(bytes);
  }
}

/** The words, dates and values of a page in one language. */
export class PageParts {
  readonly texts: PageTexts;
  private readonly times: Intl.DateTimeFormat;
  private readonly days: Intl.DateTimeFormat;
  private readonly languages: Intl.DisplayNames;

  /** Where all is that has no place on the page. */
  readonly more: string;

  constructor(
    readonly language: PageLanguage,
    more: 'more' | 'moreOnFirst' | 'moreUncopied' = 'more',
  ) {
    this.texts = PAGE_TEXTS[language];
    this.more = this.texts[more];
    const tag = language === 'de' ? 'de-DE' : 'en-GB';
    const day = { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const;
    this.days = new Intl.DateTimeFormat(tag, day);
    this.languages = new Intl.DisplayNames(tag, { type: 'language' });
    this.times = new Intl.DateTimeFormat(tag, { ...day, hour: '2-digit', minute: '2-digit' });
  }

  /** A time as people write it. The page says its zone once. */
  time(iso: string): string {
    return this.texts.clock(this.times.format(new Date(iso)));
  }

  /** The name of a language by its tag; the tag where there is none. */
  languageNamed(tag: string): string {
    try {
      const name = this.languages.of(tag);
      // ICU calls `und`, which is no language, root.
      return name === undefined || name.startsWith('root') ? tag : name;
    } catch {
      // A tag of the right shape can be refused, as one that names a variant twice.
      return tag;
    }
  }

  labelOf(purpose: DeclaredPurpose): string {
    return this.language === 'de' ? purpose.labelDe : purpose.labelEn;
  }

  /** Purpose, legal basis and retention of a category; the whole one also what its fields mean. */
  purposeOf(declared: DeclaredPurpose, withdrawnDays: number | undefined, isWhole = false): Html {
    const { texts, language } = this;
    const { description, purposes, legalBasis, withoutConsent, retentionDays, fields } = declared;
    const isErased = withdrawnDays !== undefined && legalBasis === 'consent';
    const until = isErased ? texts.untilWithdrawn(withdrawnDays) : texts.untilErased;
    const purpose = purposeIn(language, { description, ...purposes });
    return html`<dl>
      <dt>${texts.purpose}</dt>
      <dd>${purpose === null ? texts.noPurpose : isWhole ? purpose : cut(purpose)}</dd>
      <dt>${texts.basis}</dt>
      <dd>${word(texts.basisOf, legalBasis)}</dd>
      ${
        withoutConsent !== null &&
        html`<dt>${texts.withoutConsentReason}</dt>
          <dd>
            ${isWhole ? withoutConsent[`reason_${language}`] : cut(withoutConsent[`reason_${language}`])}
          </dd>`
      }
      <dt>${texts.retention}</dt>
      <dd>${retentionDays === null ? until : texts.days(retentionDays)}</dd>
      ${
        isWhole &&
        (JSON.parse(fields) as readonly Field[]).map((field) => {
          const meaning = purposeIn(language, field);
          return (
            meaning !== null &&
            html`<dt>${this.labelIn(field)}</dt>
              <dd>${meaning}</dd>`
          );
        })
      }
    </dl>`;
  }

  /** The fields of a category with their labels, as far as a page shows them. */
  valuesOf(value: unknown, purpose: DeclaredPurpose | undefined, beside?: Beside): Html {
    let text = '';
    for (const piece of this.value(value, fieldsOf(purpose), 0, undefined, beside)) {
      // It has no room whatever follows.
      if ((text += piece).length > ROOM_BYTES) break;
    }
    return new Html(text);
  }

  /** All of the fields of a category with their labels, in small pieces. */
  wholeValuesOf(value: unknown, purpose: DeclaredPurpose | undefined): Iterable<string> {
    return this.value(value, fieldsOf(purpose), Infinity);
  }

  private *value(
    value: unknown,
    fields: ReadonlyMap<string, Field>,
    depth: number,
    type?: string,
    beside?: Beside,
  ): Generator<string, void> {
    const isWhole = depth === Infinity;
    const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    if (entries.length === 0 || (!isWhole && depth >= DEPTH_MAX)) {
      yield this.leaf(type === 'date' ? this.day(value) : value, entries.length > 0, isWhole);
      return;
    }
    const shown = isWhole ? entries : entries.slice(0, ROWS_MAX);
    const isList = Array.isArray(value);
    yield isList ? '<ul>' : '<dl>';
    for (const [key, item] of shown) {
      const field = fields.get(key);
      const label = field === undefined ? key : this.labelIn(field);
      yield isList ? '<li>' : `<dt>${html`<bdi>${isWhole ? label : cut(label)}</bdi>`.text}</dt><dd>`;
      yield* this.value(item, NO_FIELDS, depth + 1, field?.type);
      if (field !== undefined) yield html`${beside?.(field, item)}`.text;
      yield isList ? '</li>' : '</dd>';
    }
    yield isList ? '</ul>' : '</dl>';
    if (entries.length > shown.length) yield html`<p class="soft">${this.more}</p>`.text;
  }

  labelIn({ label_de: de, label_en: en }: Field): string {
    return this.language === 'de' ? de : en;
  }

  /** A date as people write it; anything else as it is. */
  private day(value: unknown): unknown {
    const date = typeof value === 'string' && DATE.test(value) ? new Date(`${value}T00:00:00Z`) : undefined;
    return date === undefined || Number.isNaN(date.getTime()) ? value : this.days.format(date);
  }

  private leaf(value: unknown, isDeep: boolean, isWhole: boolean): string {
    if (isDeep) return html`<span class="soft">…</span>`.text;
    if (typeof value === 'boolean') return this.texts[value ? 'yes' : 'no'];
    if (value === null || value === undefined || value === '' || typeof value === 'object')
      return html`<span class="soft">${this.texts.empty}</span>`.text;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return html`<bdi>${isWhole ? text : cut(text)}</bdi>`.text;
  }
}

const NO_FIELDS: ReadonlyMap<string, Field> = new Map();
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The declared fields of a category by key. */
export function fieldsOf(purpose: DeclaredPurpose | undefined): ReadonlyMap<string, Field> {
  const fields = JSON.parse(purpose?.fields ?? '[]') as readonly Field[];
  return new Map(fields.map((field) => [field.key, field]));
}

/** A list of `items`, without those that are undefined. */
export function bulleted(items: readonly (Html | undefined)[]): Html {
  return html`<ul>
    ${items}
  </ul>`;
}

/** At most {@link TEXT_MAX} characters. */
export function cut(text: string, max = TEXT_MAX): string {
  return cutText(text, max);
}
