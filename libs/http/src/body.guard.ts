import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '@app/kernel';
import { readJsonBody } from './json-body';
import type { LetheRequest } from './request-context';

/**
 * Reads the JSON body of POST and PUT. It is the last guard, so that no body is read of a caller who is over the limit,
 * has no key for the route, or asks for an unknown path.
 */
@Injectable()
export class BodyGuard implements CanActivate {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<LetheRequest>();
    if (request.method === 'POST' || request.method === 'PUT')
      request.body = await readJsonBody(request, this.config);
    return true;
  }
}
