import { createHash, timingSafeEqual } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { LetheRequest } from '@app/http';
import { ApiError, CONFIG, type Config } from '@app/kernel';

/** The header of a registration under `REGISTRATION=token`. */
const REGISTRATION_HEADER = 'X-Registration-Token';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Admits registrations as `REGISTRATION` says: all, those with the token of `REGISTRATION_TOKEN`, or none.
 * @throws ApiError 401 without the token; 404, as for an unknown path, while registrations are off
 */
@Injectable()
export class RegistrationGuard implements CanActivate {
  private readonly expected: Buffer;

  constructor(@Inject(CONFIG) private readonly config: Config) {
    this.expected = digest(config.registrationToken);
  }

  canActivate(context: ExecutionContext): boolean {
    const { registration } = this.config;
    if (registration === 'open') return true;
    if (registration === 'off')
      throw new ApiError('not_found', 'New bots are not registered here: ask the operator');
    const { headers } = context.switchToHttp().getRequest<LetheRequest>();
    const given = headers[REGISTRATION_HEADER.toLowerCase()];
    if (typeof given === 'string' && timingSafeEqual(digest(given), this.expected)) return true;
    throw new ApiError(
      'unauthorized',
      given === undefined
        ? `A registration needs the header ${REGISTRATION_HEADER} with the token of the operator`
        : `The token in ${REGISTRATION_HEADER} is not valid`,
    );
  }
}
