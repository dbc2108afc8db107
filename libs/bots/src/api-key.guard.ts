import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import { LetheRequest, PUBLIC_ROUTE } from '@app/http';
import { ApiError } from '@app/kernel';

/**
 * Refuses callers without a valid API key on every route that is not marked `@Public()`.
 * @throws ApiError 401, and 503 when the keys cannot be read.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<LetheRequest>();
    if (request.context.caller !== undefined || isPublic(context)) return true;
    if (request.context.identityFault !== undefined) throw request.context.identityFault;
    throw new ApiError('unauthorized', reasonFor(request.headers.authorization));
  }
}

function reasonFor(authorization: string | undefined): string {
  if (authorization === undefined)
    return 'Missing Authorization header: send Authorization: Bearer <API key>';
  return /^bearer +\S/i.test(authorization)
    ? 'The API key is not valid'
    : 'The Authorization header names no Bearer key: send Authorization: Bearer <API key>';
}

function isPublic(context: ExecutionContext): boolean {
  return (
    Reflect.getMetadata(PUBLIC_ROUTE, context.getHandler()) === true ||
    Reflect.getMetadata(PUBLIC_ROUTE, context.getClass()) === true
  );
}
