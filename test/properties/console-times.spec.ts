import { ago, days } from '../../apps/console/src/times';

const NOW_MS = Date.parse('2026-11-26T22:00:00Z');
const HOUR_MS = 3_600_000;

beforeEach(() => void jest.spyOn(Date, 'now').mockReturnValue(NOW_MS));
afterEach(() => jest.restoreAllMocks());

describe('the distance of a time in the console', () => {
  it.each([
    [-47 * HOUR_MS, '1 day ago', 'vor 1 Tag'],
    [47 * HOUR_MS, 'in 1 day', 'in 1 Tag'],
    [-71 * HOUR_MS, '2 days ago', 'vor 2 Tagen'],
    [-HOUR_MS, '1 hour ago', 'vor 1 Stunde'],
    [90_000, 'in 1 minute', 'in 1 Minute'],
  ])('of %d ms names no day that can be another one: %s', (ms, en, de) => {
    const at = new Date(NOW_MS + ms).toISOString();
    expect([ago('en', at), ago('de', at)]).toEqual([en, de]);
  });

  it('is the day itself from a week on, and nothing within a minute', () => {
    const at = '2026-11-19T12:00:00Z';
    expect(ago('en', at)).toBe(days('en').format(new Date(at)));
    expect(ago('de', new Date(NOW_MS - 59_999).toISOString())).toBeUndefined();
  });
});
