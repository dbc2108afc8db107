import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import { LetheRequest, PUBLIC_ROUTE } from '@app/http';
import { ApiError } from '@app/kernel';

/** Closes every route to callers without a valid key, but those marked `@Public()`. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<LetheRequest>();
    if (request.context.caller !== undefined || isPublic(context)) return true;
    const message =
      request.headers.authorization === undefined
        ? 'Missing Authorization header: send Authorization: Bearer <API key>'
        : 'The API key is not valid';
    throw new ApiError('unauthorized', message);
  }
}

function isPublic(context: ExecutionContext): boolean {
  return (
    Reflect.getMetadata(PUBLIC_ROUTE, context.getHandler()) === true ||
    Reflect.getMetadata(PUBLIC_ROUTE, context.getClass()) === true
  );
}
