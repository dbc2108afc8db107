import { html } from './html';
import type { PageParts } from './page-parts';

type Item = Readonly<Record<string, unknown>>;

/** What one of the bot's own stores has about the user, as the bot states it. */
export function* holder(parts: PageParts, item: Item): Generator<string> {
  const { texts, language } = parts;
  const covers = item['covers'] as readonly string[];
  yield html`<h4><bdi>${String(item[`label_${language}`])}</bdi></h4>
    <p class="soft"><bdi>${covers.join(', ')}</bdi></p>
    <p>${stateOf(parts, item)}</p>`.text;
  if (item['unreadable'] === true) yield html`<p>${texts.unreadable}</p>`.text;
  if (item['data'] === null) return;
  if (item['state'] !== 'stated')
    yield html`<p>${texts.holders.earlier(parts.time(String(item['answered_at'])))}</p>`.text;
  yield* parts.wholeValuesOf(item['data'], undefined);
}

function stateOf(parts: PageParts, { state, asked_at: asked, answered_at: answered }: Item): string {
  const { holders } = parts.texts;
  const at = (time: unknown): string => parts.time(String(time));
  if (state === 'stated') return holders.stated(at(answered));
  if (state === 'nothing') return holders.nothing(at(answered));
  if (state === 'asked') return holders.asked(at(asked));
  return state === 'overdue' ? holders.overdue(at(asked)) : holders.notAsked;
}
