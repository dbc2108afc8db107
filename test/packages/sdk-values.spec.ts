import { readFileSync } from 'node:fs';
import { ConsentRequiredError, type Lethe, NotFoundError } from '@lethe/sdk';
import { FakeLethe } from '@lethe/sdk/testing';
import { describeOnPlaces, PROFILE, thrown } from '../support/sdk-places';

const A_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string;

describeOnPlaces('what a bot reads back', new FakeLethe(), (bot) => {
  let lethe: Lethe;
  beforeEach(() => ({ lethe } = bot));

  const storing = async (nickname: string, more: object = {}) => {
    const who = { ...(await bot.consenting()), ...more };
    await lethe.data.submit({ ...who, category: 'profile', data: { nickname } });
    return who;
  };

  it('is what is stored about a user, under the consent alone', async () => {
    const who = await storing('Robin');
    const shown = { ...who, values: { profile: { nickname: 'Robin' } }, updated_at: { profile: A_TIME } };
    expect(await lethe.data.values(who)).toEqual(shown);
    expect(await lethe.data.values({ ...who, category: 'profile' })).toEqual(shown);
    expect(await thrown(lethe.data.values({ ...who, category: 'other' }))).toBeInstanceOf(NotFoundError);
    await lethe.consents.revoke(who);
    expect(await thrown(lethe.data.values(who))).toBeInstanceOf(ConsentRequiredError);
  });

  it('is one category of a guild, of the users whose consent covers it', async () => {
    const one = await storing('Robin');
    const other = { ...(await bot.asked()), guild_id: one.guild_id };
    await lethe.consents.request({ ...other, consent_version: '1.0' });
    await lethe.consents.accept({ ...other, consent_version: '1.0' });
    await lethe.data.submit({ ...other, category: 'profile', data: { nickname: 'Kim' } });
    const of = { guild_id: one.guild_id, category: 'profile' };
    const found = async () =>
      (await lethe.data.valuesOfGuild(of).toArray()).map(({ user_id, data }) => [
        user_id,
        data?.['nickname'],
      ]);
    expect((await found()).sort()).toEqual(
      [
        [one.user_id, 'Robin'],
        [other.user_id, 'Kim'],
      ].sort(),
    );
    await lethe.consents.revoke(other);
    expect(await found()).toEqual([[one.user_id, 'Robin']]);
    expect(await thrown(lethe.data.valuesOfGuild({ ...of, category: 'x' }).toArray())).toBeInstanceOf(
      NotFoundError,
    );
  });

  it('is less a category that was erased', async () => {
    await lethe.categories.register({ ...PROFILE, key: 'stats' });
    const who = await storing('Robin');
    const erase = () => lethe.data.eraseValues({ ...who, category: 'profile' });
    expect([await erase(), await erase()]).toEqual([{ deleted: true }, { deleted: false }]);
    expect(await lethe.data.values(who)).toEqual({ ...who, values: {}, updated_at: {} });
    const types = (await lethe.audit.events(who).toArray()).map(({ event_type }) => event_type);
    expect(types.filter((type) => type === 'data_deleted')).toHaveLength(1);
  });

  it('is the same after a second acceptance by the same id', async () => {
    const who = await bot.asked();
    const { id: consent_id } = await lethe.consents.request({ ...who, consent_version: '1.0' });
    const first = await lethe.consents.accept({ consent_id });
    expect(await lethe.consents.accept({ consent_id })).toEqual(first);
    expect(await thrown(lethe.consents.accept({ ...who, consent_version: '1.0' }))).toMatchObject({
      details: { current_status: 'accepted' },
    });
    const types = (await lethe.audit.events(who).toArray()).map(({ event_type }) => event_type);
    expect(types.filter((type) => type === 'consent_accepted')).toHaveLength(1);
  });

  it('is as before an act whose place only the service names', async () => {
    const who = await bot.consenting();
    const before = await lethe.consents.status(who);
    for (const source of ['privacy_page', 'console', 'Bot', ''])
      for (const act of ['request', 'accept', 'decline', 'revoke'] as const) {
        const error = await thrown(lethe.consents[act]({ ...who, consent_version: '2', source }));
        expect(error).toMatchObject({ status: 400, fields: [{ field: 'source' }] });
      }
    expect(await lethe.consents.status(who)).toEqual(before);
    await lethe.consents.revoke({ ...who, source: 'slash_command' });
  });

  it('is as before a request that the user declines', async () => {
    const who = await bot.asked();
    const declined = await lethe.consents.decline(who);
    expect(declined).toMatchObject({ ...who, status: 'none', declined_at: A_TIME });
    expect(await lethe.consents.status(who)).toEqual(declined);
    expect(await thrown(lethe.consents.decline(who))).toMatchObject({ details: { current_status: 'none' } });
    const granted = await bot.consenting();
    const { id: consent_id } = await lethe.consents.request({ ...granted, consent_version: '2.0' });
    expect(await lethe.consents.decline({ consent_id })).toMatchObject({
      status: 'accepted',
      version: '1.0',
    });
    expect(await lethe.consents.status(granted)).not.toHaveProperty('pending_version');
    await lethe.consents.request({ ...who, consent_version: '2.0' });
    expect(await lethe.consents.status(who)).toHaveProperty('declined_at', null);
  });
});

it.each([
  ['times', 'sdk'],
  ['printable', 'sdk'],
  ['settings-file', 'cli'],
])('%s has the very text of the service in packages/%s', (name, own) => {
  const [service, sdk] = ['libs/kernel', `packages/${own}`].map((of) =>
    readFileSync(`${of}/src/${name}.ts`, 'utf8'),
  );
  expect(sdk).toBe(service);
});
