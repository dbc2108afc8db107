import { InvalidRequestError, type Schemas } from '@lethe/sdk';
import { FakeLethe } from '@lethe/sdk/testing';
import { describeOnPlaces, thrown } from '../support/sdk-places';

const NONE = {
  ...{ consent_requested: 0, consent_accepted: 0, consent_revoked: 0, data_submitted: 0, data_exported: 0 },
  ...{ data_deleted: 0, deletion_requested: 0, deletion_completed: 0, deletion_failed: 0 },
};
const TYPES = Object.keys(NONE) as (keyof typeof NONE)[];

describeOnPlaces('the numbers of a bot', new FakeLethe(), (bot) => {
  // Sums, since a day may end while the test runs.
  const sumsOf = ({ buckets }: Pick<Schemas['StatsView'], 'buckets'>): typeof NONE => {
    const sums = { ...NONE };
    for (const { counts } of buckets) for (const type of TYPES) sums[type] += counts[type];
    return sums;
  };

  it('are counted by day and by hour, without events of its own', async () => {
    const { lethe } = bot;
    const before = sumsOf(await lethe.stats());
    const who = await bot.consenting();
    await lethe.data.submit({ ...who, category: 'profile', data: { nickname: 'Robin' } });
    await lethe.audit.write({ ...who, event_type: 'data_exported' });
    await lethe.privacy.forget(who);
    const days = await lethe.stats();
    const expected = {
      ...before,
      consent_requested: before.consent_requested + 1,
      consent_accepted: before.consent_accepted + 1,
      data_submitted: before.data_submitted + 1,
      deletion_requested: before.deletion_requested + 1,
      deletion_completed: before.deletion_completed + 1,
    };
    expect(sumsOf(days)).toStrictEqual(expected);
    expect(days.buckets.at(-1)).toMatchObject({ erasure_ms: { p50: expect.any(Number) as number } });
    expect(days).toHaveProperty('under_consent', expect.any(Array));
    expect(sumsOf(await lethe.stats({ bucket: 'hour' }))).toStrictEqual(expected);
    expect((await lethe.stats({ from: '2020-01-01', to: '2020-01-31' })).buckets).toEqual([]);
  });

  it('have no event of a type that does not exist', async () => {
    const event = { ...(await bot.consenting()), event_type: 'data_stolen' as 'data_deleted' };
    expect(await thrown(bot.lethe.audit.write(event))).toMatchObject({ fields: [{ field: 'event_type' }] });
  });

  it('are refused for a time in place of a date, and for too many days', async () => {
    const { lethe } = bot;
    for (const given of [
      { from: '2026-01-31T08:00:00Z' },
      { to: '2026-02-30' },
      { from: '2024-01-01', to: '2026-01-01' },
      { from: '2026-01-01', to: '2026-02-15', bucket: 'hour' as const },
    ])
      expect(await thrown(lethe.stats(given))).toBeInstanceOf(InvalidRequestError);
  });
});
