import { CanActivate, ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { LetheRequest, sameToken } from '@app/http';
import { ApiError, CONFIG, type Config } from '@app/kernel';

/** The header of a registration where `REGISTRATION=token`. */
export const REGISTRATION_HEADER = 'X-Registration-Token';

/**
 * Admits registrations as `REGISTRATION` says: all, those with the token of `REGISTRATION_TOKEN`, or none.
 * @throws ApiError 401 without the token; 404, as for an unknown path, where registrations are off
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
    const given = context.switchToHttp().getRequest<LetheRequest>().headers[
      REGISTRATION_HEADER.toLowerCase()
    ];
    if (typeof given === 'string' && this.isToken(given)) return true;
    throw new ApiError(
      'unauthorized',
      given === undefined
        ? `A registration needs the header ${REGISTRATION_HEADER} with the token of the operator`
        : `The token in ${REGISTRATION_HEADER} is not valid`,
    );
  }
}
