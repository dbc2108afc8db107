import { Bot } from '../support/bot';
import { useCrashes } from '../support/crashes';
import { atDepth } from '../support/depth';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

const crashes = useCrashes();

it('after kill -9 the task of a holder is there once if its erasure is completed, and else not', async () => {
  const bot = await Bot.register(crashes.url);
  await bot.post('/holders', { key: 'database', kind: 'pull', covers: ['x'], label_de: 'D', label_en: 'D' });
  for (let round = 0; round < atDepth(1, 6); round++)
    await crashes.killed({
      callers: 8,
      next: () => subject(),
      send: (who) => bot.post('/gdpr/forget-user', who),
      after: 10 + 3 * round,
      meanwhile: async () => {
        const completed = `deletion_requests WHERE status = 'completed' AND bot_id = ?`;
        const tasks = 'holder_tasks WHERE bot_id = ?';
        expect(await crashes.count(tasks, bot.id)).toBe(await crashes.count(completed, bot.id));
        await crashes.endLeases();
      },
    });
  await until(async () => (await crashes.count(`deletion_requests WHERE status = 'processing'`)) === 0, 100);
  const all = `deletion_requests AS asked WHERE bot_id = ?`;
  const without = `${all} AND NOT EXISTS (SELECT 1 FROM holder_tasks WHERE holder_tasks.bot_id = asked.bot_id
    AND holder_tasks.request_id = asked.id)`;
  expect(await crashes.count(without, bot.id)).toBe(0);
  expect(await crashes.count(all, bot.id)).toBe(await crashes.count('holder_tasks WHERE bot_id = ?', bot.id));
});
