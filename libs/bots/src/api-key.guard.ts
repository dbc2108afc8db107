import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import { accessOf, LetheRequest, requireAccess, requireOperator } from '@app/http';
import { ApiError } from '@app/kernel';

/**
 * On every route that is not marked `@Public()`, refuses callers without a valid API key, keys without the scope of the
 * route, and bots that the operator has suspended. Routes for the operator admit the operator's token alone.
 * @throws ApiError 401, 403 `insufficient_scope` and `suspended`, and 503 when the keys cannot be read.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const access = accessOf(context);
    if (access.isPublic) return true;
    const request = context.switchToHttp().getRequest<LetheRequest>();
    if (access.isOfOperator) {
      requireOperator(request.context);
      return true;
    }
    const { caller, identityFault } = request.context;
    if (caller !== undefined) requireAccess(access, caller);
    else throw identityFault ?? new ApiError('unauthorized', reasonFor(request.headers.authorization));
    return true;
  }
}

function reasonFor(authorization: string | undefined): string {
  if (authorization === undefined)
    return 'Missing Authorization header: send Authorization: Bearer <API key>';
  if (/^\s*sk_/.test(authorization))
    return 'The word Bearer is missing before the API key: send Authorization: Bearer <API key>';
  return /^bearer +\S/i.test(authorization)
    ? 'The API key is not valid'
    : 'The Authorization header names no Bearer key: send Authorization: Bearer <API key>';
}
