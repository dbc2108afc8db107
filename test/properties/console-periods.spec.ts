import {
  type Bucket,
  type ConsentCount,
  consentsCompared,
  momentsOf,
  periodOf,
  PERIODS,
  queryOf,
  sumOf,
} from '../../apps/console/src/pages/overview-periods';

const NOW_MS = Date.parse('2026-11-26T14:30:00Z');
const at = (time: string, accepted: number): Bucket =>
  ({ at: time, counts: { consent_accepted: accepted } }) as Bucket;
const of = (buckets: Bucket[], under_consent: ConsentCount[] = []) => ({ buckets, under_consent });
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
    const { before, shown } = momentsOf(periodOf('7d'), of(buckets), NOW_MS);
    expect([before.length, sumOf(before, accepted)]).toEqual([7, 3]);
    expect([shown.length, sumOf(shown, accepted)]).toEqual([7, 12]);
    expect(shown.filter(({ bucket }) => bucket === undefined)).toHaveLength(5);
  });

  it('ends with the hour of the browser, or with a later one that the service has counted', () => {
    const hours = [at('2026-11-25T14:00:00.000Z', 1), at('2026-11-25T15:00:00.000Z', 2)];
    const own = momentsOf(periodOf('24h'), of(hours), NOW_MS);
    expect([sumOf(own.before, accepted), sumOf(own.shown, accepted)]).toEqual([1, 2]);
    const ahead = momentsOf(periodOf('24h'), of([...hours, at('2026-11-26T15:00:00.000Z', 4)]), NOW_MS);
    expect([sumOf(ahead.before, accepted), sumOf(ahead.shown, accepted)]).toEqual([3, 4]);
  });

  it('has the users under consent of each day, and compares the last number with the one as long before', () => {
    const counts = ['2026-11-18', '2026-11-19', '2026-11-25', '2026-11-26'].map((day, index) => ({
      at: `${day}T00:00:00.000Z`,
      subjects: 10 * (index + 1),
      counted_at: `${day}T23:00:00.000Z`,
    }));
    const { shown } = momentsOf(periodOf('7d'), of([], counts), NOW_MS);
    expect(shown.map(({ underConsent }) => underConsent ?? 0)).toEqual([0, 0, 0, 0, 0, 30, 40]);
    expect(momentsOf(periodOf('24h'), of([], counts), NOW_MS).shown.at(-1)?.underConsent).toBeUndefined();
    expect(consentsCompared(periodOf('7d'), counts)).toEqual({ now: counts[3], before: counts[1] });
    expect(consentsCompared(periodOf('24h'), counts)).toEqual({ now: counts[3], before: counts[2] });
    expect(consentsCompared(periodOf('30d'), counts).before).toBeUndefined();
    expect(consentsCompared(periodOf('7d'), [])).toEqual({ now: undefined, before: undefined });
  });
});
