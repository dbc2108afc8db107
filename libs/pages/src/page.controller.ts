import { Controller, Get, HttpCode, Post, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { AnswerStream, EvenWhile, FormBody, JsonText, Public, WebPage } from '@app/http';
import { Clock } from '@app/kernel';
import { PageActs } from './page-acts';
import { correctingPage } from './page-correct';
import { PageCorrections } from './page-corrections';
import { erasingPage } from './page-erasing';
import { PageForms, refuse } from './page-forms';
import { errorPage, PAGE_HEADERS, PageFilter } from './page-frame';
import { forgottenPage } from './page-last';
import { Asked, type AskedPage, backTo, PageOpening, requireActive, tooOftenPage } from './page-opening';
import { PageReading } from './page-reading';
import { mayRefuse, refusingPage } from './page-refusals';
import { PageRefusing } from './page-refusing';
import { PageView } from './page.view';
import type { OpenLink } from './privacy-links.service';
import { ReadableExport } from './readable-export';
import { languageOf, noteOf, type PageLanguage } from './texts';

/** The paths of the pages, which have no prefix. */
export const PRIVACY_PAGES = ['p/:token', 'p/:token/:act'];

/** The privacy page of a user: rendered here, without scripts. Its acts are those of the interface. */
@ApiExcludeController()
@Public()
@UseFilters(PageFilter)
@Controller('p/:token')
export class PageController {
  constructor(
    private readonly opening: PageOpening,
    private readonly reading: PageReading,
    private readonly view: PageView,
    private readonly forms: PageForms,
    private readonly acts: PageActs,
    private readonly corrections: PageCorrections,
    private readonly refusals: PageRefusing,
    private readonly clock: Clock,
  ) {}

  @Get()
  async page(@Asked() { note, ...asked }: AskedPage): Promise<WebPage> {
    const { link, language, of } = await this.opening.opened(asked);
    return this.view.page(link, await this.reading.facts(link, of), language, noteOf(note), of !== undefined);
  }

  @Get('forget')
  async confirmation(@Asked() asked: AskedPage): Promise<WebPage> {
    const { link, language } = await this.opening.opened(asked);
    if (!link.allow.includes('forget')) refuse();
    return this.view.confirmation(link, language, await this.reading.about(link, []));
  }

  @Get('erase')
  async erasing(@Asked() { of, ...asked }: AskedPage): Promise<WebPage> {
    const opened = await this.opening.opened(asked);
    const { link } = opened;
    if (!link.allow.includes('forget')) refuse();
    if (typeof of !== 'string') return backTo(opened);
    const one = (await this.reading.categoryOf(link, of)) ?? refuse();
    return erasingPage(this.view.makingOf(opened, one.subject), one);
  }

  @Post('erase')
  @EvenWhile('low disk')
  @FormBody()
  async erase(@Asked() form: AskedPage): Promise<WebPage> {
    const opened = await this.opening.openedBy(form, 'erase');
    return backTo(opened, await this.acts.eraseCategory(opened.link, form.fields));
  }

  @Post('accept')
  @FormBody()
  async accept(@Asked() form: AskedPage): Promise<WebPage> {
    const opened = await this.opening.openedBy(form, 'accept');
    const facts = await this.reading.facts(opened.link, opened.of);
    requireActive(facts);
    return backTo(opened, await this.acts.accept(opened.link, facts, form.fields));
  }

  @Post('decline')
  @FormBody()
  async decline(@Asked() form: AskedPage): Promise<WebPage> {
    const opened = await this.opening.openedBy(form, 'decline');
    const facts = await this.reading.facts(opened.link, opened.of);
    requireActive(facts);
    return backTo(opened, await this.acts.decline(opened.link, facts, form.fields));
  }

  @Post('again')
  @FormBody()
  async again(@Asked() form: AskedPage): Promise<WebPage> {
    const opened = await this.opening.openedBy(form, 'again');
    const facts = await this.reading.facts(opened.link, opened.of);
    requireActive(facts);
    const note = await this.acts.again(opened.link, facts, form.fields);
    return note === 'often' ? tooOftenPage(opened, 'again') : backTo(opened, note);
  }

  @Post('revoke')
  @EvenWhile('low disk')
  @FormBody()
  async revoke(@Asked() form: AskedPage): Promise<WebPage> {
    const opened = await this.opening.openedBy(form, 'revoke');
    return backTo(opened, await this.acts.revoke(opened.link, form.fields));
  }

  @Post('export')
  @HttpCode(200)
  @FormBody()
  async export(@Asked() form: AskedPage): Promise<WebPage | AnswerStream> {
    const opened = await this.opening.openedBy(form, 'export');
    const { link, language } = opened;
    const isReadable = form.fields['form']?.[0] === 'html';
    const exported = isReadable ? await this.readable(link, language) : await this.acts.export(link);
    if (exported === undefined) return backTo(opened, 'empty');
    const file = `lethe-export.${isReadable ? 'html' : 'json'}`;
    const headers = { ...PAGE_HEADERS, 'Content-Disposition': `attachment; filename="${file}"` };
    const type = isReadable ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8';
    if (exported instanceof JsonText) return new WebPage(exported.text, { ...headers, 'Content-Type': type });
    return new AnswerStream(exported.writeTo, type, {
      botId: link.botId,
      person: link.userId,
      headers,
      faultPage: (fault) => errorPage(fault, language, link.token),
    });
  }

  /** Writes the export for people; undefined when nothing is stored. */
  private async readable(
    link: OpenLink,
    language: PageLanguage,
  ): Promise<Pick<AnswerStream, 'writeTo'> | undefined> {
    const about = await this.reading.about(link, []);
    const form = new ReadableExport(this.reading, about, link, language, this.clock.nowIso());
    const writeGuilds = await this.acts.exportAs(form, link);
    if (writeGuilds === undefined) return undefined;
    return {
      writeTo: async (write) => {
        let before = form.head;
        await writeGuilds(async (piece) => {
          await write(before + piece);
          before = '';
        });
        await write(form.tail);
      },
    };
  }

  @Post('forget')
  @HttpCode(200)
  @EvenWhile('low disk')
  @FormBody()
  async forget(@Asked() form: AskedPage): Promise<AnswerStream> {
    const { request, token, lang, fields } = form;
    const repeated = this.acts.repeated(token);
    if (repeated !== undefined) {
      this.forms.require(request, fields, token, 'forget');
      const language = languageOf(lang, null, request.headers['accept-language']);
      return forgottenPage(await repeated, language, token);
    }
    const { link, language } = await this.opening.openedBy(form, 'forget');
    return forgottenPage(await this.acts.forget(link), language, token);
  }

  @Get('correct')
  async correcting(@Asked() { of, ...asked }: AskedPage): Promise<WebPage> {
    const opened = await this.opening.opened(asked);
    if (typeof of !== 'string') return backTo(opened);
    const one = (await this.corrections.find(opened.link, of)) ?? refuse();
    return correctingPage(this.view.makingOf(opened, one.subject), one);
  }

  @Post('correct')
  @FormBody()
  async correct(@Asked() form: AskedPage): Promise<WebPage> {
    const opened = await this.opening.openedBy(form, 'correct');
    const done = await this.corrections.correct(opened.link, form.fields);
    if (done === 'often') return tooOftenPage(opened, 'correct');
    if (typeof done === 'string') return backTo(opened, done);
    const { one, refused } = done;
    return correctingPage(this.view.makingOf(opened, one.subject), one, refused);
  }

  @Get('refuse')
  async refusing(@Asked() { of, ...asked }: AskedPage): Promise<WebPage> {
    const opened = await this.opening.opened(asked);
    const { link } = opened;
    if (!mayRefuse(link)) refuse();
    if (typeof of !== 'string') return backTo(opened);
    const one = (await this.refusals.find(link, of)) ?? refuse();
    return refusingPage(this.view.makingOf(opened, one.subject), one);
  }

  @Post('object')
  @EvenWhile('low disk')
  @FormBody()
  async object(@Asked() form: AskedPage): Promise<WebPage> {
    const opened = await this.opening.openedBy(form, 'object');
    return backTo(opened, await this.refusals.object(opened.link, form.fields));
  }

  @Post('restrict')
  @EvenWhile('low disk')
  @FormBody()
  async restrict(@Asked() form: AskedPage): Promise<WebPage> {
    const opened = await this.opening.openedBy(form, 'restrict');
    return backTo(opened, await this.refusals.restrict(opened.link, form.fields));
  }

  @Post('unrestrict')
  @FormBody()
  async unrestrict(@Asked() form: AskedPage): Promise<WebPage> {
    const opened = await this.opening.openedBy(form, 'unrestrict');
    requireActive(await this.reading.about(opened.link, []));
    const note = await this.refusals.unrestrict(opened.link, form.fields);
    return note === 'often' ? tooOftenPage(opened, 'unrestrict') : backTo(opened, note);
  }

  /** The address of an act, loaded anew: it shows the page. */
  @Get(':act')
  async elsewhere(@Asked() asked: AskedPage): Promise<WebPage> {
    return backTo(await this.opening.opened(asked));
  }
}
