import { hash } from 'node:crypto';
import { html, Html, languageSwitch } from '@app/pages';
import { type Block, type DocumentForm, type Head, line, type Section, textOf } from './said';

/** In the colours of the privacy page: calm at 320 pixels and more, light and dark, and plain on paper. */
const STYLE = `:root{color-scheme:light dark;--ink:#1b2427;--soft:#526067;--line:#d5dbde;--paper:#fff;--ground:#f6f7f7;--accent:#1f5f6e}
@media (prefers-color-scheme:dark){:root{--ink:#e6ecee;--soft:#a3b1b7;--line:#374247;--paper:#1d2427;--ground:#14191b;--accent:#7cc4d4}}
*{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--ink);font:1rem/1.6 system-ui,sans-serif;overflow-wrap:anywhere}
main{max-width:52rem;margin:0 auto;padding:1.5rem 1.25rem 3rem}nav{display:flex;gap:1rem;justify-content:flex-end}[aria-current]{font-weight:700;text-decoration:none;color:var(--ink)}
h1{font-size:1.75rem;line-height:1.25;margin:0 0 .5rem;hyphens:auto}
h2{font-size:1.25rem;line-height:1.3;margin:2rem 0 .5rem;border-top:1px solid var(--line);padding-top:1.25rem}h3{font-size:1.0625rem;margin:1.5rem 0 .25rem}
p,ul,dl{margin:.5rem 0}.lead{color:var(--soft)}ul{padding-left:1.25rem}li{margin:.25rem 0}a{color:var(--accent)}bdi{white-space:pre-line;unicode-bidi:plaintext}
dl{display:grid;grid-template-columns:minmax(9rem,14rem) 1fr;gap:.25rem 1rem}dt{color:var(--soft)}dd{margin:0}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9375rem}th,td{text-align:left;vertical-align:top;padding:.375rem .625rem .375rem 0;border-bottom:1px solid var(--line);min-width:4rem}th{color:var(--soft);font-weight:600;overflow-wrap:normal}td:nth-child(2){overflow-wrap:normal}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
@media (max-width:36rem){h1{font-size:1.5rem}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}}
@media print{:root{color-scheme:light;--ink:#000;--soft:#333;--line:#999;--ground:#fff;--accent:#000}body{font-size:10.5pt}main{max-width:none;padding:0}nav{display:none}h1{font-size:18pt}h2{font-size:13pt;margin-top:1.25rem;padding-top:.75rem}h2,h3{break-after:avoid}dl,tr,li{break-inside:avoid}}`;

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

/** Marks the place of the sections: a frame is made whole, and split there. */
const SECTIONS = html`<!--sections-->`;

/** A document as a page to read and to print. */
export const HTML: DocumentForm = {
  contentType: 'text/html; charset=utf-8',
  headers: HEADERS,
  head,
  section: ({ title, isPart, blocks }: Section) =>
    html`${isPart ? html`<h3>${line(title)}</h3>` : html`<h2>${line(title)}</h2>`}${blocks.map(block)}`.text,
  tail: '</main></body></html>',
};

function head({ language, title, lead, address }: Head): string {
  const { text } = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${textOf(title)} · Lethe</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <main>
          ${address !== undefined && languageSwitch(language, address)}
          <h1>${line(title)}</h1>
          <p class="lead">${line(lead)}</p>
          ${SECTIONS}
        </main>
      </body>
    </html>`;
  return text.slice(0, text.indexOf(SECTIONS.text));
}

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
