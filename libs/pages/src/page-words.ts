import type { ShownRequest, ShownWords, WordsInLanguage } from '@app/consent';
import { Html, html } from './html';
import type { PageParts } from './page-parts';
import { type Making, nameOf } from './page-sections';

/** What the user was shown, whole and in its own words; unfolded while the user has to decide. */
export function wordsOf({ parts }: Making, words: WordsInLanguage, isOpen: boolean): Html {
  return html`<details ${isOpen && html`open`}>
    <summary>${parts.texts.words}</summary>
    <p lang="${words.language}" dir="auto"><strong>${words.title}</strong></p>
    ${new Html([...wholeWords(parts, words, words.language)].join(''))}
  </details>`;
}

/** Characters of all the words. */
export function lengthOf({ title, body, categories, ...words }: WordsInLanguage): number {
  const named = categories.flatMap(({ label, text }) => [label, text]);
  return [title, body, ...named, ...Object.values(words).flat()].reduce((sum, text) => sum + text.length, 0);
}

/** The words below a title, with the further facts of a registered text, in small pieces. */
export function* wholeWords(
  { texts: { fact } }: PageParts,
  words: ShownWords,
  language: string | undefined,
): Generator<string> {
  const tag = html`${language !== undefined && html`lang="${language}"`} dir="auto"`;
  yield html`<p class="words" ${tag}>${words.body}</p>`.text;
  yield '<ul>';
  for (const { label, text } of words.categories)
    yield html`<li class="words" ${tag}>${label}: ${text}</li>`.text;
  yield '</ul>';
  const facts = [
    [fact.recipients, words.recipient_third_parties],
    [fact.places, words.storage_locations],
    [fact.jurisdiction, words.jurisdiction],
    [fact.notice, words.privacy_notice],
    [fact.withdrawal, words.withdrawal_method],
  ] as const;
  const given = facts.filter(([, value]) => value !== undefined);
  if (given.length === 0) return;
  yield '<dl>';
  for (const [name, value = []] of given) {
    yield `${html`<dt>${name}</dt>`.text}<dd>`;
    for (const each of [value].flat()) yield html`<div class="words" ${tag}>${each}</div>`.text;
    yield '</dd>';
  }
  yield '</dl>';
}

/** {@link nameOf} with the language of the words that it is from, where that is another one than the page's. */
export function labelOf(making: Making, key: string, words: WordsInLanguage | undefined, max?: number): Html {
  const name = nameOf(making, key, words, max);
  const isOfWords = words?.categories.some((each) => each.key === key) ?? false;
  if (!isOfWords || words?.language === making.parts.language) return html`${name}`;
  return html`<bdi lang="${words?.language}" dir="auto">${name}</bdi>`;
}

/** Characters of the label beside a box, which has room where its words have it. */
const BOX_MAX = 300;

/** The boxes of a request, with the labels of its words. A category whose deletion has begun cannot be agreed to. */
export function boxesOf(making: Making, asked: ShownRequest, granted: readonly string[]): Html[] {
  const ending = making.facts.purposes.flatMap(({ key, deletingAt }) => (deletingAt === null ? [] : [key]));
  return (asked.categories ?? []).flatMap((key) =>
    ending.includes(key)
      ? []
      : html`<label
          ><input type="checkbox" name="category" value="${key}" ${granted.includes(key) && html` checked`} />
          ${labelOf(making, key, asked.words, BOX_MAX)}</label
        >`,
  );
}
