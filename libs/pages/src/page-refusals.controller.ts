import { Controller, Get, Param, Post, Query, Req, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { EvenWhile, FormBody, type LetheRequest, Public, type WebPage } from '@app/http';
import { refuse } from './page-forms';
import { PageFilter } from './page-frame';
import { backTo, PageOpening, requireActive, Sent, type SentForm, tooOftenPage } from './page-opening';
import { PageReading } from './page-reading';
import { PageRefusing } from './page-refusing';
import { mayRefuse } from './page-refusals';
import { PageView } from './page.view';

/** The objection and the restriction of a user on the privacy page. */
@ApiExcludeController()
@Public()
@UseFilters(PageFilter)
@Controller('p/:token')
export class RefusalsPageController {
  constructor(
    private readonly opening: PageOpening,
    private readonly reading: PageReading,
    private readonly refusing: PageRefusing,
    private readonly view: PageView,
  ) {}

  @Get('refuse')
  async form(
    @Req() request: LetheRequest,
    @Param('token') token: string,
    @Query('lang') lang?: unknown,
    @Query('of') of?: unknown,
  ): Promise<WebPage> {
    const { link, language } = await this.opening.opened(request, token, lang);
    if (!mayRefuse(link) || typeof of !== 'string') refuse();
    return this.view.refusing(link, language, (await this.refusing.find(link, of)) ?? refuse());
  }

  @Post('object')
  @EvenWhile('low disk')
  @FormBody()
  async object(@Sent() form: SentForm): Promise<WebPage> {
    const opened = await this.opening.openedBy(form, 'object');
    return backTo(opened, await this.refusing.object(opened.link, form.fields));
  }

  @Post('restrict')
  @EvenWhile('low disk')
  @FormBody()
  async restrict(@Sent() form: SentForm): Promise<WebPage> {
    const opened = await this.opening.openedBy(form, 'restrict');
    return backTo(opened, await this.refusing.restrict(opened.link, form.fields));
  }

  @Post('unrestrict')
  @FormBody()
  async unrestrict(@Sent() form: SentForm): Promise<WebPage> {
    const opened = await this.opening.openedBy(form, 'unrestrict');
    requireActive(await this.reading.about(opened.link, []));
    const note = await this.refusing.unrestrict(opened.link, form.fields);
    return note === 'often' ? tooOftenPage(opened, 'unrestrict') : backTo(opened, note);
  }
}
