import { invalidRequest } from './errors';
import { cutText } from './text';

const PLACES = Array.from({ length: 11 }, (_, at) => 195 + at);
const withPairAt = (place: number): string => `${'a'.repeat(place)}😀${'b'.repeat(20)}`;

describe('a text that is cut', () => {
  it('ends before or after a surrogate pair, never within one', () => {
    expect([1, 2, 3, 4].map((max) => cutText('a😀b', max))).toStrictEqual(['a…', 'a…', 'a😀…', 'a😀b']);
  });

  it.each(PLACES)('is well formed in the answer to a field with a pair at %d', (place) => {
    const { message, details } = invalidRequest([{ field: withPairAt(place), message: 'is wrong' }]);
    const [named] = details?.['fields'] as { field: string }[];
    expect([message, named?.field].map((text) => text?.isWellFormed())).toStrictEqual([true, true]);
  });
});
