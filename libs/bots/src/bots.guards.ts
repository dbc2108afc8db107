import { accessOf, LetheRequest, requireAccess, requireOperator } from '@app/http';
import { ApiError, type Config, CONFIG, sameToken } from '@app/kernel';
import { CanActivate, ExecutionContext, Inject, Injectable, NotFoundException } from '@nestjs/common';

/**
 * On every route that is not marked `@Public()`, refuses callers without a valid API key, keys without the scope of the
 * route, and bots that the operator has suspended. Routes for the operator admit the operator's token alone.
 * @throws NotFoundException for an unknown method; ApiError 401, 403 `insufficient_scope` and `suspended`, and 503 when the keys cannot be read.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const access = accessOf(context);
    if (access.isUnknown) throw new NotFoundException();
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

/** The header of a registration under `REGISTRATION=token`. */
const REGISTRATION_HEADER = 'X-Registration-Token';

/**
 * Admits registrations as `REGISTRATION` says: all, those with the token of `REGISTRATION_TOKEN`, or none.
 * @throws ApiError 401 without the token; 404, as for an unknown path, while registrations are off
 */
@Injectable()
export class RegistrationGuard implements CanActivate {
  private readonly isToken: (given: string) => boolean;

  constructor(@Inject(CONFIG) private readonly config: Config) {
    this.isToken = sameToken(config.registrationToken);
  }

  canActivate(context: ExecutionContext): boolean {
    const { registration } = this.config;
    if (registration === 'open') return true;
    if (registration === 'off')
      throw new ApiError('not_found', 'New bots are not registered here: ask the operator');
    const { headers } = context.switchToHttp().getRequest<LetheRequest>();
    const given = headers[REGISTRATION_HEADER.toLowerCase()];
    if (typeof given === 'string' && this.isToken(given)) return true;
    throw new ApiError(
      'unauthorized',
      given === undefined
        ? `A registration needs the header ${REGISTRATION_HEADER} with the token of the operator`
        : `The token in ${REGISTRATION_HEADER} is not valid`,
    );
  }
}
