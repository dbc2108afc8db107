import { field } from '../support/bot';
import { atDepth, itInPart } from '../support/depth';
import { useService } from '../support/shared-service';
import { subject } from '../support/snowflakes';

const service = useService();

describe('DELETE /api/v1/data/values/{user_id} beside merges of the same values', () => {
  itInPart('leaves nothing of before, whichever is first', async () => {
    const bot = await service.registerBot();
    await bot.hasCategory('profile', [field('value'), field('extra')]);
    for (let round = 0; round < atDepth(15, 60); round++) {
      const who = subject();
      await bot.hasConsent(who);
      const values = { ...who, category: 'profile' };
      await bot.post('/data/submit', { ...values, data: { value: 'before' } });
      const merges = Array.from({ length: 3 }, () =>
        bot.post('/data/submit', { ...values, data: { extra: 'merged' }, mode: 'merge' }),
      );
      const path = `/data/values/${who.user_id}?guild_id=${who.guild_id}`;
      const answers = await Promise.all([...merges, bot.delete(`${path}&category=profile`)]);
      expect(answers.map(({ status }) => status)).toStrictEqual([200, 200, 200, 200]);
      const left = (await bot.get<{ values: { profile?: object } }>(path)).data.values;
      expect([{}, { profile: { extra: 'merged' } }]).toContainEqual(left);
    }
  });
});
