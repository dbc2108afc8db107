import { type ArgumentsHost, Catch, type ExceptionFilter, Inject } from '@nestjs/common';
import { answerPage, type LetheRequest, toApiError } from '@app/http';
import { type ApiError, describeFault, LOGGER } from '@app/kernel';
import type { Logger } from 'pino';
import { errorPage } from './page-answers.view';
import { languageOf, type PageLanguage } from './texts';

type Response = Parameters<typeof answerPage>[0];

/** Answers what is refused on a page as a page for people. No internal detail is disclosed. */
@Catch()
export class PageFilter implements ExceptionFilter {
  constructor(@Inject(LOGGER) private readonly logger: Logger) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    const error = toApiError(exception);
    const { context } = response.req;
    if (error.status >= 500)
      this.logger.error({ requestId: context.id, ...describeFault(exception) }, 'request failed');
    if (response.headersSent) response.destroy();
    else answerPage(response, errorPage(error, languageAfter(error, response.req)));
  }
}

/** Nothing is read of a request over the limit. */
function languageAfter({ status }: ApiError, request: LetheRequest): PageLanguage {
  if (status === 429) return 'en';
  const { headers, query } = request;
  const { lang } = query;
  return languageOf(typeof lang === 'string' ? lang : undefined, null, headers['accept-language']);
}
