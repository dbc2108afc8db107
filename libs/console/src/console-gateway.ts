import type { NextFunction, Response } from 'express';
import type { LetheRequest } from '@app/http';
import type { ConsoleSessions } from './console-sessions';

const CONSOLE = '/console';
const INTERFACE = '/console/api/';

/**
 * Turns `/console/api/…` of a session into `/api/…` with its API key, before anything looks at either: scopes and
 * every rule of the interface apply as to a call of the bot; the sessions of a bot have a limit of their own. Without a session the request has no key.
 */
export function consoleGateway(sessions: ConsoleSessions, limit: number) {
  return (request: LetheRequest, _response: Response, next: NextFunction): void => {
    if (request.url.startsWith(INTERFACE)) {
      const key = sessions.keyOf(request);
      delete request.headers.authorization;
      if (key !== undefined) {
        request.headers.authorization = `Bearer ${key}`;
        request.context.consoleLimit = limit;
      }
      request.url = request.url.slice(CONSOLE.length);
    }
    next();
  };
}
