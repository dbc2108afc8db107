import { cut, PageParts } from './page-parts';

describe('a text of a page that is cut', () => {
  it.each([298, 299, 300])('has no half of a pair at %d', (place) => {
    const text = cut(`${'a'.repeat(place)}😀${'b'.repeat(20)}`);
    expect([text.isWellFormed(), text.endsWith('…')]).toStrictEqual([true, true]);
  });
});

describe('the name of a language', () => {
  it.each([
    ['de', 'Deutsch', 'German'],
    ['und', 'und', 'und'],
    ['und-Latn', 'und-Latn', 'und-Latn'],
    ['de-1996-1996', 'de-1996-1996', 'de-1996-1996'],
  ])('of %s is a name, or the tag where it has none', (tag, german, english) => {
    const names = (['de', 'en'] as const).map((language) => new PageParts(language).languageNamed(tag));
    expect(names).toEqual([german, english]);
  });
});
