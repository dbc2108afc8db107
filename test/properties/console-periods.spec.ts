import {
  type Bucket,
  momentsOf,
  periodOf,
  PERIODS,
  queryOf,
  sumOf,
} from '../../apps/console/src/pages/overview-periods';

const NOW_MS = Date.parse('2026-11-26T14:30:00Z');
const at = (time: string, accepted: number): Bucket =>
  ({ at: time, counts: { consent_accepted: accepted } }) as Bucket;
const accepted = ({ counts }: Bucket): number => counts.consent_accepted;

describe('a period of the overview', () => {
  it('is the usual one for an address that names none', () => {
    for (const key of [null, '', '31d', '"><img src=x>', 'constructor'])
      expect(periodOf(key)).toMatchObject({ key: '30d', bucket: 'day', count: 30 });
    expect(PERIODS.map(({ key }) => periodOf(key).key)).toEqual(['24h', '7d', '30d', '90d']);
  });

  it('is asked for together with the one before, within what the service answers at once', () => {
    const asked = PERIODS.map((period) => queryOf(period, NOW_MS));
    expect(asked).toEqual([
      { bucket: 'hour', from: '2026-11-24' },
      { bucket: 'day', from: '2026-11-13' },
      { bucket: 'day', from: '2026-09-28' },
      { bucket: 'day', from: '2026-05-31' },
    ]);
  });

  it('is compared with the one before, by whole days, and has a moment for days without events', () => {
    const buckets = [
      at('2026-11-12T00:00:00.000Z', 100),
      at('2026-11-13T00:00:00.000Z', 1),
      at('2026-11-19T00:00:00.000Z', 2),
      at('2026-11-20T00:00:00.000Z', 4),
      at('2026-11-26T00:00:00.000Z', 8),
    ];
    const { before, shown } = momentsOf(periodOf('7d'), buckets, NOW_MS);
    expect([before.length, sumOf(before, accepted)]).toEqual([7, 3]);
    expect([shown.length, sumOf(shown, accepted)]).toEqual([7, 12]);
    expect(shown.filter(({ bucket }) => bucket === undefined)).toHaveLength(5);
  });

  it('ends with the hour of the browser, or with a later one that the service has counted', () => {
    const hours = [at('2026-11-25T14:00:00.000Z', 1), at('2026-11-25T15:00:00.000Z', 2)];
    const own = momentsOf(periodOf('24h'), hours, NOW_MS);
    expect([sumOf(own.before, accepted), sumOf(own.shown, accepted)]).toEqual([1, 2]);
    const ahead = momentsOf(periodOf('24h'), [...hours, at('2026-11-26T15:00:00.000Z', 4)], NOW_MS);
    expect([sumOf(ahead.before, accepted), sumOf(ahead.shown, accepted)]).toEqual([3, 4]);
  });
});
