import type { NextFunction, Response } from 'express';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { CONSOLE_HEADERS, ConsoleFiles, languageOf } from '@app/pages';
import { type LetheRequest, rateHeaders, type RequestContext } from '@app/http';
import { Turns } from '@app/kernel';
import { Health } from '@app/runtime';
import { DOCS_HEADERS, made, type MadeFile, PAGE_CSS } from './docs-page';
import { FRONT_PAGE_HEADERS, frontPage, stateOf } from './front-page';
import { guidePages } from './guides';
import { openApiDocument } from './openapi';
import { type Documented, REFERENCE_SCRIPT, referencePage } from './reference';

/** The pages take turns, to be made and to be sent: a long one takes a millisecond, and many can be asked for at the same moment. */
const turns = new Turns();

/**
 * Serves the page for people at `/`, the reference at `/docs` and its document at `/docs-json`, and the guides below
 * `/docs/guides/`. Each but the first is made once, and sent from that copy however many are reading.
 */
export function serveDocs(app: NestExpressApplication): void {
  const document = once(() => openApiDocument(app, turns));
  const guides = guidePages();
  const links = {
    'This service': './',
    ...(guides.size > 0 && { Guides: 'docs/guides/' }),
    'OpenAPI document': 'docs-json',
  };
  const files = new Map<string, () => MadeFile | Promise<MadeFile>>([
    ['/docs', async () => referencePage((await document()) as unknown as Documented, links, turns)],
    ['/docs/reference.js', () => made('js', REFERENCE_SCRIPT)],
    ['/docs/page.css', () => made('css', PAGE_CSS)],
    ['/docs-json', async () => made('json', JSON.stringify(await document()))],
    ...guides,
  ]);
  const kept = new Map([...files].map(([path, make]) => [path, once(async () => make())]));
  const moved = new Map([
    ['/docs/', '../docs'],
    ...(guides.size > 0 ? [['/docs/guides', 'guides/'] as const] : []),
  ]);
  app.use((request: LetheRequest, response: Response, next: NextFunction) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return next();
    const page = request.path === '/' ? frontPageFor(app, request, guides.size > 0) : pageFor(request.path);
    // A caller over the limit is refused like for an unknown path.
    const { context } = request;
    if (page === undefined || context.rate?.exceeded) return next();
    // The contract leaves the rate-limit headers out of the documentation.
    const facts = request.path === '/' ? factsOf(context) : { 'X-Request-Id': context.id };
    page(response.set(DOCS_HEADERS).set(facts)).catch(next);
  });

  function pageFor(path: string): Page | undefined {
    const target = moved.get(path);
    if (target !== undefined) return (response) => Promise.resolve(response.redirect(308, target));
    const file = kept.get(path);
    if (file === undefined) return undefined;
    return async (response) => {
      const { type, body, etag } = await file();
      await turns.next();
      response.type(type).set('ETag', etag).send(body);
    };
  }
}

type Page = (response: Response) => Promise<void>;

/** Makes a thing once, however many wait for it; again after a fault. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  return () =>
    (kept ??= make().catch((error: unknown) => {
      kept = undefined;
      throw error;
    }));
}

/** The page at `/` for a browser. Every other caller gets the 404 of an unknown path. */
function frontPageFor(
  app: NestExpressApplication,
  request: LetheRequest,
  hasGuides: boolean,
): Page | undefined {
  if (request.accepts(['json', 'html']) !== 'html') return undefined;
  return async (response) => {
    await turns.next();
    const state = await stateOf(app.get(Health));
    const hasConsole = app.get(ConsoleFiles).find('/console') !== undefined;
    response.status(state.isReady ? 200 : 503).set(FRONT_PAGE_HEADERS);
    const language = languageOf(request.query['lang'], null, request.headers['accept-language']);
    response.type('html').send(frontPage(language, { state, hasConsole, hasGuides }));
  };
}

/** The headers of every answer. */
function factsOf({ id, rate }: RequestContext): Record<string, string> {
  return { 'X-Request-Id': id, ...(rate && Object.fromEntries(rateHeaders(rate))) };
}

/**
 * Serves the page of the console below `/console`, and `/verify`. They are pages for everybody: what the console shows
 * needs a session, and `/verify` shows what its reader brings.
 */
export function serveConsole(app: NestExpressApplication): void {
  const files = app.get(ConsoleFiles);
  app.use((request: LetheRequest, response: Response, next: NextFunction) => {
    const { method, path, context } = request;
    const isConsole = path === '/console' || (path.startsWith('/console/') && path !== '/console/session');
    const isPage = isConsole || path === '/verify';
    if (!isPage || (method !== 'GET' && method !== 'HEAD') || context.rate?.exceeded) return next();
    const file = files.find(path);
    if (file === undefined) return next();
    response
      .set(CONSOLE_HEADERS)
      .set(factsOf(context))
      .set({ 'Content-Type': file.type, 'Cache-Control': file.caching })
      .send(file.body);
  });
}
