import { ArgumentsHost, Catch, ExceptionFilter, HttpException } from '@nestjs/common';
import type { Logger } from 'pino';
import { ApiError, internalError, describeFault } from '@app/kernel';
import { answer, errorEnvelope } from './answer';
import { rateLimitExceeded } from './rate-limit.guard';
import type { LetheResponse } from './request-context';

/** Answers every error of every layer: parser, router, guards, services. No internal detail is disclosed. */
@Catch()
export class ApiExceptionFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<LetheResponse>();
    const { context } = response.req;
    // Guards do not run for unknown paths, so a caller over the limit is refused here.
    const error = context.rate?.exceeded ? rateLimitExceeded() : toApiError(exception);
    if (error.status >= 500)
      this.logger.error({ requestId: context.id, ...describeFault(exception) }, 'request failed');
    if (response.headersSent) response.destroy();
    else answer(response, error.status, errorEnvelope(error));
  }
}

/** The error that a caller gets for any thrown value. */
export function toApiError(exception: unknown): ApiError {
  if (exception instanceof ApiError) return exception;
  if (exception instanceof HttpException) {
    const status = exception.getStatus();
    if (status === 404)
      return new ApiError('not_found', 'There is no such path and method: /docs lists them all');
    if (status < 500) return new ApiError('invalid_request', 'The request is not valid');
  }
  if (exception instanceof URIError) return new ApiError('invalid_request', 'The path is not valid');
  return internalError();
}
