import {
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  HttpCode,
  Param,
  Post,
  Query,
  Req,
  UseFilters,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import {
  FormBody,
  type FormFields,
  JsonText,
  type LetheRequest,
  OnLowDisk,
  Public,
  TextStream,
  WebPage,
} from '@app/http';
import { ApiError, Clock } from '@app/kernel';
import { PageActs } from './page-acts';
import { type FormAct, PageForms, refuse } from './page-forms';
import { errorPage, PAGE_HEADERS, PageFilter } from './page-frame';
import { type PageFacts, PageReading } from './page-reading';
import { forgottenPage } from './page-last';
import { PageView } from './page.view';
import type { PageAct } from './privacy-links.dto';
import { type OpenLink, PrivacyLinks } from './privacy-links.service';
import { ReadableExport } from './readable-export';
import { languageOf, noteOf, type PageLanguage, type PageNote } from './texts';

/** The paths of the pages, which have no prefix. */
export const PRIVACY_PAGES = ['p/:token', 'p/:token/:act'];

const ALLOWED_BY: Readonly<Record<FormAct, PageAct>> = {
  accept: 'consent',
  decline: 'consent',
  again: 'consent',
  revoke: 'consent',
  export: 'export',
  erase: 'forget',
  forget: 'forget',
};

/** An opened page, and its language. */
interface Opened {
  readonly link: OpenLink;
  readonly language: PageLanguage;
}

/** A form as it was sent. {@link PageForms.require} checks that the page has made it. */
interface SentForm {
  readonly request: LetheRequest;
  readonly token: string;
  readonly fields: FormFields;
}

/** @throws ApiError for a body that is no form */
const Sent = createParamDecorator((_: unknown, context: ExecutionContext): SentForm => {
  const request = context.switchToHttp().getRequest<LetheRequest>();
  const { body, params } = request;
  if (body instanceof ApiError) throw body;
  return { request, token: String(params['token']), fields: (body ?? {}) as FormFields };
});

/** The privacy page of a user: rendered here, without scripts. Its acts are those of the interface. */
@ApiExcludeController()
@Public()
@UseFilters(PageFilter)
@Controller('p/:token')
export class PageController {
  constructor(
    private readonly links: PrivacyLinks,
    private readonly reading: PageReading,
    private readonly view: PageView,
    private readonly forms: PageForms,
    private readonly acts: PageActs,
    private readonly clock: Clock,
  ) {}

  @Get()
  async page(
    @Req() request: LetheRequest,
    @Param('token') token: string,
    @Query('lang') lang?: unknown,
    @Query('note') note?: unknown,
  ): Promise<WebPage> {
    const { link, language } = await this.opened(request, token, lang);
    return this.view.page(link, await this.reading.facts(link), language, noteOf(note));
  }

  @Get('forget')
  async confirmation(
    @Req() request: LetheRequest,
    @Param('token') token: string,
    @Query('lang') lang?: unknown,
  ): Promise<WebPage> {
    const { link, language } = await this.opened(request, token, lang);
    if (!link.allow.includes('forget')) refuse();
    return this.view.confirmation(link, language);
  }

  @Get('erase')
  async erasing(
    @Req() request: LetheRequest,
    @Param('token') token: string,
    @Query('lang') lang?: unknown,
    @Query('of') of?: unknown,
  ): Promise<WebPage> {
    const { link, language } = await this.opened(request, token, lang);
    if (!link.allow.includes('forget') || typeof of !== 'string') refuse();
    return this.view.erasing(link, (await this.reading.categoryOf(link, of)) ?? refuse(), language);
  }

  @Post('erase')
  @OnLowDisk()
  @FormBody()
  async erase(@Sent() form: SentForm): Promise<WebPage> {
    const opened = await this.openedBy(form, 'erase');
    return backTo(opened, await this.acts.eraseCategory(opened.link, form.fields));
  }

  @Post('accept')
  @FormBody()
  async accept(@Sent() form: SentForm): Promise<WebPage> {
    const opened = await this.openedBy(form, 'accept');
    const facts = await this.reading.facts(opened.link);
    requireActive(facts);
    return backTo(opened, await this.acts.accept(opened.link, facts, form.fields));
  }

  @Post('decline')
  @FormBody()
  async decline(@Sent() form: SentForm): Promise<WebPage> {
    const opened = await this.openedBy(form, 'decline');
    const facts = await this.reading.facts(opened.link);
    return backTo(opened, await this.acts.decline(opened.link, facts, form.fields));
  }

  @Post('again')
  @FormBody()
  async again(@Sent() form: SentForm): Promise<WebPage> {
    const opened = await this.openedBy(form, 'again');
    const facts = await this.reading.facts(opened.link);
    requireActive(facts);
    return backTo(opened, await this.acts.again(opened.link, facts, form.fields));
  }

  @Post('revoke')
  @OnLowDisk()
  @FormBody()
  async revoke(@Sent() form: SentForm): Promise<WebPage> {
    const opened = await this.openedBy(form, 'revoke');
    return backTo(opened, await this.acts.revoke(opened.link, form.fields));
  }

  @Post('export')
  @HttpCode(200)
  @FormBody()
  async export(@Sent() form: SentForm): Promise<WebPage | TextStream> {
    const opened = await this.openedBy(form, 'export');
    const { link, language } = opened;
    const isReadable = form.fields['form']?.[0] === 'html';
    const exported = isReadable ? await this.readable(link, language) : await this.acts.export(link, true);
    if (exported === undefined) return backTo(opened, 'empty');
    const file = `lethe-export.${isReadable ? 'html' : 'json'}`;
    const headers = { ...PAGE_HEADERS, 'Content-Disposition': `attachment; filename="${file}"` };
    const type = isReadable ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8';
    if (exported instanceof JsonText) return new WebPage(exported.text, { ...headers, 'Content-Type': type });
    return new TextStream(type, exported.writeTo, {
      botId: link.botId,
      person: link.userId,
      headers,
      faultPage: (fault) => errorPage(fault, language),
    });
  }

  /** Writes the export for people; undefined when nothing is stored. */
  private async readable(
    link: OpenLink,
    language: PageLanguage,
  ): Promise<Pick<TextStream, 'writeTo'> | undefined> {
    const about = await this.reading.about(link);
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
  @OnLowDisk()
  @FormBody()
  async forget(@Sent() form: SentForm): Promise<WebPage> {
    const { request, token, fields } = form;
    const repeated = this.acts.repeated(token);
    if (repeated !== undefined) {
      this.forms.require(request, fields, token, 'forget');
      const language = languageOf(fields['lang']?.[0], null, request.headers['accept-language']);
      return forgottenPage(await repeated, language);
    }
    const { link, language } = await this.openedBy(form, 'forget');
    return forgottenPage(await this.acts.forget(link), language);
  }

  private async opened({ headers }: LetheRequest, token: string, lang: unknown): Promise<Opened> {
    const link = await this.links.open(token);
    const given = typeof lang === 'string' ? lang : undefined;
    return { link, language: languageOf(given, link.language, headers['accept-language']) };
  }

  /** @throws ApiError 404 for a link that is not in force; 403 for a form of another page, and for what is not allowed */
  private async openedBy({ request, token, fields }: SentForm, act: FormAct): Promise<Opened> {
    const opened = await this.opened(request, token, fields['lang']?.[0]);
    this.forms.require(request, fields, token, act);
    if (!opened.link.allow.includes(ALLOWED_BY[act])) refuse();
    return opened;
  }
}

/** @throws ApiError 403 */
function requireActive({ isSuspended }: PageFacts): void {
  if (isSuspended) throw new ApiError('suspended', 'The bot is suspended');
}

/** Sends the browser back to the page, so that loading it again repeats nothing. The page says what was done. */
function backTo({ link, language }: Opened, note: PageNote): WebPage {
  const path = `/p/${link.token}?lang=${language}&note=${note}`;
  return new WebPage('', { ...PAGE_HEADERS, Location: path }, 303);
}
