import { createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import type { AuditService } from '@app/audit';
import type { NamedSubject } from '@app/crypto';
import { type FormFields, type LetheRequest, WebPage } from '@app/http';
import { ApiError, type AuditEventType, type Clock, DAY_MS } from '@app/kernel';
import { html } from './html';
import { isOwn, type PastEvent } from './page-events';
import { type FormAct, PageForms, refuse } from './page-forms';
import { framed, guildIn, inLanguage, PAGE_HEADERS, pathOf, wayBack } from './page-frame';
import type { PageFacts } from './page-reading';
import type { PageAct } from './privacy-links.dto';
import { type OpenLink, PrivacyLinks } from './privacy-links.service';
import { languageOf, PAGE_TEXTS, type PageLanguage, type PageNote } from './texts';

const ALLOWED_BY: Readonly<Record<FormAct, PageAct>> = {
  accept: 'consent',
  decline: 'consent',
  again: 'consent',
  revoke: 'consent',
  export: 'export',
  erase: 'forget',
  forget: 'forget',
  correct: 'correct',
  object: 'forget',
  restrict: 'consent',
  unrestrict: 'consent',
};

/** An opened page, and its language. */
export interface Opened {
  readonly link: OpenLink;
  readonly language: PageLanguage;
  /** The server that the address names. */
  readonly of: string | undefined;
}

/** What a request to a page asks for. Its texts are as anybody may have written them. */
export interface AskedPage {
  readonly request: LetheRequest;
  readonly token: string;
  readonly lang?: unknown;
  readonly of?: unknown;
  readonly note?: unknown;
  /** Those of a form, which {@link PageForms.require} checks; a link has none. */
  readonly fields: FormFields;
}

/** @throws ApiError for a body that is no form */
export const Asked = createParamDecorator((_: unknown, context: ExecutionContext): AskedPage => {
  const request = context.switchToHttp().getRequest<LetheRequest>();
  const { body, params, query } = request;
  if (body instanceof ApiError) throw body;
  const { lang, of, note } = query;
  return { request, token: String(params['token']), lang, of, note, fields: (body ?? {}) as FormFields };
});

/** Opens a link for a request, and checks the form that was sent with it. */
@Injectable()
export class PageOpening {
  constructor(
    private readonly links: PrivacyLinks,
    private readonly forms: PageForms,
  ) {}

  /** @throws ApiError 404 for a link that is not in force */
  async opened({ request: { headers }, token, lang, of }: AskedPage): Promise<Opened> {
    const link = await this.links.open(token);
    const language = languageOf(lang, link.language, headers['accept-language']);
    return { link, language, of: guildIn(of) };
  }

  /** @throws ApiError 404 for a link that is not in force; 403 for a form of another page, and for what is not allowed */
  async openedBy(form: AskedPage, act: FormAct): Promise<Opened> {
    const opened = await this.opened(form);
    const { request, token, fields } = form;
    this.forms.require(request, fields, token, act);
    if (!opened.link.allow.includes(ALLOWED_BY[act])) refuse();
    return opened;
  }
}

/** @throws ApiError 403 */
export function requireActive({ isSuspended }: Pick<PageFacts, 'isSuspended'>): void {
  if (isSuspended) throw new ApiError('suspended', 'The bot is suspended');
}

/** What a user has done on pages in the last 24 hours, among the 50 newest events of a type. */
export async function ownOfDay(
  audit: AuditService,
  clock: Clock,
  subject: NamedSubject,
  type: AuditEventType,
): Promise<PastEvent[]> {
  const { botId, ids } = subject;
  const { items } = await audit.list(botId, { ...ids, event_type: type, page_size: '50' }, subject);
  const since = new Date(clock.wallMs() - DAY_MS).toISOString();
  return [...(items as Iterable<PastEvent>)].filter((event) => isOwn(event) && event.created_at > since);
}

/** Sends the browser to the page, so that loading it again repeats nothing. The page says what was done. */
export function backTo({ link, language, of }: Opened, note?: PageNote): WebPage {
  const said = note === undefined ? '' : `&note=${note}`;
  const path = `${inLanguage(pathOf(link.token, of), language)}${said}`;
  return new WebPage('', { ...PAGE_HEADERS, Location: path }, 303);
}

/** Says that an act was done as often today as a user may do it. Nothing was recorded. */
export function tooOftenPage(
  { link, language, of }: Opened,
  act: 'again' | 'correct' | 'unrestrict',
): WebPage {
  const { often } = PAGE_TEXTS[language].correction;
  const path = pathOf(link.token, of);
  return framed(
    { language, title: often.title, path, status: 429 },
    html`<section class="warn" role="alert"><p>${often[act]}</p></section>
      ${wayBack(path, language)}`,
  );
}
