import {
  ConflictError,
  InsufficientScopeError,
  Lethe,
  NotFoundError,
  ProcessingRefusedError,
} from '@lethe/sdk';
import { FakeLethe } from '@lethe/sdk/testing';
import { describeOnPlaces, PROFILE, thrown } from '../support/sdk-places';
import type { SubjectIds } from '../support/snowflakes';

const A_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string;
const since = (category: string | null) => ({ category, since: A_TIME });

describeOnPlaces('what a user objects to and restricts', new FakeLethe(), (bot) => {
  let lethe: Lethe;
  let who: SubjectIds;
  beforeEach(async () => {
    ({ lethe } = bot);
    await lethe.categories.register({ ...PROFILE, key: 'stats', legal_basis: 'legitimate_interests' });
    who = await bot.consenting();
    for (const category of ['profile', 'stats']) await submit(category);
  });

  const submit = (category: string, of = who) =>
    lethe.data.submit({ ...of, category, data: { nickname: 'Robin' } });
  const stored = async () => Object.keys((await lethe.data.export(who)).data).sort();
  const events = async () =>
    (await lethe.audit.events(who).toArray()).map(({ event_type: type, details }) => {
      const { act, category, categories } = (details ?? {}) as Record<string, unknown>;
      return { type, act, category, categories };
    });

  it('an objection erases its category and refuses submits, once', async () => {
    const view = { ...who, objections: [since('stats')], restrictions: [] };
    expect(await lethe.data.object({ ...who, category: 'stats' })).toEqual(view);
    expect(await stored()).toEqual(['profile']);
    const error = await thrown(submit('stats'));
    expect(error).toBeInstanceOf(ProcessingRefusedError);
    expect(error).toMatchObject({ status: 403, code: 'processing_refused', reason: 'objection' });
    await submit('profile');
    const before = await events();
    expect(await lethe.data.object({ ...who, category: 'stats' })).toEqual(view);
    expect(await events()).toEqual(before);
    expect(before).toContainEqual({ type: 'data_deleted', act: 'objection', category: 'stats' });
    await lethe.data.unrestrict(who);
    expect(await lethe.data.refusals(who)).toEqual(view);
  });

  it('an objection to everything is about its legal bases alone, also of categories that come', async () => {
    const view = { ...who, objections: [since(null)], restrictions: [] };
    expect(await lethe.data.object(who)).toEqual(view);
    expect(await events()).toContainEqual({ type: 'data_deleted', act: 'objection', categories: ['stats'] });
    expect(await stored()).toEqual(['profile']);
    await lethe.categories.register({ ...PROFILE, key: 'duty', legal_basis: 'public_task' });
    // A consent without categories covers it.
    expect(await thrown(submit('duty'))).toMatchObject({ reason: 'objection' });
    await submit('profile');
  });

  it('of another legal basis an objection is refused, and an unknown category is none', async () => {
    const error = await thrown(lethe.data.object({ ...who, category: 'profile' }));
    expect(error).toBeInstanceOf(ConflictError);
    expect(error).toMatchObject({ reason: 'not_objectable', details: { legal_basis: 'consent' } });
    for (const act of ['object', 'restrict', 'unrestrict'] as const)
      expect(await thrown(lethe.data[act]({ ...who, category: 'other' }))).toBeInstanceOf(NotFoundError);
    for (const act of ['object', 'restrict', 'unrestrict'] as const)
      expect(await thrown(lethe.data[act]({ ...who, category: '' }))).toMatchObject({
        ...{ status: 400, fields: [{ field: 'category' }] },
      });
    expect(await lethe.data.refusals(who)).toEqual({ ...who, objections: [], restrictions: [] });
  });

  it('a restriction of everything keeps the data, and refuses to store and to read it', async () => {
    expect(await lethe.data.restrict(who)).toEqual({
      ...{ ...who, objections: [], restrictions: [since(null)] },
    });
    for (const call of [
      submit('profile'),
      lethe.data.values(who),
      lethe.data.values({ ...who, category: 'stats' }),
    ])
      expect(await thrown(call)).toMatchObject({ code: 'processing_refused', reason: 'restriction' });
    expect(await stored()).toEqual(['profile', 'stats']);
    const results = [];
    const item = { ...who, category: 'profile', data: { nickname: 'Kim' } };
    for await (const result of lethe.data.submitMany([item]))
      results.push(result.ok ? 'stored' : result.error.code);
    expect(results).toEqual(['processing_refused']);
    expect(await lethe.data.unrestrict(who)).toMatchObject({ restrictions: [] });
    await submit('profile');
    expect((await events()).filter(({ act }) => act !== undefined)).toEqual([
      { type: 'consent_accepted', act: 'restriction_ended' },
      { type: 'consent_revoked', act: 'restriction' },
    ]);
  });

  it('a restriction of one category leaves the others, and its end one of everything', async () => {
    await lethe.data.restrict({ ...who, category: 'stats' });
    expect(Object.keys((await lethe.data.values(who)).values)).toEqual(['profile']);
    const ofGuild = async (category: string) =>
      (await lethe.data.valuesOfGuild({ guild_id: who.guild_id, category }).toArray()).length;
    expect([await ofGuild('stats'), await ofGuild('profile')]).toEqual([0, 1]);
    await submit('profile');
    await lethe.data.restrict(who);
    expect(await lethe.data.refusals(who)).toMatchObject({ restrictions: [since(null), since('stats')] });
    expect(await lethe.data.unrestrict({ ...who, category: 'stats' })).toMatchObject({
      restrictions: [since(null)],
    });
  });

  it('a refusal comes after the consent and the category, and before the values', async () => {
    await lethe.data.restrict(who);
    expect(await thrown(submit('other'))).toBeInstanceOf(NotFoundError);
    const wrong = lethe.data.submit({ ...who, category: 'profile', data: { colour: 'red' } });
    expect(await thrown(wrong)).toBeInstanceOf(ProcessingRefusedError);
    await lethe.consents.revoke(who);
    expect(await thrown(submit('profile'))).toMatchObject({ code: 'consent_required' });
  });

  it('an erasure ends both, also of a user without a consent', async () => {
    const other = { ...who, guild_id: `${BigInt(who.guild_id) + 1n}` };
    for (const each of [who, other]) {
      await lethe.data.object(each);
      await lethe.data.restrict(each);
    }
    const { requests } = await lethe.privacy.forgetEverywhere({ user_id: who.user_id });
    expect(requests.map(({ guild_id: id }) => id).sort()).toEqual([who.guild_id, other.guild_id].sort());
    for (const each of [who, other])
      expect(await lethe.data.refusals(each)).toEqual({ ...each, objections: [], restrictions: [] });
  });

  it('an objection needs a key that may erase', async () => {
    const { api_key: key } = await lethe.keys.create({ scopes: ['read', 'write'] });
    const narrow = new Lethe({ ...bot.options(), key });
    const error = await thrown(narrow.data.object(who));
    expect(error).toBeInstanceOf(InsufficientScopeError);
    expect(error).toMatchObject({ required: 'erase' });
    await narrow.data.restrict(who);
    await narrow.data.unrestrict(who);
  });
});
