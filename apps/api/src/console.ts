import type { NextFunction, Response } from 'express';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { CONSOLE_HEADERS, ConsoleFiles } from '@app/console';
import type { LetheRequest } from '@app/http';
import { factsOf } from './docs';

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
      .vary('Accept-Encoding');
    if (request.acceptsEncodings('gzip') === false) return response.send(file.body);
    return response.set('Content-Encoding', 'gzip').send(file.gzipped);
  });
}
