import { isObjectable } from '@app/categories';
import type { NamedSubject } from '@app/crypto';
import type { WebPage } from '@app/http';
import type { RefusalsView } from '@app/user-data';
import { html, type Html } from './html';
import { framed, wayBack } from './page-frame';
import { bulleted, cut, guildNamed } from './page-parts';
import type { HeldSubject, PageFacts } from './page-reading';
import { hidden, type Making, nameOf, placeOf } from './page-sections';
import type { OpenLink } from './privacy-links.service';
import type { PageLanguage } from './texts';

/** What a form names for all categories. No category has this key. */
export const EVERYTHING = '*';

/** One subject of a link, with what its user refuses. */
export interface OneGuild extends Pick<PageFacts, 'purposes' | 'servers' | 'isSuspended'> {
  readonly subject: NamedSubject;
  readonly refusals: RefusalsView;
}

type Refusal = RefusalsView['objections'][number];

/** Whether a link offers anything of it. */
export function mayRefuse({ allow }: OpenLink): boolean {
  return allow.includes('consent') || allow.includes('forget');
}

/** The address of its page. */
export function refusalPath({ token }: OpenLink, subject: NamedSubject, language: PageLanguage): string {
  return `/p/${token}/refuse?of=${guildNamed(subject)}&lang=${language}`;
}

/** What is in force of a subject, and the way to its page. */
export function refusing(making: Making, { subject, refusals }: HeldSubject): Html | false {
  const { parts, link, room } = making;
  const words = parts.texts.refusals;
  const lines = linesOf(making, refusals).map((line) => room.take(() => html`<li>${line}</li>`));
  if (lines.length === 0 && !mayRefuse(link)) return false;
  const path = refusalPath(link, subject, parts.language);
  return html`<section>
    <h2>${words.title}</h2>
    ${lines.length > 0 && bulleted(lines)}
    ${mayRefuse(link) && html`<p class="row"><a class="button plain" href="${path}">${words.open}</a></p>`}
  </section>`;
}

/** The page on which a user objects, restricts, and ends a restriction. */
export function refusingPage(
  making: Pick<Making, 'parts' | 'link' | 'form' | 'path'>,
  { subject, purposes, servers, refusals, isSuspended }: OneGuild,
): WebPage {
  const { parts, link, form, path } = making;
  const { texts, language } = parts;
  const words = texts.refusals;
  const facts = { purposes, servers };
  const guild = guildNamed(subject);
  const has = (of: readonly Refusal[], key: string | null) => of.some(({ category }) => category === key);
  const named = { parts, facts };
  const { objections, restrictions } = refusals;
  const isWhole = has(restrictions, null);
  const restrictable = purposes.filter(({ key }) => !has(restrictions, key));
  const objectable = purposes.filter(({ legalBasis }) => isObjectable(legalBasis));
  const left = has(objections, null) ? [] : objectable.filter(({ key }) => !has(objections, key));
  const acting = (act: 'object' | 'restrict', keys: readonly string[], everything: string): Html =>
    html`<div class="edit">
      ${form(
        act,
        html`${hidden('shown', guild)}<label
            >${words.what}
            <select name="category" required>
              <option value="">${words.choose}</option>
              <option value="${EVERYTHING}">${everything}</option>
              ${keys.map((key) => html`<option value="${key}">${cut(nameOf(named, key, undefined), 60)}</option>`)}
            </select></label
          ><button class="${act === 'object' ? 'red' : 'plain'}">
            ${act === 'object' ? words.objectNow : words.restrictNow}
          </button>`,
        guild,
      )}
    </div>`;
  const ending = ({ category }: Refusal): Html =>
    form(
      'unrestrict',
      html`${hidden('shown', guild)}${hidden('category', category ?? EVERYTHING)}<button class="plain">
          ${category === null ? words.endAll : words.end(nameOf(named, category, undefined))}
        </button>`,
      guild,
    );
  const list = (lines: readonly string[]): Html | false =>
    lines.length > 0 && bulleted(lines.map((line) => html`<li>${line}</li>`));
  const restricting = html`<section>
    <h2>${words.restrict}</h2>
    <p>${words.restrictWhy}</p>
    ${list(linesOf(named, { ...refusals, objections: [] }))}
    ${!isSuspended && restrictions.length > 0 && html`<div class="row">${restrictions.map(ending)}</div>`}
    ${
      !isWhole &&
      acting(
        'restrict',
        restrictable.map(({ key }) => key),
        words.all,
      )
    }
  </section>`;
  const objecting = html`<section>
    <h2>${words.object}</h2>
    ${
      objectable.length === 0
        ? html`<p>${words.objectNone}</p>`
        : html`<p>${words.objectWhy}</p>
            <p>${words.objectWhich}</p>`
    }
    ${list(linesOf(named, { ...refusals, restrictions: [] }))}
    ${
      left.length > 0 &&
      acting(
        'object',
        left.map(({ key }) => key),
        words.allObjectable,
      )
    }
  </section>`;
  return framed(
    { language, title: words.title, path: `/p/${link.token}/refuse?of=${guild}` },
    html`<p class="soft">${placeOf({ parts, facts }, subject.ids)}</p>
      ${isSuspended && html`<section class="warn"><p>${texts.suspended}</p></section>`}
      ${link.allow.includes('consent') && restricting} ${link.allow.includes('forget') && objecting}
      ${wayBack(path, language)}`,
  );
}

function linesOf(
  making: Pick<Making, 'parts'> & { readonly facts: Pick<Making['facts'], 'purposes'> },
  { objections, restrictions }: Pick<RefusalsView, 'objections' | 'restrictions'>,
): string[] {
  const { parts } = making;
  const words = parts.texts.refusals;
  const name = (key: string | null, all: string): string =>
    key === null ? all : nameOf(making, key, undefined);
  return [
    ...restrictions.map(({ category, since }) =>
      words.restricted(name(category, words.all), parts.time(since)),
    ),
    ...objections.map(({ category, since }) =>
      words.objected(name(category, words.allObjectable), parts.time(since)),
    ),
  ];
}
