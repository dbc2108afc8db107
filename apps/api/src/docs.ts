import { dirname, join } from 'node:path';
import type { NextFunction, Response } from 'express';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { LetheRequest } from '@app/http';
import { openApiDocument } from './openapi';

/** The page loads from this service alone: no content network, no validator badge, no telemetry. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-cache',
};

// Addresses are relative, so that the page also works behind a proxy that serves it under another path.
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Lethe: the interface</title>
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png" />
    <link rel="stylesheet" href="docs/swagger-ui.css" />
  </head>
  <body>
    <noscript>This page needs JavaScript; the same document as JSON is at <a href="docs-json">docs-json</a>.</noscript>
    <div id="swagger-ui"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

const START = `SwaggerUIBundle({
  url: 'docs-json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  queryConfigEnabled: false,
});
`;

const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

/** Everything that {@link serveDocs} answers. */
export const DOCS_PATHS = [
  '/docs',
  '/docs/',
  '/docs/start.js',
  '/docs-json',
  ...ASSETS.map((asset) => `/docs/${asset}`),
];

/** Serves the documentation page at `/docs` and its document at `/docs-json`, both made by this process. */
export function serveDocs(app: NestExpressApplication): void {
  let document: string | undefined;
  const pages = new Map<string, (response: Response) => void>([
    ['/docs', (response) => response.type('html').send(PAGE)],
    ['/docs/', (response) => response.redirect(308, '../docs')],
    ['/docs/start.js', (response) => response.type('js').send(START)],
    [
      '/docs-json',
      (response) => response.type('json').send((document ??= JSON.stringify(openApiDocument(app)))),
    ],
  ]);
  const root = dirname(require.resolve('swagger-ui-dist/package.json'));
  for (const asset of ASSETS) {
    const path = join(root, asset);
    pages.set(`/docs/${asset}`, (response) => response.sendFile(path, { cacheControl: false }));
  }
  app.use((request: LetheRequest, response: Response, next: NextFunction) => {
    const page = pages.get(request.path);
    if (page === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) return next();
    page(response.set(HEADERS).set('X-Request-Id', request.context.id));
  });
}
