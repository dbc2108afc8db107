import { hash } from 'node:crypto';
import { html, Html } from '@app/pages';
import { type Block, type DocumentForm, type Head, type Said, type Section, textOf } from './said';

/** Calm on a screen of 320 pixels and more, light and dark, and plain on paper. */
const STYLE = `:root{color-scheme:light dark;--ink:#1c2430;--soft:#546073;--line:#d5dbe4;--paper:#fff;--ground:#f4f6f9;--blue:#1d4fa8}
@media (prefers-color-scheme:dark){:root{--ink:#e8ecf2;--soft:#a9b4c4;--line:#3a4454;--paper:#1c232e;--ground:#12171f;--blue:#8ab4ff}}
*{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--ink);font:1rem/1.6 system-ui,sans-serif;overflow-wrap:anywhere}
main{max-width:52rem;margin:0 auto;padding:1.5rem 1.25rem 3rem}h1{font-size:1.75rem;line-height:1.25;margin:0 0 .5rem}
h2{font-size:1.25rem;line-height:1.3;margin:2rem 0 .5rem;border-top:1px solid var(--line);padding-top:1.25rem}h3{font-size:1.0625rem;margin:1.5rem 0 .25rem}
p,ul,dl{margin:.5rem 0}.lead{color:var(--soft)}ul{padding-left:1.25rem}li{margin:.25rem 0}a{color:var(--blue)}bdi{white-space:pre-line}
dl{display:grid;grid-template-columns:minmax(9rem,14rem) 1fr;gap:.25rem 1rem}dt{color:var(--soft)}dd{margin:0}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9375rem}th,td{text-align:left;vertical-align:top;padding:.375rem .625rem .375rem 0;border-bottom:1px solid var(--line)}th{color:var(--soft);font-weight:600}
:focus-visible{outline:3px solid var(--blue);outline-offset:2px}
@media (max-width:36rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}}
@media print{:root{color-scheme:light;--ink:#000;--soft:#333;--line:#999;--ground:#fff}body{font-size:10.5pt}main{max-width:none;padding:0}h2{break-after:avoid}h3{break-after:avoid}tr,li{break-inside:avoid}}`;

const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);

/** Nothing is loaded, no script runs, nothing is sent, and no page shows this one in a frame. */
const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Robots-Tag': 'noindex',
};

/** A document as a page to read and to print. */
export const HTML: DocumentForm = {
  contentType: 'text/html; charset=utf-8',
  headers: HEADERS,
  head: ({ language, title, lead }: Head) =>
    html`<!doctype html>
      <html lang="${language}">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>${textOf(title)} · Lethe</title>
          ${STYLE_ELEMENT}
        </head>
        <body>
          <main>
            <h1>${line(title)}</h1>
            <p class="lead">${line(lead)}</p>
          </main>
        </body>
      </html>`.text,
  section: ({ title, isPart, blocks }: Section) =>
    html`${isPart ? html`<h3>${line(title)}</h3>` : html`<h2>${line(title)}</h2>`}${blocks.map(block)}`.text,
  tail: '</main></body></html>',
};

function block(given: Block): Html {
  if ('text' in given) return html`<p>${line(given.text)}</p>`;
  if ('items' in given)
    return html`<ul>
      ${given.items.map((item) => html`<li>${line(item)}</li>`)}
    </ul>`;
  if ('facts' in given)
    return html`<dl>
      ${given.facts.map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd>${line(value)}</dd>`,
      )}
    </dl>`;
  const { columns, rows } = given.table;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${columns.join(', ')}">
    <table>
      <thead>
        <tr>
          ${columns.map((name) => html`<th scope="col">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((cell) => html`<td>${line(cell)}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function line({ parts }: Said): Html[] {
  return parts.map((part) => {
    if (typeof part === 'string') return html`${part}`;
    const { text, href } = part;
    if (href === undefined) return html`<bdi>${text}</bdi>`;
    return html`<a href="${href}" rel="noopener nofollow"><bdi>${text}</bdi></a>`;
  });
}
