import { type Bot } from '../support/bot';
import { Client } from '../support/client';
import { A_TIME, expectFailure, expectFaults, expectSuccess } from '../support/expected';
import { Service } from '../support/service';
import { useService } from '../support/shared-service';

const service = useService();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot({ name: 'Greeter' });
});

const path = () => `/bots/${bot.id}/notice-settings`;
const NOTHING = { updated_at: null, changes: [], data_after_withdrawal: 30 };

describe('GET and PUT /api/v1/bots/{bot_id}/notice-settings', () => {
  it('answers nothing before anything is set, and then all that was set', async () => {
    expectSuccess(await bot.get(path()), 200, NOTHING);
    const given = {
      public: true,
      controller_name: 'Robin "><img src=x onerror=alert(1)>',
      controller_address: 'Street 1\n10115 Berlin',
      controller_email: 'robin@example.org',
      officer_name: 'Kim',
      officer_email: 'kim@example.org',
      recipients: [
        { name: 'Hosting', purpose_de: 'Server', purpose_en: 'Server', country: 'US' },
        { name: 'Plain', purpose_de: null, safeguards_en: 'Standard contractual clauses' },
      ],
      interests_de: 'Ordnung',
      interests_en: 'Order',
      source_de: 'Plattform',
      source_en: 'The platform',
      automated_decisions: 'exist',
      automated_decisions_en: 'A ban after three warnings',
      authority_name: 'Authority',
      authority_url: 'https://authority.example.org',
      notice_url: 'https://bot.example.org/privacy',
    };
    const recipients = [
      given.recipients[0],
      { name: 'Plain', safeguards_en: 'Standard contractual clauses' },
    ];
    const whole = { ...given, recipients, updated_at: A_TIME };
    const changes = [{ at: A_TIME, fields: Object.keys(given) }];
    const { data } = await bot.put<{ changes: [{ fields: string[] }] }>(path(), given);
    expect([...data.changes[0].fields].sort()).toStrictEqual(Object.keys(given).sort());
    expect(data).toMatchObject(whole);
    expect((await bot.get(path())).data).toStrictEqual(data);
    expect(data.changes).toHaveLength(changes.length);
  });

  it('changes what is given, clears by null and by an empty list, and keeps the rest', async () => {
    await bot.put(path(), { controller_name: 'A', officer_name: 'B', recipients: [{ name: 'C' }] });
    await bot.put(path(), { controller_name: 'D', officer_name: null, recipients: [] });
    const { data } = await bot.get<{ changes: { fields: string[] }[] }>(path());
    expect(data).toStrictEqual({
      ...{ controller_name: 'D', updated_at: A_TIME, changes: data.changes },
      data_after_withdrawal: 30,
    });
    expect(data.changes.map(({ fields }) => [...fields].sort())).toStrictEqual([
      ['controller_name', 'officer_name', 'recipients'],
      ['controller_name', 'officer_name', 'recipients'],
    ]);
  });

  it('names each country of the recipients once, and says which are third countries', async () => {
    const of = (...codes: (string | null)[]) =>
      codes.map((country, at) => ({ name: `Recipient ${at}`, ...(country !== null && { country }) }));
    const { data } = await bot.put<{ countries: unknown }>(path(), {
      recipients: of('US', null, 'DE', 'US', 'NO', 'GB', 'XZ'),
    });
    expect(data.countries).toStrictEqual([
      { country: 'US', name_de: 'Vereinigte Staaten', name_en: 'United States', third_country: true },
      { country: 'DE', name_de: 'Deutschland', name_en: 'Germany', third_country: false },
      { country: 'NO', name_de: 'Norwegen', name_en: 'Norway', third_country: false },
      {
        ...{ country: 'GB', name_de: 'Vereinigtes Königreich', name_en: 'United Kingdom' },
        third_country: true,
      },
      // A code that no country has is its own name.
      { country: 'XZ', name_de: 'XZ', name_en: 'XZ', third_country: true },
    ]);
    expect((await bot.put(path(), { recipients: of(null) })).data).not.toHaveProperty('countries');
    const { data: before } = await bot.get<object>(path());
    // An answer can be sent back: what is made of the settings is not stored.
    expect((await bot.put(path(), { ...before, countries: [{ country: 'US' }] })).data).toStrictEqual(before);
  });

  it('has the address of the notice while it is public, where PUBLIC_URL says how users reach it', async () => {
    const given = { public: true, controller_name: 'A' };
    expect((await bot.put(path(), given)).data).not.toHaveProperty('page_url');
    const other = await new Service({ PUBLIC_URL: 'https://gdpr.bot.example' }).start();
    const its = await other.registerBot();
    const address = { page_url: `https://gdpr.bot.example/notice/${its.id}` };
    const at = `/bots/${its.id}/notice-settings`;
    expect((await its.put(at, given)).data).toMatchObject(address);
    expect((await its.get(at)).data).toMatchObject(address);
    expect((await its.put(at, { public: false })).data).not.toHaveProperty('page_url');
    await other.stop();
  });

  it('records no change for a repeat, and keeps the latest 20 changes', async () => {
    for (let at = 0; at < 22; at += 1) await bot.put(path(), { controller_name: `Name ${at}` });
    const before = (await bot.get<{ changes: unknown[] }>(path())).data;
    expect(before.changes).toHaveLength(20);
    expect((await bot.put(path(), { controller_name: 'Name 21' })).data).toStrictEqual(before);
  });

  it('loses no change of two at the same time', async () => {
    await Promise.all([bot.put(path(), { controller_name: 'A' }), bot.put(path(), { officer_name: 'B' })]);
    expect((await bot.get(path())).data).toMatchObject({ controller_name: 'A', officer_name: 'B' });
  });

  it('leaves the answers about the bot as they are', async () => {
    const before = (await bot.get('/bots/me')).text;
    await bot.put(path(), { controller_name: 'A' });
    expect((await bot.get('/bots/me')).text).toBe(before);
  });

  it.each([
    [{ controller_name: '' }, 'controller_name'],
    [{ controller_name: 'x'.repeat(201) }, 'controller_name'],
    [{ controller_address: 'x'.repeat(501) }, 'controller_address'],
    [{ controller_email: 'no' }, 'controller_email'],
    [{ recipients: [{ purpose_de: 'x' }] }, 'recipients[0].name'],
    [{ recipients: [{ name: 'x', country: 'Germany' }] }, 'recipients[0].country'],
    [{ recipients: Array.from({ length: 21 }, () => ({ name: 'x' })) }, 'recipients'],
    [{ interests_de: 'x'.repeat(2001) }, 'interests_de'],
    [{ automated_decisions: 'some' }, 'automated_decisions'],
    [{ automated_decisions: 'exist' }, 'automated_decisions_de'],
    [{ notice_url: 'http://bot.example.org' }, 'notice_url'],
    [{ notice_url: 'javascript:alert(1)' }, 'notice_url'],
    [{ notice_url: 'https://user:pass@bot.example.org' }, 'notice_url'],
    [{ authority_url: 'https://' }, 'authority_url'],
    [{ public: 'yes' }, 'public'],
    [{ public: true }, 'controller_name'],
  ])('answers 400 for %j, naming %s, and changes nothing', async (body, field) => {
    expectFaults(await bot.put(path(), body), field);
    expectSuccess(await bot.get(path()), 200, NOTHING);
  });

  it('answers 400 for the controller of a public notice being cleared', async () => {
    await bot.put(path(), { public: true, controller_name: 'A' });
    expectFaults(await bot.put(path(), { controller_name: null }), 'controller_name');
  });

  it('is read with the scope read, and changed with admin alone', async () => {
    const { data } = await bot.post<{ api_key: string }>(`/bots/${bot.id}/keys`, { scopes: ['read'] });
    const reader = new Client(service.url, data.api_key);
    expect((await reader.get(path())).status).toBe(200);
    expectFailure(await reader.put(path(), { officer_name: 'A' }), 403, 'insufficient_scope');
  });

  it('is deleted with the bot', async () => {
    await bot.put(path(), { controller_name: 'A' });
    await bot.delete(`/bots/${bot.id}`);
    const rows = await service.database.rows(`SELECT bot_id FROM bot_notices WHERE bot_id = '${bot.id}'`);
    expect(rows).toStrictEqual([]);
  });
});
