import { html, type Html } from './html';
import { decisionsOf } from './page-events';
import { bulleted, guildNamed } from './page-parts';
import type { HeldSubject } from './page-reading';
import {
  boxesOf,
  decision,
  hidden,
  type Making,
  nameOf,
  namesOf,
  refusalOf,
  shownBy,
  wordsOf,
} from './page-sections';
import { word } from './texts';

/** What a user has decided, and how to decide otherwise. */
export function consentOf(making: Making, held: HeldSubject): Html {
  const { parts, link, room } = making;
  const { texts } = parts;
  const { status, asked, decided } = held;
  const words = asked === undefined ? decided : asked.words;
  const mayDecide = link.allow.includes('consent');
  const categories = decisionsOf(held).map(({ key, status: state, data_erased_at: due }) =>
    room.take(
      () =>
        html`<li>
          ${nameOf(making, key, state === 'pending' ? asked?.words : decided)}:
          ${texts.stateOf[state]}.${due !== undefined && html` ${texts.dueAt(parts.time(due))}`}
        </li>`,
    ),
  );
  const shown = words !== undefined && room.take(() => wordsOf(making, words, asked !== undefined));
  // Of a first request every category waits: the boxes below say which.
  const isOpen = status.status === 'pending' && mayDecide;
  const refusal = mayDecide && !making.facts.isSuspended ? refusalOf(held) : undefined;
  return html`<section>
    <h2>${texts.consent}</h2>
    ${decision(parts, status, refusal !== undefined)} ${refusal !== undefined && again(making, held, refusal)}
    ${status.data_erased_at !== undefined && html`<p>${texts.dueAt(parts.time(status.data_erased_at))}</p>`}
    ${categories.length > 0 && !isOpen && bulleted(categories)} ${shown}
    ${mayDecide && !making.facts.isSuspended && deciding(making, held)}
    ${mayDecide && status.status === 'accepted' && revoking(making, held)} ${historyOf(making, held)}
  </section>`;
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

function deciding(making: Making, held: HeldSubject): Html | false {
  const { asked } = held;
  if (asked === undefined) return false;
  const { texts } = making.parts;
  const boxes = boxesOf(making, asked, new Set(grantedOf(held)));
  const about = shownBy(making.facts, asked);
  const where = html`${hidden('guild', guildNamed(held.subject))}${hidden('shown', about)}`;
  return html`<article>
    <h3>${texts.asked}</h3>
    ${boxes.length > 0 && html`<p>${texts.choose}</p>`}
    <div class="row">
      ${making.form('accept', html`${where}${boxes.length > 0 && html`<div class="boxes">${boxes}</div>`}<button>${boxes.length > 0 ? texts.accept : texts.acceptAll}</button>`, about)}
      ${making.form('decline', html`${where}<button class="plain">${texts.decline}</button>`, about)}
    </div>
  </article>`;
}

function revoking(making: Making, held: HeldSubject): Html {
  const { texts } = making.parts;
  const where = hidden('guild', guildNamed(held.subject));
  const granted = grantedOf(held);
  const formOf = (key: string): Html =>
    making.form(
      'revoke',
      html`${where}${hidden('category', key)}<button class="plain">
          ${texts.revoke(nameOf(making, key, held.decided))}
        </button>`,
    );
  return html`<article>
    <div class="row">
      ${granted.length > 1 && granted.map((key) => making.room.take(() => formOf(key)))}
      ${making.form('revoke', html`${where}<button class="plain">${texts.revokeAll}</button>`)}
    </div>
  </article>`;
}

/** The categories that a user has consented to. */
function grantedOf({ status }: HeldSubject): string[] {
  return (status.categories ?? []).filter((each) => each.status === 'accepted').map(({ key }) => key);
}
