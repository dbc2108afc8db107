import { BotPath } from '@app/bots';
import { hash } from 'node:crypto';
import { type LetheRequest, OneOf, Public, WebPage } from '@app/http';
import { languageOf } from '@app/pages';
import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { HTML } from './document.html';
import { MARKDOWN } from './document.markdown';
import { DOCUMENT_LANGUAGES, type DocumentLanguage, TEXTS } from './documents.texts';
import { IN_LANGUAGE, type NoticeFacts, noticeHead, noticeSections } from './notice-sections';
import { type PaperFormat, preferred } from './papers';
import { noticeInJson, PrivacyNotices } from './privacy-notices.service';
import { type DocumentForm, own } from './said';

/** The address of a notice, which has no prefix: it is for people. */
export const PRIVACY_NOTICE = 'notice/:bot_id';

/** How long a reader may keep a notice without asking whether it has changed. */
const MAX_AGE_SECONDS = 300;

class NoticeQuery {
  @OneOf(['html', 'markdown', 'json'], { optional: true }) format?: PaperFormat;
  @OneOf(DOCUMENT_LANGUAGES, { optional: true }) language?: DocumentLanguage;
}

/** The privacy notice of a bot that its team has made public, for everybody. */
@ApiExcludeController()
@Public()
@Controller(PRIVACY_NOTICE)
export class PrivacyNoticesController {
  constructor(private readonly notices: PrivacyNotices) {}

  @Get()
  async read(
    @Req() request: LetheRequest,
    @Param() { bot_id }: BotPath,
    @Query() query: NoticeQuery,
  ): Promise<WebPage> {
    const language = query.language ?? languageOf(undefined, null, request.headers['accept-language']);
    const format = query.format ?? preferred(request, 'html');
    const facts = await this.notices.facts(bot_id.toLowerCase());
    if (facts === undefined) return absent(language);
    const { content, headers } = contentOf(format, language, facts);
    const tag = `"${hash('sha256', content, 'base64url')}"`;
    const caching = {
      ...headers,
      ETag: tag,
      Vary: 'Accept, Accept-Language',
      'Cache-Control': `public, max-age=${MAX_AGE_SECONDS}`,
    };
    const isKnown = tagsOf(request.headers['if-none-match']).includes(tag);
    return isKnown ? new WebPage('', caching, 304) : new WebPage(content, caching);
  }
}

function contentOf(
  format: PaperFormat,
  language: DocumentLanguage,
  facts: NoticeFacts,
): { readonly content: string; readonly headers: Readonly<Record<string, string>> } {
  if (format === 'json') {
    const type = 'application/json; charset=utf-8';
    return { content: JSON.stringify(noticeInJson(language, facts)), headers: { 'Content-Type': type } };
  }
  const form = format === 'html' ? HTML : MARKDOWN;
  const sections = noticeSections(language, facts).map((section) => form.section(section));
  return {
    content: form.head(noticeHead(language, facts)) + sections.join('') + form.tail,
    headers: headersOf(form),
  };
}

/** The same page for a bot that does not exist and for one without a public notice. */
function absent(language: DocumentLanguage): WebPage {
  const { absent: title, absentWhy } = TEXTS[language].notice;
  const head = { language, title: own(title), lead: own(absentWhy), address: IN_LANGUAGE };
  const page = HTML.head(head) + HTML.tail;
  return new WebPage(page, headersOf(HTML), 404);
}

function headersOf({ contentType, headers }: DocumentForm): Readonly<Record<string, string>> {
  return { 'Content-Type': contentType, ...headers };
}

/** The entity tags that a reader has, compared weakly (RFC 9110 section 13.1.2). */
function tagsOf(header = ''): string[] {
  return header
    .slice(0, 1_000)
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''));
}
