import type { Client } from '../support/client';
import { Bot, type RegisteredBot } from '../support/bot';
import { A_TIME, expectFailure, expectFaults } from '../support/expected';
import { useService } from '../support/shared-service';
import { snowflake } from '../support/snowflakes';

const service = useService();
const caller = (): Client => service.anonymous;

interface Registered {
  readonly status: number;
  readonly data: RegisteredBot;
}
const registers = (notice: unknown, given: object = {}) =>
  caller().post<RegisteredBot>('/bots/register', {
    ...{ platform_bot_id: snowflake(), name: 'Greeter', notice },
    ...given,
  });
const botOf = ({ data }: Registered): Bot => new Bot(service.url, data);
const settingsOf = async (bot: Bot) => (await bot.get(`/bots/${bot.id}/notice-settings`)).data;
const isRegistered = async (platformId: string): Promise<boolean> => {
  const found = `SELECT id FROM bots WHERE platform_bot_id = '${platformId}'`;
  return (await service.database.rows(found)).length > 0;
};

const WHOLE = {
  public: true,
  controller_name: 'Robin Example',
  controller_address: 'Street 1\n10115 Berlin',
  controller_email: 'robin@example.org',
  recipients: [{ name: 'Hosting', purpose_en: 'Runs the server', country: 'DE' }],
  automated_decisions: 'none',
  authority_url: 'https://authority.example.org',
};

describe('POST /api/v1/bots/register with a notice', () => {
  it('answers what it answers without one, and has the settings from the first moment', async () => {
    const plain = await registers(undefined);
    const answer = await registers(WHOLE);
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.data)).toStrictEqual(Object.keys(plain.data));
    expect(answer.data).toMatchObject({ notice: (plain.data as unknown as { notice: string }).notice });
    const bot = botOf(answer);
    const settings = await settingsOf(bot);
    const { changes, ...rest } = settings as { changes: { at: string; fields: string[] }[] };
    const countries = [{ country: 'DE', name_de: 'Deutschland', name_en: 'Germany', third_country: false }];
    expect(rest).toStrictEqual({ ...WHOLE, updated_at: A_TIME, countries, data_after_withdrawal: 30 });
    expect(changes).toStrictEqual([{ at: A_TIME, fields: expect.any(Array) as string[] }]);
    expect([...(changes[0]?.fields ?? [])].sort()).toStrictEqual(Object.keys(WHOLE).sort());
    expect((await fetch(`${service.url}/notice/${bot.id}`)).status).toBe(200);
  });

  it("takes it in the guide's shape too", async () => {
    const bot_id = snowflake();
    const body = { bot_id, name: 'Greeter', notice: { controller_name: 'Robin' } };
    const answer = await caller().post<RegisteredBot>('/bots/register', body);
    expect(await settingsOf(botOf(answer))).toMatchObject({ controller_name: 'Robin' });
  });

  it('takes the bot back that it has answered: the notice of the contract is a text, which is ignored', async () => {
    const { data } = await registers(undefined);
    const again = await caller().post<RegisteredBot>('/bots/register', {
      ...data,
      platform_bot_id: snowflake(),
    });
    expect(again.status).toBe(201);
    expect(again.data).toMatchObject({ notice: expect.any(String) as string });
    expect(await settingsOf(botOf(again))).toStrictEqual({
      updated_at: null,
      changes: [],
      data_after_withdrawal: 30,
    });
  });

  it.each([[undefined], [null], [''], ['text'], [{}], [{ controller_name: null, recipients: [] }]])(
    'sets nothing for %j',
    async (notice) => {
      const bot = botOf(await registers(notice));
      expect(await settingsOf(bot)).toStrictEqual({
        updated_at: null,
        changes: [],
        data_after_withdrawal: 30,
      });
    },
  );

  it('stores of it what a change would store: no nulls, and no unknown fields', async () => {
    const given = {
      controller_name: 'Robin',
      officer_name: null,
      unknown: 'x',
      recipients: [{ name: 'Hosting', country: null, unknown: 'x' }],
    };
    const registered = await settingsOf(botOf(await registers(given)));
    const bot = await service.registerBot();
    await bot.put(`/bots/${bot.id}/notice-settings`, given);
    expect({ ...registered, updated_at: '', changes: [] }).toStrictEqual({
      ...(await settingsOf(bot)),
      ...{ updated_at: '', changes: [], data_after_withdrawal: 30 },
    });
  });

  it.each([
    [[WHOLE], 'notice'],
    [7, 'notice'],
    [{ controller_name: '' }, 'notice.controller_name'],
    [{ controller_name: 'x'.repeat(201) }, 'notice.controller_name'],
    [{ controller_address: 'x'.repeat(501) }, 'notice.controller_address'],
    [{ controller_email: 'no' }, 'notice.controller_email'],
    [{ officer_name: '' }, 'notice.officer_name'],
    [{ officer_email: 'no' }, 'notice.officer_email'],
    [{ recipients: [{ purpose_de: 'x' }] }, 'notice.recipients[0].name'],
    [{ recipients: [{ name: 'x', country: 'Germany' }] }, 'notice.recipients[0].country'],
    [{ recipients: Array.from({ length: 21 }, () => ({ name: 'x' })) }, 'notice.recipients'],
    [{ interests_de: 'x'.repeat(2001) }, 'notice.interests_de'],
    [{ interests_en: '' }, 'notice.interests_en'],
    [{ source_de: '' }, 'notice.source_de'],
    [{ source_en: 7 }, 'notice.source_en'],
    [{ automated_decisions: 'some' }, 'notice.automated_decisions'],
    [{ automated_decisions: 'exist' }, 'notice.automated_decisions_de'],
    [{ automated_decisions_de: '' }, 'notice.automated_decisions_de'],
    [{ automated_decisions_en: '' }, 'notice.automated_decisions_en'],
    [{ authority_name: '' }, 'notice.authority_name'],
    [{ authority_url: 'https://' }, 'notice.authority_url'],
    [{ notice_url: 'http://bot.example.org' }, 'notice.notice_url'],
    [{ notice_url: 'https://bot.example.org@other.example.org' }, 'notice.notice_url'],
    [{ notice_url: 'https://:bot.example.org@other.example.org' }, 'notice.notice_url'],
    [{ notice_url: 'javascript:alert(1)' }, 'notice.notice_url'],
    [{ notice_url: 'https://user:pass@bot.example.org' }, 'notice.notice_url'],
    [{ public: 'yes' }, 'notice.public'],
    [{ public: true }, 'notice.controller_name'],
  ])('answers 400 for the notice %j, naming %s, and registers nothing', async (notice, field) => {
    const platform_bot_id = snowflake();
    expectFaults(await registers(notice, { platform_bot_id }), field);
    expect(await isRegistered(platform_bot_id)).toBe(false);
  });

  it('names the faults of the bot and of its notice together', async () => {
    expectFaults(
      await registers({ notice_url: 'x', recipients: [{}] }, { name: '' }),
      ...['name', 'notice.recipients[0].name', 'notice.notice_url'],
    );
  });

  it('leaves the notice of a registered bot as it is, and answers 409', async () => {
    const platform_bot_id = snowflake();
    const bot = botOf(await registers({ controller_name: 'Robin' }, { platform_bot_id }));
    expectFailure(await registers({ controller_name: 'Other' }, { platform_bot_id }), 409, 'conflict');
    expect(await settingsOf(bot)).toMatchObject({ controller_name: 'Robin' });
  });

  it('of two registrations at once one wins, with its own notice', async () => {
    const platform_bot_id = snowflake();
    const both = await Promise.all(
      ['One', 'Other'].map(async (controller_name) => ({
        controller_name,
        answer: await registers({ controller_name }, { platform_bot_id }),
      })),
    );
    const won = both.filter(({ answer }) => answer.status === 201);
    expect(won).toHaveLength(1);
    for (const { answer, controller_name } of won)
      expect(await settingsOf(botOf(answer))).toMatchObject({ controller_name });
  });

  it('is deleted with the bot', async () => {
    const bot = botOf(await registers(WHOLE));
    await bot.delete(`/bots/${bot.id}`);
    const rows = await service.database.rows(`SELECT bot_id FROM bot_notices WHERE bot_id = '${bot.id}'`);
    expect(rows).toStrictEqual([]);
  });
});
