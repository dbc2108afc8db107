import fc from '../../../test/support/fast-check';
import { ApiError } from '@app/kernel';
import { parseQuery } from './http.adapter';

describe('parseQuery', () => {
  it('reads every query of single plain parameters as URLSearchParams does, whichever way it takes', () => {
    const name = fc.stringMatching(/^\w{1,8}$/);
    const value = fc.oneof(
      fc.stringMatching(/^[\w.-]{0,12}$/),
      fc.string({ unit: 'grapheme', maxLength: 6 }),
    );
    const pairs = fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key, maxLength: 5 });
    fc.assert(
      fc.property(pairs, (given) => {
        const text = new URLSearchParams(given).toString();
        expect({ ...parseQuery(text) }).toEqual(Object.fromEntries(new URLSearchParams(text)));
      }),
    );
  });

  it.each(['user_id=1&user_id=2', 'user_id=1&user_id=1', '__proto__=1&__proto__=2', 'a=%31&a=1'])(
    'refuses the repeated parameter in %s',
    (text) => expect(parseQuery(text)).toBeInstanceOf(ApiError),
  );

  it.each(['user_id[]=1', 'user_id[a]=1', 'a=1&b%5B%5D=2'])('refuses the array or object in %s', (text) =>
    expect(parseQuery(text)).toBeInstanceOf(ApiError),
  );

  it.each([
    ['user_id=a%00b', 'user_id'],
    ['a=1&b%00=2', 'query'],
  ])('refuses the NUL in %s, as in a body', (text, field) => {
    const message = 'must not hold NUL or lone surrogates';
    expect(parseQuery(text)).toMatchObject({ details: { fields: [{ field, message }] } });
  });

  it.each(['', '&', null, undefined])('finds nothing in %p', (text) =>
    expect({ ...parseQuery(text) }).toEqual({}),
  );
});
