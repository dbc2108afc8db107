import type { ShownRequest } from '@app/consent';
import { html, type Html } from './html';
import { decisionsOf } from './page-events';
import { bulleted, guildNamed } from './page-parts';
import type { HeldSubject } from './page-reading';
import {
  decision,
  dueIn,
  hidden,
  type Making,
  namesOf,
  pathAbout,
  refusalOf,
  shownBy,
} from './page-sections';
import { uncovered } from './page-stored';
import { boxesOf, labelOf, lengthOf, wordsOf } from './page-words';
import { word } from './texts';

/** What a user has decided, and how to decide otherwise. What decides takes no room: it is there however full the page is. */
export function consentOf(making: Making, held: HeldSubject): Html {
  const { parts, link } = making;
  const { texts } = parts;
  const { status, asked, decided } = held;
  const mayDecide = link.allow.includes('consent');
  const categories = decisionsOf(held).map(
    ({ key, status: state, data_erased_at: due }) =>
      html`<li>
        ${labelOf(making, key, state === 'pending' ? asked?.words : decided)}:
        ${texts.stateOf[state]}.${due !== undefined && html` ${dueIn(parts, status, due, { key })}`}
      </li>`,
  );
  // Of a first request every category waits: the boxes below say which.
  const isOpen = status.status === 'pending' && mayDecide;
  const refusal = mayDecide && !making.facts.isSuspended ? refusalOf(held) : undefined;
  const due = status.data_erased_at;
  const stored = link.allow.includes('view') ? [...held.values.keys()] : [];
  const left = uncovered(status, stored, making.facts.purposes);
  return html`<section>
    <h2>${texts.consent}</h2>
    ${decision(parts, status, refusal !== undefined)} ${refusal !== undefined && again(making, held, refusal)}
    ${due !== undefined && html`<p>${dueIn(parts, status, due, { names: namesOf(making, left, undefined) })}</p>`}
    ${categories.length > 0 && !isOpen && bulleted(categories)}
    ${shown(making, held, mayDecide && !making.facts.isSuspended)}
    ${mayDecide && status.status === 'accepted' && revoking(making, held)} ${historyOf(making, held)}
  </section>`;
}

/**
 * The words that the user was shown and, of a request, its form, which is never without them. Where both do not fit, they have the
 * page of their server.
 */
function shown(making: Making, held: HeldSubject, mayAnswer: boolean): Html | false {
  const { parts, room, folded, isOfOne } = making;
  const { texts } = parts;
  const { asked, decided, subject } = held;
  const words = asked === undefined ? decided : asked.words;
  const isQuestion = mayAnswer && asked !== undefined;
  if (words === undefined && !isQuestion) return false;
  const whole = () =>
    html`${words !== undefined && wordsOf(making, words, asked !== undefined)}
    ${isQuestion && deciding(making, held, asked)}`;
  return (
    (isOfOne
      ? whole()
      : (isQuestion ? room : folded).fit(words === undefined ? 0 : lengthOf(words), whole)) ??
    html`${isQuestion && html`<h3>${texts.asked}</h3>`}
      <p class="row">
        <a class="button plain" href="${pathAbout(making, subject)}"
          >${isQuestion ? texts.readAndDecide : texts.words}</a
        >
      </p>`
  );
}

function again({ parts, form }: Making, { subject }: HeldSubject, { id }: { readonly id: string }): Html {
  const where = html`${hidden('guild', guildNamed(subject))}${hidden('shown', id)}`;
  return html`<div class="row">
    ${form('again', html`${where}<button class="plain">${parts.texts.again}</button>`, id)}
  </div>`;
}

function historyOf(making: Making, { history }: HeldSubject): Html | false {
  if (history.length === 0) return false;
  const { parts, room } = making;
  const { texts } = parts;
  return html`<details>
    <summary>${texts.history}</summary>
    ${bulleted(
      history.map((entry) =>
        room.take(
          () =>
            html`<li>
              ${parts.time(entry.created_at)}:
              ${word(texts.action, entry.action)}${(entry.categories ?? []).length > 0 && html` (${namesOf(making, entry.categories ?? [], entry.words)})`}
            </li>`,
        ),
      ),
    )}
  </details>`;
}

function deciding(making: Making, held: HeldSubject, asked: ShownRequest): Html {
  const { texts } = making.parts;
  const granted = grantedOf(held);
  const boxes = boxesOf(making, asked, granted);
  const about = shownBy(making.facts, asked);
  const where = html`${hidden('guild', guildNamed(held.subject))}${hidden('shown', about)}`;
  return html`<article>
    <h3>${texts.asked}</h3>
    ${boxes.length > 0 && html`<p>${texts.choose}</p>`}
    ${boxes.length > 0 && held.status.status === 'accepted' && html`<p>${replaced(making, held, asked)}</p>`}
    <div class="row">
      ${making.form('accept', html`${where}${boxes.length > 0 && html`<div class="boxes">${boxes}</div>`}<button>${boxes.length > 0 ? texts.accept : texts.acceptAll}</button>`, about)}
      ${making.form('decline', html`${where}<button class="plain">${texts.decline}</button>`, about)}
    </div>
  </article>`;
}

/** Which parts of a consent in force end when a newer request is accepted. */
function replaced(making: Making, held: HeldSubject, { categories }: ShownRequest): Html {
  const { texts } = making.parts;
  const left = grantedOf(held).filter((key) => categories?.includes(key) === false);
  const names = left.map((key, at) => html`${at > 0 && ', '}${labelOf(making, key, held.decided)}`);
  const [before, after] = texts.replaces(making.facts.withdrawnDays, names.length > 0);
  return html`${before}${names}${after}`;
}

function revoking(making: Making, held: HeldSubject): Html {
  const { texts } = making.parts;
  const where = hidden('guild', guildNamed(held.subject));
  const granted = grantedOf(held);
  const formOf = (key: string): Html =>
    making.form(
      'revoke',
      html`${where}${hidden('category', key)}<button class="plain">
          ${texts.revoke} ${labelOf(making, key, held.decided)}
        </button>`,
    );
  return html`<article>
    <div class="row">
      ${granted.length > 1 && granted.map(formOf)}
      ${making.form('revoke', html`${where}<button class="plain">${texts.revokeAll}</button>`)}
    </div>
  </article>`;
}

/** The categories that a user has consented to. */
function grantedOf({ status }: HeldSubject): string[] {
  return (status.categories ?? []).filter((each) => each.status === 'accepted').map(({ key }) => key);
}
