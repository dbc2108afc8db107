import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { CONFIG, type Config } from '@app/kernel';
import { BATCH_BODY, parseBatch } from './batch-body';
import { FORM_BODY, readFormBody } from './form-body';
import { parseJsonObject, readJsonBody } from './json-body';
import type { LetheRequest } from './request-context';

/**
 * Reads the body of POST and PUT: JSON, or the fields of a form. It is the last guard, so that no body is read of a caller who is over the limit,
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
    if (this.isMarked(context, FORM_BODY)) {
      request.body = await readFormBody(request);
      return true;
    }
    const { bodyLimitBytes, batchBodyLimitBytes, jsonDepthLimit } = this.config;
    const isBatch = this.isMarked(context, BATCH_BODY);
    request.body = isBatch
      ? await readJsonBody(request, batchBodyLimitBytes, (bytes) => parseBatch(bytes, this.config))
      : await readJsonBody(request, bodyLimitBytes, (bytes) => parseJsonObject(bytes, jsonDepthLimit));
    return true;
  }

  private isMarked(context: ExecutionContext, mark: string): boolean {
    return this.reflector.get<boolean | undefined>(mark, context.getHandler()) === true;
  }
}
