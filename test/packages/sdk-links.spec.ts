import { InvalidRequestError, NotFoundError } from '@lethe/sdk';
import { FakeLethe } from '@lethe/sdk/testing';
import { describeOnPlaces, thrown } from '../support/sdk-places';
import { subject } from '../support/snowflakes';

const LINK_LIVES_MS = 900_000;

describeOnPlaces('links to the privacy page of a user', new FakeLethe(), (bot) => {
  it('end once: by the bot, or by the erasure of the user', async () => {
    const { privacy } = bot.lethe;
    const who = await bot.consenting();
    const beforeMs = Date.now();
    const [ended, erased] = [await privacy.link(who), await privacy.link(who)];
    const afterMs = Date.now();
    expect(ended.url).toMatch(/^http:\/\/[^/]+\/p\/[\w-]+$/);
    const madeMs = Date.parse(ended.expires_at) - LINK_LIVES_MS;
    expect([madeMs >= beforeMs, madeMs <= afterMs]).toEqual([true, true]);
    expect(await privacy.endLink(ended.id)).toEqual({ id: ended.id, deleted: true });
    expect(await thrown(privacy.endLink(ended.id))).toBeInstanceOf(NotFoundError);
    await privacy.forget(who);
    expect(await thrown(privacy.endLink(erased.id))).toBeInstanceOf(NotFoundError);
  });

  it('for all guilds end with the erasure of the last one', async () => {
    const { privacy, consents } = bot.lethe;
    const who = await bot.consenting();
    const other = { ...subject(), user_id: who.user_id };
    await consents.request({ ...other, consent_version: '1.0' });
    await consents.accept({ ...other, consent_version: '1.0' });
    const everywhere = { user_id: who.user_id, scope: 'all_guilds' as const };
    const [first, second] = [await privacy.link(everywhere), await privacy.link(everywhere)];
    await privacy.forget(who);
    expect(await privacy.endLink(first.id)).toEqual({ id: first.id, deleted: true });
    await privacy.forget(other);
    expect(await thrown(privacy.endLink(second.id))).toBeInstanceOf(NotFoundError);
  });

  it('are refused for a guild beside the scope, and for more than a week', async () => {
    const { privacy } = bot.lethe;
    for (const given of [{ scope: 'all_guilds' as const }, { expires_in: 604_801 }, { expires_in: 59 }])
      expect(await thrown(privacy.link({ ...subject(), ...given }))).toBeInstanceOf(InvalidRequestError);
  });
});
