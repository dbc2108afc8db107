import { html, type Html } from './html';
import { cut } from './page-parts';
import type { HeldSubject } from './page-reading';
import type { Making } from './page-sections';

/** What each store has answered to the erasure: what it keeps, until when and why, too (GDPR Art. 12(4), 17(3)). */
export function covered({ parts, room }: Making, { coverage }: HeldSubject): Html | false {
  if (coverage === undefined) return false;
  const { texts, language } = parts;
  const words = texts.holders.after;
  const line = ({ result, at, kept, ...holder }: (typeof coverage.holders)[number]): Html =>
    html`<li>
      <bdi>${cut(holder[`label_${language}`], 100)}</bdi>:
      ${
        result === 'kept' && kept !== undefined
          ? html`${words.kept(parts.time(kept.until))} <bdi>${cut(kept.basis)}</bdi>`
          : words.result[result as keyof typeof words.result]
      }
      ${at !== null && html`<small>${words.answered(parts.time(at))}</small>`}
    </li>`;
  return html`<section>
    <h2>${words.title}</h2>
    <p>${coverage.complete ? words.complete : words.open}</p>
    <ul>
      ${coverage.holders.map((each) => room.take(() => line(each)))}
    </ul>
  </section>`;
}
