import { isObjectable } from '@app/categories';
import type { WebPage } from '@app/http';
import { refusalIn } from '@app/user-data';
import { html, type Html } from './html';
import { framed, inLanguage } from './page-frame';
import { cut, guildNamed } from './page-parts';
import type { OneCategory } from './page-reading';
import { refusalPath } from './page-refusals';
import { hidden, isConsented, type Making, placeOf } from './page-sections';

type Parts = Pick<Making, 'parts' | 'link' | 'form' | 'path'>;

/** The second confirmation of the erasure of one category, with what it does not stop. */
export function erasingPage(making: Parts, one: OneCategory): WebPage {
  const { parts, link, form, path } = making;
  const { subject, purpose, servers } = one;
  const { texts, language } = parts;
  const named = `${guildNamed(subject)}/${purpose.key}`;
  return framed(
    {
      language,
      title: texts.eraseSure(cut(parts.labelOf(purpose))),
      path: `/p/${link.token}/erase?of=${encodeURIComponent(named)}`,
    },
    html`<section>
      <p class="soft">${placeOf({ parts, facts: { servers } }, subject.ids)}</p>
      <p>${texts.eraseLast}</p>
      ${afterwards(making, one)}
      <div class="row">
        ${form('erase', html`${hidden('shown', named)}<button class="red">${texts.eraseNow}</button>`, named)}
        <a class="button plain" href="${inLanguage(path, language)}">${texts.back}</a>
      </div>
    </section>`,
  );
}

/** Whether the bot can store in the category again, and what stops it. */
function afterwards({ parts, link }: Parts, one: OneCategory): Html | false {
  const { subject, purpose, status, refusals } = one;
  const { texts, language } = parts;
  const refusal = refusalIn(
    (kind, of) => refusals[`${kind}s` as const].some(({ category }) => category === of),
    purpose.key,
    purpose.legalBasis,
  );
  if (refusal !== undefined) return false;
  if (purpose.withoutConsent === null)
    return isConsented(status, purpose.key) && html`<p>${texts.eraseConsent}</p>`;
  const words = texts.eraseFree;
  const canRestrict = link.allow.includes('consent');
  // The link allows erasures, and so objections.
  const advice = isObjectable(purpose.legalBasis)
    ? words[canRestrict ? 'both' : 'object']
    : canRestrict && words.restrict;
  const way = html`<a href="${refusalPath(link, subject, language)}">${texts.refusals.open}</a>`;
  return html`<p>${words.again} ${advice && html`${advice} ${way}`}</p>`;
}
