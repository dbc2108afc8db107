import { Acts } from '@app/acts';
import { ProcessingRefusals } from '@app/user-data';
import { type Bot, field } from '../support/bot';
import type { Json } from '../support/client';
import { atDepth, itInPart } from '../support/depth';
import { expectFailure } from '../support/expected';
import { act, forms, get, send } from '../support/privacy-page';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { SqlLog } from '../support/sql-log';

const service = useServiceInProcess();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot();
  await bot.hasCategory('stats', [field('value')], { legal_basis: 'legitimate_interests' });
});

const submit = (who: SubjectIds, value: string) =>
  bot.post('/data/submit', { ...who, category: 'stats', data: { value } });
const held = async (who: SubjectIds): Promise<Json> =>
  (await bot.get<{ data: Json }>(`/data/export/${who.user_id}?guild_id=${who.guild_id}`)).data.data;

describe.each(['restrict', 'object'] as const)(
  'POST /api/v1/data/%s beside submits of the same user',
  (act) => {
    itInPart('nothing is stored after its answer, whichever is first', async () => {
      for (let round = 0; round < atDepth(10, 60); round++) {
        const who = subject();
        await bot.hasConsent(who);
        await submit(who, 'before');
        const submits = Array.from({ length: 4 }, (_, at) => submit(who, `during ${at}`));
        expect((await bot.post(`/data/${act}`, who)).status).toBe(200);
        const atItsAnswer = await held(who);
        const later = await submit(who, 'after');
        const reason = act === 'restrict' ? 'restriction' : 'objection';
        expectFailure(later, 403, 'processing_refused', { reason });
        for (const { status } of await Promise.all(submits)) expect([200, 403]).toContain(status);
        expect(await held(who)).toStrictEqual(atItsAnswer);
        if (act === 'object') expect(atItsAnswer).toStrictEqual({});
      }
    });
  },
);

describe('an objection or a restriction beside an erasure of the same user', () => {
  itInPart('leaves all of it or nothing, and the next erasure removes it', async () => {
    for (let round = 0; round < atDepth(5, 30); round++) {
      const who = subject();
      await bot.hasConsent(who);
      await submit(who, 'before');
      const answers = await Promise.all([
        bot.post('/data/restrict', who),
        bot.post('/gdpr/forget-user', who),
        bot.post('/data/object', who),
      ]);
      expect(answers.map(({ status }) => status)).toStrictEqual([200, 200, 200]);
      await bot.hasForgotten(who);
      const { data } = await bot.get<Json>(`/data/refusals/${who.user_id}?guild_id=${who.guild_id}`);
      expect(data).toMatchObject({ objections: [], restrictions: [] });
    }
  });
});

describe('a form of the privacy page whose user is erased while it waits', () => {
  let who: SubjectIds;
  beforeEach(async () => {
    who = subject();
    await bot.hasConsent(who);
  });
  afterEach(() => jest.restoreAllMocks());

  const linked = async (about: Json): Promise<string> =>
    (await bot.post<{ url: string }>('/privacy-links', about)).data.url;
  const guilds = async (table: string): Promise<string[]> => {
    const sql = `SELECT guild_id FROM ${table} WHERE bot_id = ?`;
    return (await service.database.rows<{ guild_id: string }>(sql, bot.id)).map((row) => row.guild_id);
  };

  it.each([
    ['restrict', 'this guild'],
    ['object', 'this guild'],
    ['restrict', 'all guilds'],
    ['object', 'all guilds'],
  ] as const)('stores nothing: %s by a link for %s', async (name, scope) => {
    const elsewhere = { ...subject(), user_id: who.user_id };
    await bot.hasConsent(elsewhere);
    const url = await linked(
      scope === 'this guild' ? { ...who } : { user_id: who.user_id, scope: 'all_guilds' },
    );
    const form = forms(await get(`${url}/refuse?of=${who.guild_id}`), name)[0]!;
    form.set('category', '*');
    const refusals = service.app.get(ProcessingRefusals, { strict: false });
    const refuse = refusals[name].bind(refusals);
    jest.spyOn(refusals, name).mockImplementationOnce(async (refused) => {
      await bot.hasForgotten(who);
      return refuse(refused);
    });
    expect((await send(url, name, form)).status).toBe(404);
    expect(await guilds('subjects')).toEqual([service.stored(bot, elsewhere).guild_id]);
    expect(await guilds('processing_refusals')).toEqual([]);
  });

  it('asks for no consent again', async () => {
    await bot.hasForgotten(who);
    await bot.hasCategory('profile');
    await bot.post('/consents/request', { ...who, categories: ['profile'] });
    const url = await linked({ ...who });
    await act(url, 'decline');
    const form = forms(await get(url), 'again')[0]!;
    const acts = service.app.get(Acts, { strict: false });
    const run = acts.run.bind(acts);
    jest.spyOn(acts, 'run').mockImplementationOnce(async (...asked) => {
      await bot.hasForgotten(who);
      return run(...asked);
    });
    expect((await send(url, 'again', form)).status).toBe(404);
    for (const table of ['subjects', 'consents', 'consent_history']) expect(await guilds(table)).toEqual([]);
  });
});

it('a submit looks for refusals by one statement, whether there are any or not', async () => {
  const who = subject();
  await bot.hasConsent(who);
  await bot.hasCategory('other');
  const runs = async (): Promise<number> => {
    const log = new SqlLog().open();
    try {
      const body = { ...who, category: 'other', data: { value: 'x' } };
      expect((await bot.post('/data/submit', body)).status).toBe(200);
      return log.runsOf(/processing_refusals/);
    } finally {
      log.close();
    }
  };
  expect(await runs()).toBe(1);
  await bot.post('/data/restrict', { ...who, category: 'stats' });
  expect(await runs()).toBe(1);
});
