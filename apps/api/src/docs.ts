import { dirname, join } from 'node:path';
import type { NextFunction, Response } from 'express';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ConsoleFiles } from '@app/console';
import { type LetheRequest, rateHeaders, type RequestContext } from '@app/http';
import { Turns } from '@app/kernel';
import { Health } from '@app/runtime';
import { FRONT_PAGE_HEADERS, frontPage, languageOf, stateOf } from './front-page';
import { openApiDocument } from './openapi';

/** The page loads files of this service only: no content network, no validator badge, no telemetry. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-cache',
};

// Relative addresses keep the page working behind a proxy that serves it under another path.
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Lethe: API reference</title>
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png" />
    <link rel="stylesheet" href="docs/swagger-ui.css" />
    <link rel="stylesheet" href="docs/page.css" />
    <script src="docs/start.js"></script>
    <script src="docs/swagger-ui-bundle.js" defer></script>
  </head>
  <body>
    <noscript>This page needs JavaScript; the same document as JSON is at <a href="docs-json">docs-json</a>.</noscript>
    <div id="swagger-ui"></div>
  </body>
</html>
`;

// The theme is set before the page is painted. The bundle is loaded when the document is parsed. Swagger UI itself does not
// show `x-codeSamples`: a plug-in puts them above the answers of an operation.
const START = `const dark = matchMedia('(prefers-color-scheme: dark)');
const setTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', setTheme);
setTheme();
const codeSamples = ({ React: { createElement } }) => ({
  wrapComponents: {
    responses: (Responses, { specSelectors }) => (props) => {
      const found = specSelectors.specJson().getIn(['paths', props.path, props.method, 'x-codeSamples']);
      const shown = (found ? found.toJS() : []).map(({ label, source }) =>
        createElement('details', { key: label, className: 'code-sample' },
          createElement('summary', null, label), createElement('pre', { className: 'microlight' }, source)));
      return createElement('div', null, ...shown, createElement(Responses, props));
    },
  },
});
addEventListener('DOMContentLoaded', () => {
  SwaggerUIBundle({
    url: 'docs-json',
    dom_id: '#swagger-ui',
    deepLinking: true,
    filter: true,
    plugins: [codeSamples],
    persistAuthorization: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
    queryConfigEnabled: false,
  });
});
`;

/**
 * Adds small screens and a dark label to the style sheet of Swagger UI. Hides the headers of answers, which are always
 * the same.
 */
const PAGE_CSS = `body { margin: 0; }
.swagger-ui .headers-wrapper, .swagger-ui .response-col_links { display: none; }
.swagger-ui .code-sample { margin: 0 20px 8px; }
.swagger-ui .code-sample summary { cursor: pointer; font: 600 14px sans-serif; padding: 4px 0; }
.swagger-ui .code-sample pre { overflow-x: auto; white-space: pre; }
html.dark-mode .swagger-ui .code-sample summary { color: #e4e6e6; }
html.dark-mode .swagger-ui .examples-select__section-label { color: #e4e6e6; }
@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 12px; }
  .swagger-ui .info { margin: 24px 0; }
  .swagger-ui .scheme-container { margin: 0 0 12px; padding: 16px 0; }
  .swagger-ui .filter .operation-filter-input { width: 100%; min-width: 0; margin: 8px 0; }
  .swagger-ui .opblock .opblock-summary-method { min-width: 64px; }
  .swagger-ui .opblock .opblock-summary-path { max-width: 100%; overflow-wrap: anywhere; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .opblock-tag small { order: 1; flex: 1 0 100%; padding: 4px 0 0; }
  .swagger-ui .opblock-tag .expand-operation { margin-left: auto; }
  .swagger-ui { overflow-x: clip; }
  .swagger-ui table.parameters, .swagger-ui table.parameters > tbody, .swagger-ui table.parameters > tbody > tr,
  .swagger-ui table.parameters > tbody > tr > td, .swagger-ui table.responses-table,
  .swagger-ui table.responses-table > tbody, .swagger-ui table.responses-table > tbody > tr,
  .swagger-ui table.responses-table > tbody > tr > td { display: block; width: auto; max-width: 100%; }
  .swagger-ui table.parameters > thead, .swagger-ui table.responses-table > thead { display: none; }
  .swagger-ui .responses-inner { padding: 12px; }
  .swagger-ui .response-control-media-type .content-type, .swagger-ui .examples-select select { max-width: 100%; }
  .swagger-ui .response-controls { flex-direction: column; }
  .swagger-ui .modal-ux { width: 94vw; min-width: 0; }
}
`;

const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

/** The pages take turns: a long one takes a millisecond, and many can be asked for at the same moment. */
const turns = new Turns();

/** Serves the page for people at `/`, the documentation page at `/docs` and its document at `/docs-json`. This process generates both. */
export function serveDocs(app: NestExpressApplication): void {
  // One copy for all answers, however many are being read.
  let document: Buffer | undefined;
  const pages = new Map<string, (response: Response) => void | Promise<void>>([
    ['/docs', (response) => response.type('html').send(PAGE)],
    ['/docs/', (response) => response.redirect(308, '../docs')],
    ['/docs/start.js', (response) => response.type('js').send(START)],
    ['/docs/page.css', (response) => response.type('css').send(PAGE_CSS)],
    [
      '/docs-json',
      (response) => {
        document ??= Buffer.from(JSON.stringify(openApiDocument(app)));
        response.type('json').send(document);
      },
    ],
  ]);
  const root = dirname(require.resolve('swagger-ui-dist/package.json'));
  for (const asset of ASSETS) {
    const path = join(root, asset);
    pages.set(`/docs/${asset}`, (response) => response.sendFile(path, { cacheControl: false }));
  }
  app.use((request: LetheRequest, response: Response, next: NextFunction) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return next();
    const page = request.path === '/' ? frontPageFor(app, request) : pages.get(request.path);
    // A caller over the limit is refused like for an unknown path.
    if (page === undefined || request.context.rate?.exceeded) return next();
    const headed = response.set(HEADERS).set(factsOf(request.context));
    turns
      .next()
      .then(() => page(headed))
      .catch(next);
  });
}

/** The page at `/` for a browser. Every other caller gets the 404 of an unknown path. */
function frontPageFor(
  app: NestExpressApplication,
  request: LetheRequest,
): ((response: Response) => Promise<void>) | undefined {
  if (request.accepts(['json', 'html']) !== 'html') return undefined;
  return async (response) => {
    const state = await stateOf(app.get(Health));
    const hasConsole = app.get(ConsoleFiles).find('/console') !== undefined;
    response.status(state.isReady ? 200 : 503).set(FRONT_PAGE_HEADERS);
    response.type('html').send(frontPage(languageOf(request), { state, hasConsole }));
  };
}

/** The headers of every answer. */
export function factsOf({ id, rate }: RequestContext): Record<string, string> {
  return { 'X-Request-Id': id, ...(rate && Object.fromEntries(rateHeaders(rate))) };
}
