import type { NextFunction, Response } from 'express';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { CONSOLE_HEADERS, ConsoleFiles } from '@app/console';
import type { LetheRequest } from '@app/http';
import { factsOf } from './docs';

/** Serves the page of the console below `/console`. It is a page for everybody: what it shows needs a session. */
export function serveConsole(app: NestExpressApplication): void {
  const files = app.get(ConsoleFiles);
  app.use((request: LetheRequest, response: Response, next: NextFunction) => {
    const { method, path, context } = request;
    const isPage = path === '/console' || (path.startsWith('/console/') && path !== '/console/session');
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
