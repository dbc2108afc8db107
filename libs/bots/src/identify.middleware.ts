import type { NextFunction, Response } from 'express';
import type { Caller, LetheRequest } from '@app/common';
import type { KeyDirectory } from './key-directory';

/** Finds out who calls (RFC 6750); refusing is the guard's part, so that the limiter knows the caller before. */
export function identify(keys: KeyDirectory) {
  return (request: LetheRequest, _response: Response, next: NextFunction): void => {
    const key = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    if (key === undefined) return next();
    const proceed = (caller: Caller | undefined): void => {
      request.context.caller = caller;
      next();
    };
    const found = keys.identify(key);
    if (found instanceof Promise) found.then(proceed, next);
    else proceed(found);
  };
}
