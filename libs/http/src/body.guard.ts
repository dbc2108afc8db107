import { type CanActivate, type ExecutionContext, Inject, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiError, CONFIG, type Config, invalidRequest, isCleanText } from '@app/kernel';
import { BATCH_BODY, parseBatch } from './batch';
import { parseJsonObject, readBody, takesBody } from './json';
import type { LetheRequest, RequestContext } from './request-context';
import { accessOf, requireAccess } from './scopes';

const FORM_BODY = 'lethe:form-body';

/** Marks a route whose body is sent by a form of a page: its fields are lists of texts. */
export const FormBody = (): MethodDecorator & ClassDecorator => SetMetadata(FORM_BODY, true);

/** The largest body of a form, in bytes. */
const FORM_MAX_BYTES = 8192;

/**
 * Reads the body of POST and PUT: JSON, or the fields of a form. It is the last guard: a caller who is over the limit,
 * has no key for the route, or asks for an unknown path is refused before the body is read. What admitted the caller is asked
 * again after it. A query or JSON that could not be read is refused here, also on routes that take none. The page answers a
 * form that could not be read.
 */
@Injectable()
export class BodyGuard implements CanActivate {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(Reflector) private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<LetheRequest>();
    const query: unknown = request.query;
    if (query instanceof ApiError) throw query;
    if (!takesBody(request)) return true;
    const { bodyLimitBytes, batchBodyLimitBytes, jsonDepthLimit } = this.config;
    if (this.isMarked(context, FORM_BODY)) {
      request.body = await readBody(request, FORM_MAX_BYTES, fieldsOf, 'application/x-www-form-urlencoded');
      return true;
    }
    const body = this.isMarked(context, BATCH_BODY)
      ? await readBody(request, batchBodyLimitBytes, (bytes) => parseBatch(bytes, this.config))
      : await readBody(request, bodyLimitBytes, (bytes) => parseJsonObject(bytes, jsonDepthLimit));
    await requireStill(context, request.context);
    if (body instanceof ApiError) throw body;
    request.body = body;
    return true;
  }

  private isMarked(context: ExecutionContext, mark: string): boolean {
    return this.reflector.get<boolean | undefined>(mark, context.getHandler()) === true;
  }
}

/**
 * A client can hold a body back: what admitted the request is asked again, so that nothing is done with a key that was deleted, by a bot
 * that was suspended or in a session that ended meanwhile.
 * @throws ApiError 401; 403 as {@link requireAccess}
 */
async function requireStill(context: ExecutionContext, request: RequestContext): Promise<void> {
  const access = accessOf(context);
  if (access.isPublic) return;
  if (request.hasSessionEnded?.() === true)
    throw new ApiError('unauthorized', 'The session has ended: sign in again');
  if (access.isOfOperator) return;
  const now = request.callerNow?.();
  if (now === request.caller) return;
  request.caller = await now;
  if (request.caller === undefined) throw new ApiError('unauthorized', 'The API key is not valid');
  requireAccess(access, request.caller);
}

/** The fields of a form by name, each with its values. */
export type FormFields = Readonly<Record<string, readonly string[] | undefined>>;

function fieldsOf(bytes: Buffer): Record<string, unknown> | ApiError {
  const fields: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const [name, value] of new URLSearchParams(bytes.toString('utf8'))) {
    if (!isCleanText(name) || !isCleanText(value))
      return invalidRequest([{ field: 'body', message: 'must not hold NUL or lone surrogates' }]);
    (fields[name] ??= []).push(value);
  }
  return fields;
}
