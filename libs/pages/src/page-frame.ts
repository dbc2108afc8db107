import { hash } from 'node:crypto';
import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { answerError, answerPage, type LetheRequest, WebPage } from '@app/http';
import type { ApiError } from '@app/kernel';
import { Html, html } from './html';
import { languageOf, PAGE_LANGUAGES, PAGE_TEXTS, type PageLanguage } from './texts';
import type { PageTexts } from './texts.en';

/**
 * The style of every page: calm, readable at 320 pixels, light and dark, and on paper. The colours are those of the console
 * (apps/console/src/style.css), so that users and teams see one product.
 */
const STYLE = `:root{color-scheme:light dark;--ink:#1b2427;--soft:#526067;--line:#d5dbde;--paper:#fff;--ground:#f6f7f7;--accent:#1f5f6e;--onaccent:#fff;--red:#8c1d13;--onred:#fff;--good:#e3f2e8;--ongood:#14532d;--warn:#fdf1d4;--onwarn:#6b4400}
@media (prefers-color-scheme:dark){:root{--ink:#e6ecee;--soft:#a3b1b7;--line:#374247;--paper:#1d2427;--ground:#14191b;--accent:#7cc4d4;--onaccent:#0c2229;--red:#f8b9b3;--onred:#421a17;--good:#163323;--ongood:#a9e2bf;--warn:#3a2d0d;--onwarn:#f3d38a}}
*{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--ink);font:1.0625rem/1.6 system-ui,sans-serif;overflow-wrap:anywhere}
main,header{max-width:44rem;margin:0 auto;padding:0 1rem}header{display:flex;flex-wrap:wrap;gap:.5rem 1rem;justify-content:space-between;align-items:center;padding-top:1.25rem}
.brand{display:flex;gap:.5rem;align-items:center;font-weight:700;margin:0}.brand svg{width:1.5rem;height:1.5rem}nav,.tongues{display:flex;gap:1rem}main{padding-bottom:2rem}
h1{font-size:1.75rem;line-height:1.25;margin:1rem 0 .5rem}h2{font-size:1.25rem;margin:0 0 .5rem}h3,h4{font-size:1.0625rem;margin:0 0 .25rem}
section{background:var(--paper);border:1px solid var(--line);border-radius:.75rem;padding:1.125rem;margin:1rem 0}
section.good{background:var(--good);border-color:var(--ongood);color:var(--ongood);font-weight:600;padding:.5rem 1.125rem}section.warn{background:var(--warn);border-color:var(--onwarn);color:var(--onwarn);font-weight:600;padding:.5rem 1.125rem}
article{border-top:1px solid var(--line);padding-top:.875rem;margin-top:.875rem}p{margin:.375rem 0}.soft,dt,th{color:var(--soft)}
dl{display:grid;grid-template-columns:fit-content(40%) minmax(0,1fr);gap:.125rem .875rem;margin:.375rem 0}dt{min-width:6rem}dl dl dt{min-width:0}dd{margin:0}dd bdi,li bdi{white-space:pre-line;unicode-bidi:plaintext}
h3 small{font-weight:400;color:var(--red);border:1px solid;border-radius:1rem;padding:0 .625rem;margin-left:.375rem;display:inline-block}.value>dl>dd{font-size:1.25rem;line-height:1.4;font-weight:600}.words{white-space:pre-line}section>h3{margin-top:1.25rem;font-size:1.125rem}.value dl dl{font-size:1.0625rem;font-weight:400}dl dl{border-left:2px solid var(--line);padding-left:.75rem}
ul{padding-left:1.25rem;margin:.375rem 0}a{color:var(--accent)}label{display:block;padding:.25rem 0}label:has([type=checkbox],[type=radio]){display:flex;gap:.625rem;align-items:center;min-height:2.75rem}[type=checkbox]{flex:none;width:1.25rem;height:1.25rem;margin:0;accent-color:var(--accent)}
button,.button{display:inline-block;font:inherit;font-weight:600;min-height:2.75rem;padding:.5rem 1.125rem;border-radius:.5rem;border:1px solid var(--accent);background:var(--accent);color:var(--onaccent);cursor:pointer;text-align:center;text-decoration:none;max-width:100%;overflow-wrap:anywhere}
button.plain,.button.plain{background:none;color:var(--accent)}button.red,.button.red{background:var(--red);border-color:var(--red);color:var(--onred)}button.plain.red,.button.plain.red{background:none;color:var(--red)}
.row{display:flex;flex-wrap:wrap;gap:.75rem;align-items:flex-end;margin:.75rem 0 0}.boxes{margin-bottom:.75rem}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}textarea{width:100%;min-height:7rem;font:.8125rem/1.4 ui-monospace,monospace;background:var(--ground);color:var(--ink);border:1px solid var(--line);border-radius:.5rem;padding:.5rem}
details{margin:.5rem 0}.edit{font-size:1.0625rem;font-weight:400}.edit form{margin:.25rem 0 .75rem}.edit :is(input,select,textarea){display:block;width:100%;max-width:24rem;min-height:2.75rem;margin:.25rem 0 .5rem;padding:.5rem .75rem;font:inherit;background:var(--ground);color:var(--ink);border:1px solid var(--soft);border-radius:.5rem}summary{cursor:pointer;min-height:1.75rem}[aria-current]{font-weight:700;text-decoration:none;color:var(--ink)}
html:has(#in-de:checked) .in:lang(en),html:has(#in-en:checked) .in:lang(de){display:none}
@media (max-width:30rem){dl{grid-template-columns:1fr}dd{margin-bottom:.375rem}.row{flex-direction:column;align-items:stretch}form,.row .button,button{width:100%}}
@media print{textarea{field-sizing:content}:root{color-scheme:light}body{background:none;color:#000}form,nav,.noprint,.row{display:none}details::details-content{content-visibility:visible;display:block}section{border:0;padding:0;break-inside:avoid-page}}`;

/** The icon of the console, drawn in the page: nothing is loaded. */
const ICON = new Html(
  '<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#2b5f6b"/><path d="M7 20c3-4 6 4 9 0s6 4 9 0M7 13c3-4 6 4 9 0s6 4 9 0" fill="none" stroke="#fff" stroke-width="2.5" stroke-linecap="round"/></svg>',
);

/** The policy allows this very text. */
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);

const DIGEST = hash('sha256', STYLE, 'base64');

/**
 * Nothing is loaded from anywhere, no script runs, and no page shows this one in a frame. `strict-origin` names the origin
 * alone in `Referer`; with `no-referrer` browsers would send the forms with the origin `null`.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${DIGEST}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'strict-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Robots-Tag': 'noindex, nofollow',
};

export const NAMES: Readonly<Record<PageLanguage, string>> = { de: 'Deutsch', en: 'English' };

/** What surrounds the content of a page. */
interface Frame {
  readonly language: PageLanguage;
  readonly title: string;
  /** The address without the language, for the switch of languages; a page without a path has no switch. */
  readonly path?: string;
  /** In the place of the title and of the switch, on a page that has all languages. */
  readonly heading?: Html;
  readonly tongues?: Html;
  readonly status?: number;
}

/** A whole page. */
export function framed({ language, title, path, heading, tongues, status }: Frame, content: Html): WebPage {
  const address = path === undefined ? undefined : inLanguage(path, '');
  const page = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title} · Lethe</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <header>
          <p class="brand">${ICON} Lethe</p>
          ${tongues ?? (address !== undefined && languageSwitch(language, address))}
        </header>
        <main>
          <h1>${heading ?? title}</h1>
          ${content}
        </main>
      </body>
    </html> `;
  return new WebPage(page.text, PAGE_HEADERS, status);
}

/** The switch of languages. It leads to the same page, by its address up to the tag. */
export function languageSwitch(language: PageLanguage, address: string): Html {
  return html`<nav aria-label="${PAGE_TEXTS[language].language}">
    ${PAGE_LANGUAGES.map(
      (tag) =>
        html`<a
          href="${address}${tag}"
          lang="${tag}"
          hreflang="${tag}"
          ${tag === language && html` aria-current="true"`}
          >${NAMES[tag]}</a
        >`,
    )}
  </nav>`;
}

/** The address of the page of a link; `of` names one of its servers. */
export function pathOf(token: string, of?: string): string {
  return `/p/${encodeURIComponent(token)}${of === undefined ? '' : `?of=${encodeURIComponent(of)}`}`;
}

/** An address in a language. */
export function inLanguage(path: string, language: PageLanguage | ''): string {
  return `${path}${path.includes('?') ? '&' : '?'}lang=${language}`;
}

/** The server that an address names, also before a category: `server/category`. */
export function guildIn(of: unknown): string | undefined {
  return typeof of === 'string' ? of.split('/', 1)[0] : undefined;
}

/** The page for an act of a link that was refused or failed. It says the same for every link that is not in force, and leads to none of them. */
export function errorPage(error: ApiError, language: PageLanguage, token: string, of?: string): WebPage {
  const { status } = error;
  const [title, text] = wordsFor(error, PAGE_TEXTS[language]);
  const path = status === 404 ? {} : { path: pathOf(token, of) };
  return framed(
    { language, title, status, ...path },
    html`<section role="alert"><p>${text}</p></section>
      ${path.path !== undefined && wayBack(path.path, language)}`,
  );
}

/** Leads back to the page of a link. */
export function wayBack(path: string, language: PageLanguage): Html {
  return html`<p class="row">
    <a class="button plain" href="${inLanguage(path, language)}">${PAGE_TEXTS[language].back}</a>
  </p>`;
}

function wordsFor(
  { code, status, details }: ApiError,
  texts: PageTexts,
): readonly [title: string, text: string] {
  if (details?.['status'] === 'processing')
    return [texts.onRecord, texts.onRecordText(String(details['request_id']))];
  if (code === 'suspended') return [texts.refused, texts.suspended];
  if (status === 404) return [texts.dead, texts.deadText];
  if (status === 403 || status === 400) return [texts.refused, texts.refusedText];
  if (status === 429) return [texts.busy, texts.busyText];
  if (status === 409) return [texts.conflict, texts.conflictText];
  if (status === 413) return [texts.refused, texts.large];
  return [texts.fault, texts.faultText];
}

/** Answers what is refused on a page as a page for people. */
@Catch()
export class PageFilter implements ExceptionFilter {
  catch(exception: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Parameters<typeof answerPage>[0]>();
    const { req } = response;
    answerError(response, exception, (error) =>
      answerPage(
        response,
        errorPage(error, languageAfter(error, req), String(req.params['token']), guildAfter(error, req)),
      ),
    );
  }
}

/** The query of a request over the limit is not read. */
function languageAfter({ status }: ApiError, request: LetheRequest): PageLanguage {
  const lang: unknown = status === 429 ? undefined : request.query['lang'];
  return languageOf(lang, null, request.headers['accept-language']);
}

/** The server to lead back to. An address that was refused may name one that the link is not about. */
function guildAfter({ status }: ApiError, request: LetheRequest): string | undefined {
  const isRefused = status === 403 && request.method === 'GET';
  return status === 429 || isRefused ? undefined : guildIn(request.query['of']);
}
