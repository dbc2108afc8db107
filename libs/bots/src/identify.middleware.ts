import type { NextFunction, Response } from 'express';
import type { LetheRequest } from '@app/http';
import type { ApiKeyDirectory, KnownCaller } from './api-key-directory';
import type { KeyUses } from './key-uses';

/** The last caller on a connection, and its `Authorization` header. */
interface Remembered {
  readonly authorization: string;
  readonly known: KnownCaller;
}

/** Identifies the caller (RFC 6750) before the rate limiter runs. The guard refuses unknown callers. */
export function identify(keys: ApiKeyDirectory, uses: Pick<KeyUses, 'note'>) {
  // Bots reuse connections: each key is hashed once per connection, not for every request.
  const remembered = new WeakMap<object, Remembered>();
  return (request: LetheRequest, _response: Response, next: NextFunction): void => {
    const { authorization } = request.headers;
    if (authorization === undefined) return next();
    const last = remembered.get(request.socket);
    if (last?.authorization === authorization && keys.isCurrent(last.known)) {
      const { context } = request;
      context.caller = last.known.caller;
      uses.note(last.known.caller, context.startedMs);
      return next();
    }
    const key = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (key === undefined) return next();
    const proceed = (known: KnownCaller | undefined): void => {
      request.context.caller = known?.caller;
      if (known !== undefined) {
        remembered.set(request.socket, { authorization, known });
        uses.note(known.caller, request.context.startedMs);
      }
      next();
    };
    const found = keys.identify(key);
    if (!(found instanceof Promise)) return proceed(found);
    found.then(proceed, (fault: Error) => {
      request.context.identityFault = fault;
      next();
    });
  };
}
