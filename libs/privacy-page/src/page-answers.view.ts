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
  /** Undefined where it cannot be issued yet. */
  readonly certificate: string | undefined;
}

/** The answer to an erasure: the certificates to keep. */
export function forgottenPage(erasures: readonly ShownErasure[], language: PageLanguage): WebPage {
  const texts = PAGE_TEXTS[language];
  const certificates = erasures.map(
    ({ request_id, certificate_salt, certificate }) =>
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
                    href="data:application/json;charset=utf-8,${encodeURIComponent(JSON.stringify({ request_id, certificate_salt, certificate }, null, 2))}"
                    >${texts.downloadCertificate}</a
                  >
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

/** The parts of an export that people read. */
interface ExportedGuild {
  readonly guildId: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly consent: { readonly status: keyof PageTexts['state']; readonly acceptedAt: string | null } | null;
}
interface Exported extends Partial<ExportedGuild> {
  readonly userId: string;
  readonly exportedAt: string;
  readonly guilds?: readonly ExportedGuild[];
}

/** An export to read and to print: a file without links, scripts or pictures. */
export function readableExport(text: string, facts: PageFacts, language: PageLanguage): WebPage {
  const parts = new PageParts(language);
  const { texts } = parts;
  const exported = JSON.parse(text) as Exported;
  const guilds = exported.guilds ?? [exported as ExportedGuild];
  const sections = guilds.map(
    ({ guildId, data, consent }) =>
      html`<section>
        <h2>${texts.guild(guildId)}</h2>
        <p>
          ${texts.consent}:
          ${texts.state[consent?.status ?? 'none']}${consent?.acceptedAt != null && html` (${parts.time(consent.acceptedAt)})`}
        </p>
        ${Object.entries(data).map(([key, value]) => {
          const purpose = facts.purposes.find((each) => each.key === key);
          return html`<article>
            <h3>${purpose === undefined ? key : parts.labelOf(purpose)}</h3>
            ${purpose !== undefined && parts.purposeOf(purpose)}${parts.valuesOf(value, purpose, true)}
          </article>`;
        })}
      </section>`,
  );
  const page = framed(
    { language, title: texts.exportTitle },
    html`<p>${texts.exportedAt(parts.time(exported.exportedAt))} <bdi>${exported.userId}</bdi></p>
      ${responsible(parts, facts)}${sections}${rights(parts)}`,
  );
  return new WebPage(page.content, { ...page.headers, ...asFile('lethe-export.html') });
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
