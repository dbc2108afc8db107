import type { NamedSubject } from '@app/crypto';
import type { ExportForm, GuildRecord } from '@app/gdpr';
import { html, Html } from './html';
import { responsible } from './page-controller.section';
import { decisionsOf } from './page-events';
import { framed } from './page-frame';
import { cut, PageParts } from './page-parts';
import type { CopiedFacts, PageFacts, PageReading } from './page-reading';
import { decision, dueIn, nameOf, namesOf, placeOf, rights, technical } from './page-sections';
import { uncovered } from './page-stored';
import type { OpenLink } from './privacy-links.service';
import { recordedIn, type RecordLabels, versionOf } from './readable-records';
import { type PageLanguage, word } from './texts';

/** Versions of a consent whose texts are remembered, of those that the history named last. */
const VERSIONS_MAX = 100;
/** Marks the place of the guilds in the frame of a document. */
const GUILDS = html`<!--guilds-->`;

type About = Pick<PageFacts, 'bot' | 'notice' | 'purposes' | 'withdrawnDays'>;

/**
 * An export to read and to print: a file that loads nothing and runs nothing, with everything that the JSON has. It is made
 * while it is sent, one item after the other.
 */
export class ReadableExport implements ExportForm {
  readonly end = '</section>';
  readonly head: string;
  readonly tail: string;
  private readonly parts: PageParts;
  /** The section whose items are being written. */
  private section: string | undefined;
  /** Those of the guild that is being written. */
  private facts: Pick<PageFacts, 'purposes'> = { purposes: [] };
  /** The text that the history of the guild names for each version, null for several: the audit events of a consent name the version alone. */
  private readonly textOf = new Map<string, string | null>();
  /** The languages of the texts that the history of the guild named last. */
  private readonly languages = new Map<string, string>();
  /** The labels in the text that was read last: entries that follow each other mostly name the same one. */
  private shown: { readonly digest: string; readonly labels: RecordLabels } | undefined;

  constructor(
    private readonly reading: Pick<PageReading, 'copied' | 'words'>,
    private readonly about: About,
    private readonly link: OpenLink,
    language: PageLanguage,
    exportedAt: string,
  ) {
    const parts = (this.parts = new PageParts(language));
    const { texts } = parts;
    const page = framed(
      { language, title: texts.exportTitle },
      html`<p>${texts.exportedAt(parts.time(exportedAt))} ${texts.zone} ${texts.userId(link.userId)}</p>
        ${responsible(parts, about)}${GUILDS}${rights({ parts, facts: about })}${technical(parts)}`,
    );
    [this.head = '', this.tail = ''] = page.content.split(GUILDS.text);
  }

  async guild({ guildId, consent }: GuildRecord, subject: NamedSubject): Promise<string> {
    this.section = undefined;
    this.textOf.clear();
    const facts = await this.reading.copied(subject);
    this.facts = facts;
    const { parts } = this;
    const { texts } = parts;
    return `<section>${
      html`<h2>${placeOf({ parts, facts }, { guild_id: guildId })}</h2>
        <p class="soft">${texts.serverId(guildId)}</p>
        <h3>${texts.consent}</h3>
        ${this.decided(facts)}
        ${consent !== null && html`<p>${texts.version(versionOf(consent.version))}</p>`}`.text
    }`;
  }

  *entry(name: string, value: unknown): Generator<string> {
    const { parts, about } = this;
    const purpose = this.facts.purposes.find(({ key }) => key === name);
    const title = purpose === undefined ? name : parts.labelOf(purpose);
    const heading = this.section === undefined ? html`<h3>${parts.texts.stored}</h3>`.text : '';
    this.section = 'data';
    yield `${heading}<article>${html`<h4>${title}</h4>`.text}<div class="value">`;
    yield* parts.wholeValuesOf(value, purpose);
    yield `</div>${purpose === undefined ? '' : parts.purposeOf(purpose, about.withdrawnDays, true).text}</article>`;
  }

  async *item(section: string, item: Readonly<Record<string, unknown>>): AsyncGenerator<string> {
    // Purpose, basis and retention are below the values of the category.
    if (section === 'categories' && this.facts.purposes.some(({ key }) => key === item['key'])) return;
    const { parts } = this;
    const record = recordedIn(
      parts,
      section,
      this.inLanguage(section, item),
      await this.labelsOf(section, item),
    );
    const heading = section === this.section ? '' : html`<h3>${word(parts.texts.section, section)}</h3>`.text;
    this.section = section;
    yield `${heading}<article>`;
    yield* record;
    yield '</article>';
  }

  /** A text with its language, which the history names before. */
  private inLanguage(section: string, item: Readonly<Record<string, unknown>>): typeof item {
    if (section !== 'consent_texts') return item;
    return { ...item, language: this.languages.get(String(item['digest'])) };
  }

  /** What holds now, with what was withdrawn of it. */
  private decided({ status, asked, decided, stored }: CopiedFacts): Html {
    const { parts } = this;
    const { texts } = parts;
    const making = { parts, facts: this.facts };
    const at = status.status === 'revoked' ? status.revoked_at : status.accepted_at;
    const due = status.data_erased_at;
    const left = uncovered(status, stored, this.facts.purposes);
    return html`${decision(parts, status)} ${at !== null && html`<p>${parts.time(at)}</p>`}
      ${due !== undefined && html`<p>${dueIn(parts, status, due, { names: namesOf(making, left, undefined) })}</p>`}
      <ul>
        ${decisionsOf({ status, asked }).map(
          ({ key, status: state, data_erased_at: erased }) =>
            html`<li>
              ${nameOf(making, key, state === 'pending' ? asked?.words : decided)}:
              ${texts.stateOf[state]}.${erased !== undefined && html` ${dueIn(parts, status, erased, { key })}`}
            </li>`,
        )}
      </ul>`;
  }

  /** The labels of categories in an item, as the user was shown them for it, else as they are today. */
  private async labelsOf(section: string, item: Readonly<Record<string, unknown>>): Promise<RecordLabels> {
    const today = (key: string): string => nameOf({ parts: this.parts, facts: this.facts }, key, undefined);
    const digest = this.digestOf(section, item);
    if (digest === undefined) return today;
    if (this.shown?.digest === digest) return this.shown.labels;
    const words = await this.reading.words(this.link, digest);
    const shown = new Map(words?.categories.map(({ key, label }) => [key, cut(label)]));
    const labels = (key: string): string => shown.get(key) ?? today(key);
    this.shown = { digest, labels };
    return labels;
  }

  /**
   * The text that was shown for an entry of the history, or for an audit event of a consent. An event names the version alone:
   * undefined where the history has several texts of it.
   */
  private digestOf(section: string, item: Readonly<Record<string, unknown>>): string | undefined {
    const { textOf } = this;
    if (section === 'audit_events') {
      const version = (item['details'] as { readonly version?: unknown } | null)?.version;
      const isOfConsent = item['source'] === 'service' && String(item['event_type']).startsWith('consent_');
      return isOfConsent ? (textOf.get(String(version)) ?? undefined) : undefined;
    }
    if (section !== 'consent_history') return undefined;
    const [text] = (item['texts'] ?? []) as readonly { readonly digest: string; readonly language: string }[];
    if (text === undefined) return undefined;
    const { digest, language } = text;
    keepLast(this.languages, digest, language);
    const version = String(item['version']);
    const known = textOf.get(version);
    keepLast(textOf, version, known === undefined || known === digest ? digest : null);
    return digest;
  }
}

function keepLast<Value>(among: Map<string, Value>, key: string, value: Value): void {
  among.delete(key);
  among.set(key, value);
  const [oldest = ''] = among.keys();
  if (among.size > VERSIONS_MAX) among.delete(oldest);
}
