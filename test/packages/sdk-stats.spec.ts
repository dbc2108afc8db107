import { InvalidRequestError } from '@lethe/sdk';
import { FakeLethe } from '@lethe/sdk/testing';
import { describeOnPlaces, thrown } from '../support/sdk-places';

const NONE = {
  ...{ consent_requested: 0, consent_accepted: 0, consent_revoked: 0, data_submitted: 0, data_exported: 0 },
  ...{ data_deleted: 0, deletion_requested: 0, deletion_completed: 0, deletion_failed: 0 },
};

describeOnPlaces('the numbers of a bot', new FakeLethe(), (bot) => {
  it('are counted by day and by hour, without events of its own', async () => {
    const { lethe } = bot;
    const before = (await lethe.stats()).buckets.at(-1)?.counts ?? NONE;
    const who = await bot.consenting();
    await lethe.data.submit({ ...who, category: 'profile', data: { nickname: 'Robin' } });
    await lethe.audit.write({ ...who, event_type: 'data_exported' });
    await lethe.privacy.forget(who);
    const { buckets } = await lethe.stats();
    const [today] = buckets;
    expect(buckets).toHaveLength(1);
    expect(today).toMatchObject({
      counts: {
        ...before,
        consent_requested: before.consent_requested + 1,
        consent_accepted: before.consent_accepted + 1,
        data_submitted: before.data_submitted + 1,
        deletion_requested: before.deletion_requested + 1,
        deletion_completed: before.deletion_completed + 1,
      },
      erasure_ms: { p50: expect.any(Number) as number },
    });
    const hours = (await lethe.stats({ bucket: 'hour' })).buckets;
    const sum = hours.reduce((total, { counts }) => total + counts.data_submitted, 0);
    expect(sum).toBe(before.data_submitted + 1);
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
