import { Bot } from '../support/bot';
import { answered, useKillable } from '../support/crashes';
import { atDepth } from '../support/depth';
import { useReceiver } from '../support/receiver';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

const crashes = useKillable();
const receiver = useReceiver();
const pending = () => crashes.count(`webhook_deliveries WHERE status = 'pending'`);
const taskCalls = () => receiver.calls.filter(({ body }) => body['event'] === 'holder_task');
let bot: Bot;

beforeEach(async () => {
  receiver.reset();
  bot = await Bot.register(crashes.url, { webhook_url: receiver.url });
  const declared = { covers: ['levels'], label_de: 'Datenbank', label_en: 'Database' };
  await bot.post('/holders', { key: 'database', kind: 'webhook', ...declared });
});

it('a process that is killed between the commit of a task and its call calls at its next start', async () => {
  const who = subject();
  // The first statement of a call.
  await crashes.killedBefore('attempts = attempts \\+ 1', () => bot.post('/gdpr/forget-user', who));
  expect(taskCalls()).toEqual([]);
  const unsent = `webhook_deliveries WHERE bot_id = ? AND event = 'holder_task' AND attempts = 0`;
  expect(await crashes.count(unsent, bot.id)).toBe(1);
  await crashes.database.run('DELETE FROM job_leases');
  await crashes.start();
  await until(async () => (await pending()) === 0);
  expect(taskCalls().map(({ body }) => body)).toMatchObject([{ holder: 'database', ...who }]);
  const { tasks } = (await bot.get<{ tasks: unknown[] }>('/holders/database/tasks')).data;
  expect(tasks).toMatchObject([{ task_id: taskCalls()[0]?.body['task_id'], ...who }]);
});

it('after kill -9 each task of a called holder has one call in the outbox, and it came', async () => {
  for (let round = 0; round < atDepth(1, 4); round++) {
    const sent = await crashes.killed({
      callers: 4,
      next: () => subject(),
      send: (who) => bot.post<{ request_id: string }>('/gdpr/forget-user', who),
      after: 4 + 5 * round,
      meanwhile: async () => {
        const calls = `webhook_deliveries WHERE event = 'holder_task' AND bot_id = ?`;
        const [made, queued] = [
          await crashes.count('holder_tasks WHERE bot_id = ?', bot.id),
          await crashes.count(calls, bot.id),
        ];
        expect(queued).toBe(made);
        await crashes.endLeases();
      },
    });
    await until(
      async () => (await crashes.count(`deletion_requests WHERE status = 'processing'`)) === 0,
      100,
    );
    await until(async () => (await pending()) === 0);
    const called = taskCalls().map(({ body }) => body['task_id']);
    for (const { answer } of answered(sent)) expect(called).toContain(answer.data.request_id);
    const idsOf = new Set(
      taskCalls().map(({ body, headers }) => `${String(body['task_id'])} ${String(headers['webhook-id'])}`),
    );
    expect(idsOf.size).toBe(await crashes.count('holder_tasks WHERE bot_id = ?', bot.id));
  }
});
