import { firstIdAt, idAfter } from './ids';

const ID = '01a1f99c-b4cd-75e4-8e93-1fa5403979e9';

describe('an id after another one', () => {
  it('is the given one where that sorts after it', () => {
    expect(idAfter(ID, '01a1f99c-b4cd-75e4-8e93-1fa5403979e8')).toBe(ID);
  });

  it.each([
    ['itself', ID, '01a1f99c-b4cd-75e5-8e93-1fa5403979e9'],
    ['a later counter', '01a1f99c-b4cd-7fef-bfff-ffffffffffff', '01a1f99c-b4cd-7ff0-8e93-1fa5403979e9'],
    [
      'the last counter of a millisecond',
      '01a1f99c-ffff-7fff-bfff-ffffffffffff',
      '01a1f99d-0000-7000-8e93-1fa5403979e9',
    ],
    [
      'the time of another clock',
      firstIdAt('2030-01-01T00:00:00.000Z'),
      '01b8dac5-b400-7001-8e93-1fa5403979e9',
    ],
  ])('is the next one by time and counter, with its own random part, after %s', (_, before, expected) => {
    expect(idAfter(ID, before)).toBe(expected);
    expect(expected > before).toBe(true);
  });
});
