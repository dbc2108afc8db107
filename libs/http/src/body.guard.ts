import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { CONFIG, type Config } from '@app/kernel';
import { BATCH_BODY, parseBatch } from './batch-body';
import { parseJsonObject, readJsonBody } from './json-body';
import type { LetheRequest } from './request-context';

/**
 * Reads the JSON body of POST and PUT. It is the last guard, so that no body is read of a caller who is over the limit,
 * has no key for the route, or asks for an unknown path.
 */
@Injectable()
export class BodyGuard implements CanActivate {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(Reflector) private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<LetheRequest>();
    if (request.method !== 'POST' && request.method !== 'PUT') return true;
    const { bodyLimitBytes, batchBodyLimitBytes, jsonDepthLimit } = this.config;
    const isBatch = this.reflector.get<boolean | undefined>(BATCH_BODY, context.getHandler()) === true;
    request.body = isBatch
      ? await readJsonBody(request, batchBodyLimitBytes, (bytes) => parseBatch(bytes, this.config))
      : await readJsonBody(request, bodyLimitBytes, (bytes) => parseJsonObject(bytes, jsonDepthLimit));
    return true;
  }
}
