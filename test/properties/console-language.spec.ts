import { ofDays } from '../../apps/console/src/language';

it.each([
  ['de', 1, '1 Tag'],
  ['de', 30, '30 Tage'],
  ['en', 1, '1 day'],
  ['en', 30, '30 days'],
] as const)('the console counts days as people do: %s, %d', (language, number, words) => {
  expect(ofDays(language, number)).toBe(words);
});
