import { Injectable } from '@nestjs/common';
import type { WebPage } from '@app/http';
import { type Html, html } from './html';
import type { ShownErasure } from './page-acts';
import { type FormAct, PageForms } from './page-forms';
import { framed } from './page-frame';
import { controllerSection } from './page-controller.section';
import { cut, PageParts, Room } from './page-parts';
import type { HeldSubject, PageFacts } from './page-reading';
import {
  boxesOf,
  decision,
  type Making,
  nameOf,
  namesOf,
  past,
  placeOf,
  responsible,
  rights,
  shownBy,
  stored,
  wordsOf,
} from './page-sections';
import type { OpenLink } from './privacy-links.service';
import { PAGE_TEXTS, type PageLanguage, type PageNote, word } from './texts';

/** Makes the page of a link. */
@Injectable()
export class PageView {
  constructor(private readonly forms: PageForms) {}

  page(link: OpenLink, facts: PageFacts, language: PageLanguage, note?: PageNote): WebPage {
    const parts = new PageParts(language);
    const { texts } = parts;
    const making = { parts, link, facts, room: new Room() };
    const subjects = facts.subjects.map((held) => this.subject(making, held));
    const isMore = facts.hasMore || making.room.isFull;
    return framed(
      { language, title: texts.title, path: `/p/${link.token}` },
      html`${note !== undefined && html`<section role="status"><p>${texts.note[note]}</p></section>`}
        <p>${texts.intro(cut(facts.bot.name))}</p>
        <p class="soft">
          ${link.subject === undefined ? texts.scopeAll : texts.scopeOne(placeOf(making, link.subject.ids))}
          ${texts.expires(parts.time(link.expiresAt))} ${texts.zone}
        </p>
        ${facts.isSuspended && html`<section><p>${texts.suspended}</p></section>`}
        ${responsible(parts, facts)} ${controllerSection(language, facts.notice)}
        ${subjects.length === 0 && html`<section><p>${texts.nothing}</p></section>`} ${subjects}
        ${isMore && html`<section><p>${texts.more}</p></section>`}
        ${link.allow.includes('export') && this.exporting(making)} ${rights(parts)}
        ${link.allow.includes('forget') && this.forgetting(making)}`,
    );
  }

  /** The second confirmation of an erasure. */
  confirmation(link: OpenLink, language: PageLanguage): WebPage {
    const parts = new PageParts(language);
    const { texts } = parts;
    return framed(
      { language, title: texts.forgetSure, path: `/p/${link.token}/forget` },
      html`<section>
        <p>${texts.forgetLast}</p>
        ${this.form({ parts, link }, 'forget', html`<button class="red">${texts.forgetNow}</button>`)}
        <a class="button plain" href="/p/${link.token}?lang=${language}">${texts.back}</a>
      </section>`,
    );
  }

  private subject(making: Making, held: HeldSubject): Html {
    const { parts, link } = making;
    const { texts } = parts;
    const place =
      link.subject === undefined && html`<h2 class="soft">${placeOf(making, held.subject.ids)}</h2>`;
    return html`${place}
    ${
      link.allow.includes('view')
        ? stored(making, held)
        : html`<section>
            <h2>${texts.stored}</h2>
            <p>${texts.hidden}</p>
          </section>`
    }
    ${this.consent(making, held)} ${link.allow.includes('view') && past(making, held)}`;
  }

  private consent(making: Making, held: HeldSubject): Html {
    const { parts, link, room } = making;
    const { texts } = parts;
    const { status, asked, decided } = held;
    const words = asked === undefined ? decided : asked.words;
    const mayDecide = link.allow.includes('consent');
    const categories = (status.categories ?? []).map(({ key, status: state, data_erased_at: due }) =>
      room.take(
        () =>
          html`<li>
            ${nameOf(making, key, state === 'pending' ? asked?.words : decided)}:
            ${texts.stateOf[state]}.${due !== undefined && html` ${texts.dueAt(parts.time(due))}`}
          </li>`,
      ),
    );
    const shown = words !== undefined && room.take(() => wordsOf(making, words, asked !== undefined));
    const history =
      held.history.length > 0 &&
      html`<details>
        <summary>${texts.history}</summary>
        <ul>
          ${held.history.map((entry) =>
            room.take(
              () =>
                html`<li>
                  ${parts.time(entry.created_at)}:
                  ${word(texts.action, entry.action)}${(entry.categories ?? []).length > 0 && html` (${namesOf(making, entry.categories ?? [], entry.words)})`}
                </li>`,
            ),
          )}
        </ul>
      </details>`;
    return html`<section>
      <h2>${texts.consent}</h2>
      ${decision(parts, status)}
      ${status.data_erased_at !== undefined && html`<p>${texts.dueAt(parts.time(status.data_erased_at))}</p>`}
      ${
        categories.length > 0 &&
        html`<ul>
          ${categories}
        </ul>`
      }
      ${shown}${history} ${mayDecide && !making.facts.isSuspended && this.deciding(making, held)}
      ${mayDecide && status.status === 'accepted' && this.revoking(making, held)}
    </section>`;
  }

  private deciding(making: Making, held: HeldSubject): Html | false {
    const { asked } = held;
    if (asked === undefined) return false;
    const { texts } = making.parts;
    const boxes = boxesOf(making, asked, new Set(grantedOf(held)));
    const about = shownBy(making.facts, asked);
    const where = html`${hidden('guild', held.subject.ids.guild_id)}${hidden('shown', about)}`;
    return html`<article>
      <h3>${texts.asked}</h3>
      ${boxes.length > 0 && html`<p>${texts.choose}</p>`}
      ${this.form(making, 'accept', html`${where}${boxes}<button>${boxes.length > 0 ? texts.accept : texts.acceptAll}</button>`, about)}
      ${this.form(making, 'decline', html`${where}<button class="plain">${texts.decline}</button>`, about)}
    </article>`;
  }

  private revoking(making: Making, held: HeldSubject): Html {
    const { texts } = making.parts;
    const where = hidden('guild', held.subject.ids.guild_id);
    const granted = grantedOf(held);
    const formOf = (key: string): Html =>
      this.form(
        making,
        'revoke',
        html`${where}${hidden('category', key)}<button class="plain">
            ${texts.revoke(nameOf(making, key, held.decided))}
          </button>`,
      );
    return html`<article>
      ${granted.length > 1 && granted.map((key) => making.room.take(() => formOf(key)))}
      ${this.form(making, 'revoke', html`${where}<button class="plain">${texts.revokeAll}</button>`)}
    </article>`;
  }

  private exporting(making: Making): Html {
    const { texts } = making.parts;
    const button = (form: string, label: string): Html =>
      this.form(making, 'export', html`${hidden('form', form)}<button class="plain">${label}</button>`);
    return html`<section>
      <h2>${texts.export}</h2>
      <p>${texts.exportWhy}</p>
      ${button('html', texts.exportHtml)}${button('json', texts.exportJson)}
    </section>`;
  }

  private forgetting({ parts, link }: Making): Html {
    const { texts, language } = parts;
    return html`<section>
      <h2>${texts.forget}</h2>
      <p>${texts.forgetWhy}</p>
      <p><a class="button red" href="/p/${link.token}/forget?lang=${language}">${texts.forgetAsk}</a></p>
    </section>`;
  }

  private form(
    { parts, link: { token } }: Pick<Making, 'parts' | 'link'>,
    act: FormAct,
    content: Html,
    shown?: string,
  ): Html {
    return html`<form method="post" action="/p/${token}/${act}">
      ${hidden('mark', this.forms.markOf(token, act, shown))}${hidden('lang', parts.language)}${content}
    </form>`;
  }
}

function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}" />`;
}

/** The categories that a user has consented to. */
function grantedOf({ status }: HeldSubject): string[] {
  return (status.categories ?? []).filter((each) => each.status === 'accepted').map(({ key }) => key);
}

/** The answer to an erasure: the certificates to keep. */
export function forgottenPage(erasures: readonly ShownErasure[], language: PageLanguage): WebPage {
  const texts = PAGE_TEXTS[language];
  const certificates = erasures.map(
    ({ request_id, certificate_salt, guild_id, certificate }) =>
      html`<section>
        <h2>${texts.keep}</h2>
        <p>${texts.keepWhy}</p>
        <dl>
          <dt>${texts.request}</dt>
          <dd>${request_id}</dd>
          <dt>${texts.salt}</dt>
          <dd>${certificate_salt}</dd>
        </dl>
        ${
          certificate === undefined
            ? html`<p>${texts.noCertificate}</p>`
            : html`<label>${texts.certificate}<textarea readonly>${certificate}</textarea></label>
                <p>
                  <a
                    class="button plain"
                    download="lethe-certificate-${request_id}.json"
                    href="data:application/json;charset=utf-8,${encodeURIComponent(JSON.stringify({ request_id, certificate_salt, guild_id, certificate }, null, 2))}"
                    >${texts.downloadCertificate}</a
                  >
                  <a class="button plain" href="/verify">${texts.verify}</a>
                </p>`
        }
      </section>`,
  );
  return framed(
    { language, title: texts.forgotten },
    html`<section role="status">
        <p>${erasures.length === 0 ? texts.forgottenNothing : texts.forgottenText}</p>
      </section>
      ${certificates}`,
  );
}
