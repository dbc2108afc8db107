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

  it('is as before values that could not be read back as they are', async () => {
    const fields = ['string', 'number', 'json'].map((type) => ({
      ...{ key: type, type: type as 'json', label_de: type, label_en: type },
    }));
    await lethe.categories.register({ ...PROFILE, key: 'kinds', fields });
    const who = { ...(await bot.consenting()), category: 'kinds' };
    const [text, number] = [
      'must not hold NUL or lone surrogates',
      'must be at most 2^53 - 1 in size: send larger numbers as a string, so that they keep their digits',
    ];
    for (const [data, ...faults] of [
      [{ number: 2 ** 53 }, { field: 'data.number', message: number }],
      [
        { number: -1e20, json: { a: [1, 2 ** 60, 'x'] } },
        { field: 'data.number', message: number },
        { field: 'data.json.a[1]', message: number },
      ],
      [{ string: 'a\0' }, { field: 'data.string', message: text }],
      [
        { json: [{ a: '\ud83d' }], string: '\ude00' },
        { field: 'data.json[0].a', message: text },
      ],
      [{ json: { '\ud83d': 1 } }, { field: 'data.json', message: text }],
    ] as const)
      expect(await thrown(lethe.data.submit({ ...who, data }))).toMatchObject({
        status: 400,
        fields: faults,
      });
    const details = { count: 2 ** 53 };
    const event = lethe.audit.write({ ...who, event_type: 'data_exported', details });
    expect(await thrown(event)).toMatchObject({ fields: [{ field: 'details.count', message: number }] });
    const data = { number: 2 ** 53 - 1, json: [1e21, 0.1, '\ud83d\ude00'] };
    await lethe.data.submit({ ...who, data });
    expect((await lethe.data.values(who)).values).toEqual({ kinds: data });
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
