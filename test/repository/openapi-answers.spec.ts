import { DocumentedValues, Recording } from '../support/recorded-answers';

const HASH = 'YvZ3sZyTq0M9mQ0rQb1m1c2n3o4p5q6r7s8t9u0v1w8';
const documentedId = (number: number): string =>
  `0198c0de-0000-7000-8000-${String(number).padStart(12, '0')}`;
const realId = (digit: number): string => documentedId(digit).replace('c0de', 'abcd');

describe('the record of the answers', () => {
  it('keeps the path of a proof, also where the event is alone in its batch', () => {
    const values = new DocumentedValues({}, '');
    for (const real of [[], [HASH.toLowerCase()]])
      expect(values.kept({ path: [HASH, HASH] }, { path: real })).toEqual({ path: [HASH, HASH] });
    expect(values.kept({ list: ['a'], none: [] }, { list: [], none: [] })).toEqual({ list: [], none: [] });
  });

  it('gives a new id the first number that no other id has, in this life and in the record', () => {
    const values = new DocumentedValues({}, documentedId(101));
    const known = [documentedId(102), documentedId(1), undefined, undefined, undefined];
    const real = known.map((_, at) => realId(at));
    const numbers = [102, 1, 100, 103, 104];
    expect(known.map((id, at) => values.kept(id, real[at]))).toEqual(numbers.map(documentedId));
    expect(values.kept(undefined, realId(0))).toBe(documentedId(102));
  });

  it('is that of all lives, or none', () => {
    const recording = new Recording(2);
    recording.add('botsMe', 'canonical', {});
    recording.endLife();
    expect(() => recording.text()).toThrow('1 of 2 lives');
    recording.endLife();
    expect(JSON.parse(recording.text())).toEqual({ botsMe: { canonical: {} } });
  });
});
