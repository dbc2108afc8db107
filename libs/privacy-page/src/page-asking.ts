import { hash } from 'node:crypto';
import type { ShownRequest, ShownWords } from '@app/consent';
import { type Html, html } from './html';
import { cut } from './page-parts';
import type { PageFacts } from './page-reading';
import { type Making, nameOf } from './page-sections';

const WORDS_MAX = 1_500;

/**
 * The digest of what an answer to a request is about: its words, and what its receipt states of the bot and of the
 * categories. A form carries it, so that nothing is answered that has changed since the page was made.
 */
export function shownBy({ bot, purposes }: PageFacts, asked: ShownRequest): string {
  const { id, entry, version, categories } = asked;
  // Their fields are read where there are values alone; the time of the declaration changes with them.
  const stated = purposes
    .filter(({ key }) => categories?.includes(key) ?? true)
    .map((purpose) => ({ ...purpose, fields: undefined }));
  const shown = [id, entry, version, categories, bot.name, bot.privacy_contact, stated];
  return hash('sha256', JSON.stringify(shown), 'base64url');
}

/** What the user was shown, in its own words. They are open where they are to be decided about. */
export function wordsOf({ parts }: Making, words: ShownWords, isOpen: boolean): Html {
  return html`<details ${isOpen && html`open`}>
    <summary>${parts.texts.words}</summary>
    <p><strong>${cut(words.title)}</strong></p>
    <p class="words">${cut(words.body, WORDS_MAX)}</p>
    <ul>
      ${words.categories.slice(0, 20).map(({ label, text }) => html`<li>${cut(label)}: ${cut(text)}</li>`)}
    </ul>
  </details>`;
}

/** The boxes of a request, with the labels of its words. */
export function boxesOf(making: Making, asked: ShownRequest, granted: ReadonlySet<string>): Html[] {
  return (asked.categories ?? []).map(
    (key) =>
      html`<label
        ><input type="checkbox" name="category" value="${key}" ${granted.has(key) && html` checked`} />
        ${nameOf(making, key, asked.words)}</label
      >`,
  );
}
