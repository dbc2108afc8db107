import { invalidRequest } from './errors';
import { cutText, mailtoOf } from './text';

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

describe('the link to write to an address', () => {
  it.each([
    ['robin@example.org', 'mailto:robin@example.org'],
    ['a?b&c@example.org', 'mailto:a%3Fb%26c@example.org'],
    ['"a@b"@example.org', 'mailto:%22a%40b%22@example.org'],
  ])('has the last at sign as it is, and no other one: %s', (address, link) => {
    expect(mailtoOf(address)).toBe(link);
  });
});
