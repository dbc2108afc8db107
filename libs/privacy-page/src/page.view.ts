import { Injectable } from '@nestjs/common';
import type { WebPage } from '@app/http';
import { type Html, html } from './html';
import { boxesOf, shownBy, wordsOf } from './page-asking';
import { type FormAct, PageForms } from './page-forms';
import { framed } from './page-frame';
import { cut, PageParts, Room } from './page-parts';
import type { HeldSubject, PageFacts } from './page-reading';
import {
  decision,
  type Making,
  nameOf,
  namesOf,
  past,
  placeOf,
  responsible,
  rights,
  stored,
  word,
} from './page-sections';
import type { OpenLink } from './privacy-links.service';
import type { PageLanguage, PageNote } from './texts';

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
        ${responsible(parts, facts)}
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
        ${this.form(link, language, 'forget', html`<button class="red">${texts.forgetNow}</button>`)}
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

  private deciding(making: Making, { asked, subject, status }: HeldSubject): Html | false {
    if (asked === undefined) return false;
    const { parts, link } = making;
    const { texts, language } = parts;
    const granted = new Set(
      (status.categories ?? []).filter((each) => each.status === 'accepted').map(({ key }) => key),
    );
    const boxes = boxesOf(making, asked, granted);
    const about = shownBy(making.facts, asked);
    const where = html`<input type="hidden" name="guild" value="${subject.ids.guild_id}" /><input
        type="hidden"
        name="shown"
        value="${about}"
      />`;
    return html`<article>
      <h3>${texts.asked}</h3>
      ${boxes.length > 0 && html`<p>${texts.choose}</p>`}
      ${this.form(link, language, 'accept', html`${where}${boxes}<button>${boxes.length > 0 ? texts.accept : texts.acceptAll}</button>`, about)}
      ${this.form(link, language, 'decline', html`${where}<button class="plain">${texts.decline}</button>`, about)}
    </article>`;
  }

  private revoking(making: Making, { subject, status, decided }: HeldSubject): Html {
    const { parts, link } = making;
    const { texts, language } = parts;
    const where = html`<input type="hidden" name="guild" value="${subject.ids.guild_id}" />`;
    const granted = (status.categories ?? []).filter((each) => each.status === 'accepted');
    const single =
      granted.length < 2
        ? []
        : granted.map(({ key }) =>
            making.room.take(() =>
              this.form(
                link,
                language,
                'revoke',
                html`${where}<input type="hidden" name="category" value="${key}" /><button class="plain">
                    ${texts.revoke(nameOf(making, key, decided))}
                  </button>`,
              ),
            ),
          );
    return html`<article>
      ${single}
      ${this.form(link, language, 'revoke', html`${where}<button class="plain">${texts.revokeAll}</button>`)}
    </article>`;
  }

  private exporting({ parts, link }: Making): Html {
    const { texts, language } = parts;
    const button = (form: string, label: string): Html =>
      this.form(
        link,
        language,
        'export',
        html`<input type="hidden" name="form" value="${form}" /><button class="plain">${label}</button>`,
      );
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
    { token }: OpenLink,
    language: PageLanguage,
    act: FormAct,
    content: Html,
    shown?: string,
  ): Html {
    return html`<form method="post" action="/p/${token}/${act}">
      <input type="hidden" name="mark" value="${this.forms.markOf(token, act, shown)}" /><input
        type="hidden"
        name="lang"
        value="${language}"
      />${content}
    </form>`;
  }
}
