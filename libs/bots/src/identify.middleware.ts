import type { NextFunction, Response } from 'express';
import type { Caller, LetheRequest } from '@app/common';
import type { KeyDirectory } from './key-directory';

/** Who called last on a connection, and what makes that still true: the same header, and no key taken away since. */
interface Remembered {
  readonly authorization: string;
  readonly generation: number;
  readonly caller: Caller;
}

/** Finds out who calls (RFC 6750); refusing is the guard's part, so that the limiter knows the caller before. */
export function identify(keys: KeyDirectory) {
  // A bot calls over the same connection again and again: the key is hashed once on each, not for every request.
  const remembered = new WeakMap<object, Remembered>();
  return (request: LetheRequest, _response: Response, next: NextFunction): void => {
    const { authorization } = request.headers;
    if (authorization === undefined) return next();
    const last = remembered.get(request.socket);
    if (last?.authorization === authorization && last.generation === keys.generation) {
      request.context.caller = last.caller;
      return next();
    }
    const key = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (key === undefined) return next();
    const { generation } = keys;
    const proceed = (caller: Caller | undefined): void => {
      request.context.caller = caller;
      if (caller !== undefined) remembered.set(request.socket, { authorization, generation, caller });
      next();
    };
    const found = keys.identify(key);
    if (found instanceof Promise) found.then(proceed, next);
    else proceed(found);
  };
}
