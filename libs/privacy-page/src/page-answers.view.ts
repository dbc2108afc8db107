import { WebPage } from '@app/http';
import type { ApiError } from '@app/kernel';
import { html } from './html';
import { framed } from './page-frame';
import { type PageLanguage, PAGE_TEXTS } from './texts';
import type { PageTexts } from './texts.en';

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
