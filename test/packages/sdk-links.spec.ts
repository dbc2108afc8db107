import { InsufficientScopeError, InvalidRequestError, Lethe, NotFoundError } from '@lethe/sdk';
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

  it('take the scopes of what they allow, and end by their key or by one of scope admin', async () => {
    const { keys, privacy } = bot.lethe;
    const who = await bot.consenting();
    const limited = async (scopes: ('read' | 'erase')[]): Promise<Lethe> =>
      new Lethe({ ...bot.options(), key: (await keys.create({ scopes })).api_key });
    const [reading, erasing] = [await limited(['read']), await limited(['erase'])];
    const lacks = async (call: Promise<unknown>): Promise<unknown> => {
      const error = await thrown(call);
      expect(error).toBeInstanceOf(InsufficientScopeError);
      return (error as InsufficientScopeError).required;
    };
    expect(await lacks(reading.privacy.link({ ...who, allow: ['view', 'consent'] }))).toBe('write');
    expect(await lacks(reading.privacy.link({ ...who, allow: ['forget'] }))).toBe('erase');
    expect(await lacks(erasing.privacy.link({ ...who, allow: ['forget', 'export'] }))).toBe('read');
    const [one, other] = [await reading.privacy.link(who), await reading.privacy.link(who)];
    expect(await lacks(erasing.privacy.endLink(one.id))).toBe('admin');
    expect(await reading.privacy.endLink(one.id)).toEqual({ id: one.id, deleted: true });
    expect(await privacy.endLink(other.id)).toEqual({ id: other.id, deleted: true });
    // The scopes of all other routes, and those of a further key.
    expect(await lacks(reading.privacy.forget(who))).toBe('erase');
    expect(await lacks(reading.consents.revoke(who))).toBe('write');
    expect(await lacks(erasing.consents.statusMany([who]))).toBe('read');
    expect(await lacks(reading.keys.create())).toBe('admin');
  });

  it('are refused for a guild beside the scope, and for more than a week', async () => {
    const { privacy } = bot.lethe;
    const scope = 'all_guilds' as const;
    for (const given of [{ scope }, { expires_in: 604_801 }, { expires_in: 59 }, { allow: [] }])
      expect(await thrown(privacy.link({ ...subject(), ...given }))).toBeInstanceOf(InvalidRequestError);
  });
});
