import { ApiError, sameToken } from '@app/kernel';
import type { NextFunction, Response } from 'express';
import type { LetheRequest, RequestContext } from './request-context';

/** The beginning of every path of the operator. The token is looked for on no other path. */
const OPERATED = '/api/v1/operator';

/**
 * Recognizes the operator by the token of `OPERATOR_TOKEN` (RFC 6750), before the rate limiter runs. API keys are passed
 * over: no operator token begins like one.
 */
export function identifyOperator(token: string) {
  const isToken = sameToken(token);
  return ({ context, headers, url }: LetheRequest, _response: Response, next: NextFunction): void => {
    if (url.startsWith(OPERATED)) {
      const given = /^bearer +(?!sk_)(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
      context.operator = given !== undefined && isToken(given) ? 'known' : 'unknown';
    }
    next();
  };
}

/**
 * Admits the operator to a route.
 * @throws ApiError 401 without the token; 404, as for an unknown path, where there is none
 */
export function requireOperator({ operator }: RequestContext): void {
  if (operator === 'known') return;
  if (operator === 'off')
    throw new ApiError('not_found', 'There is no such path and method: /docs lists them all');
  throw new ApiError(
    'unauthorized',
    'This is for the operator: send Authorization: Bearer <the token of OPERATOR_TOKEN>',
  );
}
