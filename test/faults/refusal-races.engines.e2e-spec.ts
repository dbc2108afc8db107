import { type Bot, field } from '../support/bot';
import type { Json } from '../support/client';
import { atDepth, itInPart } from '../support/depth';
import { expectFailure } from '../support/expected';
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
