import { Controller, Get, Param, Post, Query, Req, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { FormBody, type LetheRequest, Public, type WebPage } from '@app/http';
import { PageCorrections } from './page-corrections';
import { refuse } from './page-forms';
import { PageFilter } from './page-frame';
import { backTo, PageOpening, Sent, type SentForm, tooOftenPage } from './page-opening';
import { PageView } from './page.view';

/** The correction of one value on the privacy page. */
@ApiExcludeController()
@Public()
@UseFilters(PageFilter)
@Controller('p/:token/correct')
export class CorrectionController {
  constructor(
    private readonly opening: PageOpening,
    private readonly corrections: PageCorrections,
    private readonly view: PageView,
  ) {}

  @Get()
  async form(
    @Req() request: LetheRequest,
    @Param('token') token: string,
    @Query('lang') lang?: unknown,
    @Query('of') of?: unknown,
  ): Promise<WebPage> {
    const { link, language } = await this.opening.opened(request, token, lang);
    const one = typeof of === 'string' ? await this.corrections.find(link, of) : undefined;
    return this.view.correcting(link, language, one ?? refuse());
  }

  @Post()
  @FormBody()
  async correct(@Sent() form: SentForm): Promise<WebPage> {
    const opened = await this.opening.openedBy(form, 'correct');
    const done = await this.corrections.correct(opened.link, form.fields);
    if (done === 'often') return tooOftenPage(opened, 'correct');
    if (typeof done === 'string') return backTo(opened, done);
    return this.view.correcting(opened.link, opened.language, done.one, done.refused);
  }
}
