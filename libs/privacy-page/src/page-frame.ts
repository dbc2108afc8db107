import { WebPage } from '@app/http';
import { type Html, html } from './html';
import { PAGE_HEADERS, STYLE_ELEMENT } from './page-style';
import { PAGE_LANGUAGES, type PageLanguage, PAGE_TEXTS } from './texts';

const NAMES: Readonly<Record<PageLanguage, string>> = { de: 'Deutsch', en: 'English' };

/** What surrounds the content of a page. */
export interface Frame {
  readonly language: PageLanguage;
  readonly title: string;
  /** The address of the page without the query, for the switch of languages; undefined for a page without one. */
  readonly path?: string;
  readonly status?: number;
}

/** A whole page. */
export function framed({ language, title, path, status }: Frame, content: Html): WebPage {
  const { language: name } = PAGE_TEXTS[language];
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
        ${
          path !== undefined &&
          html`<header>
            <nav aria-label="${name}">
              ${PAGE_LANGUAGES.map(
                (tag) =>
                  html`<a
                    href="${path}?lang=${tag}"
                    lang="${tag}"
                    hreflang="${tag}"
                    ${tag === language && html` aria-current="true"`}
                    >${NAMES[tag]}</a
                  >`,
              )}
            </nav>
          </header>`
        }
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html> `;
  return new WebPage(page.text, PAGE_HEADERS, status);
}
