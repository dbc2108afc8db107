import type { ExportedGuild, ExportForm } from '@app/export';
import { WebPage } from '@app/http';
import type { ApiError } from '@app/kernel';
import { html } from './html';
import { framed } from './page-frame';
import { PageParts } from './page-parts';
import type { PageFacts } from './page-reading';
import { type PageLanguage, PAGE_TEXTS } from './texts';
import type { PageTexts } from './texts.en';
import { responsible, rights } from './page-sections';

/** An erasure that the page shows. */
export interface ShownErasure {
  readonly request_id: string;
  readonly certificate_salt: string;
  readonly guild_id: string;
  /** Undefined where it cannot be issued yet. */
  readonly certificate: string | undefined;
}

/** The answer to an erasure: the certificates to keep. */
export function forgottenPage(erasures: readonly ShownErasure[], language: PageLanguage): WebPage {
  const texts = PAGE_TEXTS[language];
  const certificates = erasures.map(
    ({ request_id, certificate_salt, guild_id, certificate }) =>
      html`<section>
        <h2>${texts.keep}</h2>
        <p>${texts.keepWhy}</p>
        <dl>
          <dt>${texts.request}</dt>
          <dd>${request_id}</dd>
          <dt>${texts.salt}</dt>
          <dd>${certificate_salt}</dd>
        </dl>
        ${
          certificate === undefined
            ? html`<p>${texts.noCertificate}</p>`
            : html`<label>${texts.certificate}<textarea readonly>${certificate}</textarea></label>
                <p>
                  <a
                    class="button plain"
                    download="lethe-certificate-${request_id}.json"
                    href="data:application/json;charset=utf-8,${encodeURIComponent(JSON.stringify({ request_id, certificate_salt, guild_id, certificate }, null, 2))}"
                    >${texts.downloadCertificate}</a
                  >
                  <a class="button plain" href="/verify">${texts.verify}</a>
                </p>`
        }
      </section>`,
  );
  return framed(
    { language, title: texts.forgotten },
    html`<section role="status">
        <p>${erasures.length === 0 ? texts.forgottenNothing : texts.forgottenText}</p>
      </section>
      ${certificates}`,
  );
}

/** Characters in one piece of a document. */
const PIECE_LENGTH = 32 * 1024;
/** Where the guilds are put into the frame of a document. */
const GUILDS = html`<!--guilds-->`;

/** An export to read and to print: a file without links, scripts or pictures. It is made while it is sent. */
export class ReadableExport implements ExportForm {
  readonly head: string;
  readonly tail: string;
  readonly end = '</section>';
  private readonly parts: PageParts;

  constructor(
    private readonly about: Pick<PageFacts, 'bot' | 'purposes'>,
    language: PageLanguage,
    userId: string,
    exportedAt: string,
  ) {
    const parts = (this.parts = new PageParts(language));
    const { texts } = parts;
    const page = framed(
      { language, title: texts.exportTitle },
      html`<p>${texts.exportedAt(parts.time(exportedAt))} ${texts.zone} <bdi>${userId}</bdi></p>
        ${responsible(parts, about)}${GUILDS}${rights(parts)}`,
    );
    [this.head = '', this.tail = ''] = page.content.split(GUILDS.text);
  }

  guild({ guildId, consent }: ExportedGuild): string {
    const { texts } = this.parts;
    const state = texts.state[(consent?.status ?? 'none') as keyof PageTexts['state']];
    const since = consent?.acceptedAt != null && html` (${this.parts.time(consent.acceptedAt)})`;
    return `<section>${
      html`<h2>${texts.guild(guildId)}</h2>
        <p>${texts.consent}: ${state}${since}</p>`.text
    }`;
  }

  *entry(name: string, value: unknown): Generator<string> {
    const purpose = this.about.purposes.find(({ key }) => key === name);
    const title = purpose === undefined ? name : this.parts.labelOf(purpose);
    let piece = `<article>${html`<h3>${title}</h3>`.text}<div class="value">`;
    for (const text of this.parts.wholeValuesOf(value, purpose)) {
      piece += text;
      if (piece.length < PIECE_LENGTH) continue;
      yield piece;
      piece = '';
    }
    const about = purpose === undefined ? '' : this.parts.purposeOf(purpose).text;
    yield `${piece}</div>${about}</article>`;
  }
}

/** The header of a file to keep. */
export function asFile(name: string): Readonly<Record<string, string>> {
  return { 'Content-Disposition': `attachment; filename="${name}"` };
}

/** The page for an act that was refused or failed. It says the same for every link that is not in force. */
export function errorPage(
  { code, status }: Pick<ApiError, 'code' | 'status'>,
  language: PageLanguage,
): WebPage {
  const texts = PAGE_TEXTS[language];
  const [title, text] = wordsFor(code, status, texts);
  return framed({ language, title, status }, html`<section role="alert"><p>${text}</p></section>`);
}

function wordsFor(code: string, status: number, texts: PageTexts): readonly [title: string, text: string] {
  if (code === 'suspended') return [texts.refused, texts.suspended];
  if (status === 404) return [texts.dead, texts.deadText];
  if (status === 403 || status === 400) return [texts.refused, texts.refusedText];
  if (status === 429) return [texts.busy, texts.busyText];
  if (status === 409) return [texts.conflict, texts.conflictText];
  if (status === 413) return [texts.export, texts.large];
  return [texts.fault, texts.faultText];
}
