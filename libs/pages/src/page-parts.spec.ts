import { cut } from './page-parts';

describe('a text of a page that is cut', () => {
  it.each([298, 299, 300])('has no half of a pair at %d', (place) => {
    const text = cut(`${'a'.repeat(place)}😀${'b'.repeat(20)}`);
    expect([text.isWellFormed(), text.endsWith('…')]).toStrictEqual([true, true]);
  });
});
