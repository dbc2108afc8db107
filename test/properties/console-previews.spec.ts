import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAGE_TEXTS } from '@app/pages';
import {
  daysOnPage,
  keptInDiscord,
  keptOnPage,
  USER_WORDS,
} from '../../apps/console/src/pages/category-words';
import { ofDays } from '../../apps/console/src/words';

const read = (path: string): string => readFileSync(join(__dirname, '../..', path), 'utf8');

/** The words of these that a file of texts does not have under the same name. */
const missing = (path: string, words: Readonly<Record<string, string>>): string[] =>
  Object.entries(words)
    .filter(
      ([name, text]) => !new RegExp(`\\b${name}:\\s+'`).test(read(path)) || !read(path).includes(`'${text}'`),
    )
    .map(([name]) => name);

describe('the previews of the console', () => {
  it.each(['de', 'en'] as const)('have the words of the privacy page and of Discord: %s', (side) => {
    const { page, pageBasis, discord } = USER_WORDS[side];
    expect(missing(`libs/pages/src/texts.${side}.ts`, { ...page, ...pageBasis })).toStrictEqual([]);
    expect(missing(`packages/discord/src/texts/${side}.ts`, discord)).toStrictEqual([]);
    for (const days of [1, 30]) expect(daysOnPage(side, days)).toBe(PAGE_TEXTS[side].days(days));
    for (const days of [0, 1, 30])
      expect(keptOnPage(side, null, days)).toBe(PAGE_TEXTS[side].untilWithdrawn(days));
    expect(keptOnPage(side, null, null)).toBe(PAGE_TEXTS[side].untilErased);
  });

  it.each([
    ['de', 1, 'Speicherdauer: 1 Tag ab der letzten Änderung'],
    ['de', 2, 'Speicherdauer: 2 Tage ab der letzten Änderung'],
    ['en', 1, 'Kept for: 1 day after the last change'],
    ['en', 2, 'Kept for: 2 days after the last change'],
  ] as const)('count days as people do: %s, %d', (side, days, words) => {
    expect(keptInDiscord(side, days, null)).toBe(words);
  });
});

it.each([
  ['de', 1, '1 Tag'],
  ['de', 30, '30 Tage'],
  ['en', 1, '1 day'],
  ['en', 30, '30 days'],
] as const)('the console counts days as people do: %s, %d', (language, number, words) => {
  expect(ofDays(language, number)).toBe(words);
});
