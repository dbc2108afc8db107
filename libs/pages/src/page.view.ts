import { Injectable } from '@nestjs/common';
import type { NamedSubject } from '@app/crypto';
import type { WebPage } from '@app/http';
import { type Html, html } from './html';
import { consentOf } from './page-consent';
import { PageForms } from './page-forms';
import { framed, pathOf, wayBack } from './page-frame';
import { responsible } from './page-controller.section';
import { noteOn, uncopied } from './page-notes';
import type { Opened } from './page-opening';
import { bulleted, cut, guildNamed, PageParts, Room } from './page-parts';
import type { HeldSubject, PageFacts } from './page-reading';
import { refusing } from './page-refusals';
import {
  hidden,
  idOf,
  type MakeForm,
  type Making,
  past,
  pathAbout,
  placeOf,
  rights,
  storesIn,
} from './page-sections';
import { covered, stored, unfilled } from './page-stored';
import type { OpenLink } from './privacy-links.service';
import type { PageLanguage, PageNote } from './texts';
import type { PageTexts } from './texts.en';

/** The largest size of the section about the bot, in bytes. The stored values have the rest of the page. */
const SAID_BYTES = 10_000;
/** That of the folded words of past decisions, so that the values of further servers have room. */
const FOLDED_BYTES = 8_000;
/** That of the forms beside the values, which is a part of theirs. */
const BESIDES_BYTES = 8_000;

/** Makes the page of a link. */
@Injectable()
export class PageView {
  constructor(private readonly forms: PageForms) {}

  page(link: OpenLink, facts: PageFacts, language: PageLanguage, note?: PageNote, isOfOne = false): WebPage {
    const room = new Room();
    const one = isOfOne ? facts.subjects[0]?.subject : undefined;
    const folded = room.part(FOLDED_BYTES);
    const besides = new Room(BESIDES_BYTES);
    const making = { ...this.making(link, language, one), facts, room, folded, isOfOne, besides };
    const { parts } = making;
    const { texts } = parts;
    const said = !isOfOne && responsible(parts, facts, room.part(SAID_BYTES));
    const subjects = facts.subjects.map((held) => this.subject(making, held));
    const empty = link.allow.includes('view') && unfilled(making);
    return framed(
      {
        language,
        title: texts.title,
        path: making.path,
      },
      html`${noteOn(making, note)}
        <p>${texts.intro(cut(facts.bot.name))} ${offerIn(texts, link)}</p>
        <p>${this.place(making)}</p>
        <p>
          <strong>${texts.alone}</strong>
          <span class="soft">${texts.expires(parts.time(link.expiresAt))} ${texts.zone}</span>
        </p>
        ${facts.isSuspended && html`<section class="warn"><p>${texts.suspended}</p></section>`}
        ${subjects.length === 0 && html`<section><p>${texts.nothing}</p></section>`} ${subjects} ${empty}
        ${further(making)} ${room.isFull && html`<section><p>${parts.more}</p></section>`}
        ${!isOfOne && link.allow.includes('export') && this.exporting(making)} ${said}
        ${rights(making, { isHere: subjects.length > 0 && link.allow.includes('forget'), subjects: facts.further.length > 0 ? [] : facts.subjects })}
        ${!isOfOne && link.allow.includes('forget') && this.forgetting(making)}
        ${isOfOne && wayBack(pathOf(link.token), language)}`,
    );
  }

  private place(making: Making): Html {
    const { parts, link } = making;
    const subject = making.isOfOne ? making.facts.subjects[0]?.subject : link.subject;
    if (subject === undefined) return html`${parts.texts.scopeAll}`;
    const { ids } = subject;
    return html`${parts.texts.scopeOne} <strong ${idOf(parts, ids)}>${placeOf(making, ids)}</strong>`;
  }

  /** The second confirmation of an erasure. */
  confirmation(link: OpenLink, language: PageLanguage, { holders }: Pick<PageFacts, 'holders'>): WebPage {
    const { parts, form } = this.making(link, language);
    const { texts } = parts;
    const told = holders.length > 0 && texts.holders.told(storesIn(language, holders));
    return framed(
      { language, title: texts.forgetSure, path: `/p/${link.token}/forget` },
      html`<section>
        <p>${texts.forgetLast} ${told} ${texts.forgetBeyond}</p>
        <div class="row">
          ${form('forget', html`<button class="red">${texts.forgetNow}</button>`)}
          <a class="button plain" href="/p/${link.token}?lang=${language}">${texts.back}</a>
        </div>
      </section>`,
    );
  }

  /** What a page of a link is made with; that of `one` server has no copies. */
  making(
    link: OpenLink,
    language: PageLanguage,
    one?: NamedSubject,
  ): Pick<Making, 'parts' | 'link' | 'form' | 'path'> {
    const { token } = link;
    const path = pathOf(token, one && guildNamed(one));
    const of = one === undefined ? '' : `&of=${guildNamed(one)}`;
    const form: MakeForm = (act, content, shown) =>
      html`<form method="post" action="/p/${token}/${act}?lang=${language}${of}">
        ${hidden('mark', this.forms.markOf(token, act, shown))}${content}
      </form>`;
    const copies = one === undefined ? 'more' : 'moreOnFirst';
    const parts = new PageParts(language, link.allow.includes('export') ? copies : 'moreUncopied');
    return { parts, link, form, path };
  }

  /** {@link making} for the page of an act on one subject, which leads back to the page of its server. */
  makingOf(
    { link, language }: Pick<Opened, 'link' | 'language'>,
    subject: NamedSubject,
  ): ReturnType<PageView['making']> {
    return this.making(link, language, link.subject === undefined ? subject : undefined);
  }

  private subject(making: Making, held: HeldSubject): Html {
    const { parts, link } = making;
    const { texts } = parts;
    const { ids } = held.subject;
    const place =
      link.subject === undefined &&
      !making.isOfOne &&
      html`<h2 class="soft" ${idOf(parts, ids)}>${placeOf(making, ids)}</h2>`;
    const values = link.allow.includes('view')
      ? stored(making, held)
      : html`<section>
          <h2>${texts.stored}</h2>
          <p>${texts.hidden}</p>
        </section>`;
    const consent = consentOf(making, held);
    // A question that waits comes first.
    return html`${place} ${held.asked === undefined ? [values, consent] : [consent, values]}
    ${refusing(making, held)} ${link.allow.includes('view') && [covered(making, held), past(making, held)]}`;
  }

  private exporting({ parts, facts: { holders, isHeld }, form }: Making): Html {
    const { texts, language } = parts;
    if (!isHeld)
      return html`<section>
        <h2>${texts.export}</h2>
        <p>${uncopied(parts, holders)}</p>
      </section>`;
    const button = (type: string, label: string): Html =>
      form('export', html`${hidden('form', type)}<button class="plain">${label}</button>`);
    return html`<section>
      <h2>${texts.export}</h2>
      <p>${texts.exportWhy}</p>
      ${holders.length > 0 && html`<p>${texts.holders.why(storesIn(language, holders))}</p>`}
      <div class="row">${button('html', texts.exportHtml)}${button('json', texts.exportJson)}</div>
    </section>`;
  }

  private forgetting({ parts, link }: Making): Html {
    const { texts, language } = parts;
    return html`<section>
      <h2>${texts.forget}</h2>
      <p>${texts.forgetWhy}</p>
      <p class="row">
        <a class="button red" href="/p/${link.token}/forget?lang=${language}">${texts.forgetAsk}</a>
      </p>
    </section>`;
  }
}

/** The servers that have no room on the page, each with a page of its own. */
function further(making: Making): Html | false {
  const { facts, parts } = making;
  const { texts } = parts;
  if (facts.further.length === 0) return false;
  const item = (subject: NamedSubject): Html =>
    html`<li>
      <a href="${pathAbout(making, subject)}" ${idOf(parts, subject.ids)}>${placeOf(making, subject.ids)}</a>
    </li>`;
  return html`<section>
    <h2>${texts.further}</h2>
    ${bulleted(facts.further.map(item))} ${facts.hasMore && html`<p>${texts.furtherMore}</p>`}
  </section>`;
}

/** What the page is for. A copy and a correction are no decision about what is stored. */
function offerIn(texts: PageTexts, { allow }: OpenLink): string | false {
  const decides = allow.includes('consent') || allow.includes('forget');
  if (allow.includes('view')) return texts[decides ? 'introBoth' : 'introSeen'];
  return decides && texts.introDecided;
}
