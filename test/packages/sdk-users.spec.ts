import type { Lethe } from '@lethe/sdk';
import { FakeLethe } from '@lethe/sdk/testing';
import { describeOnPlaces, thrown } from '../support/sdk-places';
import { subject, type SubjectIds } from '../support/snowflakes';

describeOnPlaces('the list of users', new FakeLethe(), (bot) => {
  let lethe: Lethe;
  beforeEach(() => ({ lethe } = bot));

  const idsOf = (users: readonly SubjectIds[]) => users.map(({ user_id, guild_id }) => [user_id, guild_id]);

  it('is read in a loop, or a page at a time by `next`, with what is asked of a single user', async () => {
    const those = [await bot.consenting(), await bot.asked(), await bot.consenting()];
    const all = await lethe.users.list().toArray();
    expect(idsOf(all).sort()).toEqual(idsOf(those).sort());
    for (const { updated_at, ...user } of all) {
      expect(user).toEqual(await lethe.consents.status(user));
      expect(updated_at).toMatch(/^\d{4}-.*Z$/);
    }
    const first = await lethe.users.list().page(null, 2);
    expect({ ...first, items: idsOf(first.items) }).toEqual({
      ...{ items: idsOf(all.slice(0, 2)), page_size: 2, next: expect.any(String) as string },
    });
    expect(await lethe.users.list().page(first.next, 2)).toEqual({
      ...{ items: all.slice(2), page_size: 2, next: null },
    });
  });

  it('has one user in every guild, one state, and the newest first', async () => {
    const one = await bot.consenting();
    const elsewhere = { ...subject(), user_id: one.user_id };
    await lethe.consents.request({ ...elsewhere, consent_version: '1.0' });
    const other = await bot.asked();
    const listed = async (given: object) => idsOf(await lethe.users.list(given).toArray());
    expect((await listed({ user_id: BigInt(one.user_id) })).sort()).toEqual(idsOf([one, elsewhere]).sort());
    expect(await listed({ status: 'accepted' })).toEqual(idsOf([one]));
    expect(await listed({ order: 'recent' })).toEqual(idsOf([other, elsewhere, one]));
    await lethe.privacy.forget(elsewhere);
    expect(await listed({ user_id: one.user_id })).toEqual(idsOf([one]));
    expect(await thrown(lethe.users.list({ category: 'unknown' }).toArray())).toMatchObject({ status: 404 });
  });
});
