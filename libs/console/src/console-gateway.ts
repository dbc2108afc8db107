import type { NextFunction, Response } from 'express';
import type { LetheRequest } from '@app/http';
import type { ConsoleSessions } from './console-sessions';

const CONSOLE = '/console';
const INTERFACE = '/console/api/';

/**
 * Turns `/console/api/…` of a session into `/api/…` with its API key or the operator's token, before anything looks at either: limits, scopes, and
 * every rule of the interface apply as to a call of the bot. Without a session the request has neither.
 */
export function consoleGateway(sessions: ConsoleSessions) {
  return (request: LetheRequest, _response: Response, next: NextFunction): void => {
    if (request.url.startsWith(INTERFACE)) {
      const credential = sessions.credentialOf(request);
      delete request.headers.authorization;
      if (credential !== undefined) request.headers.authorization = `Bearer ${credential}`;
      request.url = request.url.slice(CONSOLE.length);
    }
    next();
  };
}
