import { Bot } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { useKillable } from '../support/crashes';
import { useReceiver } from '../support/receiver';
import { subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

const crashes = useKillable();
const receiver = useReceiver();
let bot: Bot;
let who: SubjectIds;

beforeEach(async () => {
  receiver.reset();
  bot = await Bot.register(crashes.url, { webhook_url: receiver.url });
  who = subject();
  await bot.hasConsent(who);
  const declared = { covers: ['levels'], label_de: 'Datenbank', label_en: 'Database' };
  await bot.post('/holders', { key: 'database', kind: 'webhook', ...declared });
});

/** Exports in full while the process kills itself before a statement, and starts the service again. */
async function killedBefore(statement: string): Promise<{ answer: Answer | undefined; left: number[] }> {
  const answer = await crashes.killedBefore(statement, full);
  expect(calls()).toEqual([]);
  const left = await Promise.all([
    crashes.count('holder_exports WHERE bot_id = ? AND open = 1', bot.id),
    crashes.count(`webhook_deliveries WHERE bot_id = ? AND event = 'holder_task'`, bot.id),
    crashes.count(`audit_events WHERE bot_id = ? AND event_type = 'data_exported'`, bot.id),
  ]);
  await crashes.endLeases();
  await crashes.start();
  return { answer, left };
}
const calls = (): Json[] =>
  receiver.calls.filter(({ body }) => body['event'] === 'holder_task').map(({ body }) => body);
const tasks = async (): Promise<Json[]> =>
  (await bot.get<{ tasks: Json[] }>('/holders/database/tasks')).data.tasks;
const full = () => bot.export<{ holders: Json[] }>(who, '&format=full');
const called = () => until(async () => calls().length > 0);

it('an export that is killed before the call of its task is stored has made no task and no record', async () => {
  const { answer, left } = await killedBefore('INSERT INTO webhook_deliveries');
  expect([answer, left]).toEqual([undefined, [0, 0, 0]]);
  expect((await full()).data.holders).toMatchObject([{ state: 'asked' }]);
  await called();
  expect(calls()).toMatchObject([{ act: 'export', task_id: (await tasks())[0]?.['task_id'], ...who }]);
});

it('an export that is killed after its commit has its record, one task and its call, and the next one asks no more', async () => {
  // The first statement of the call, which follows the commit.
  const { left } = await killedBefore('attempts = attempts \\+ 1');
  expect(left).toEqual([1, 1, 1]);
  await called();
  const made = await tasks();
  expect(calls()).toMatchObject([{ act: 'export', task_id: made[0]?.['task_id'], ...who }]);
  expect((await full()).data.holders).toMatchObject([{ state: 'asked' }]);
  expect(await tasks()).toEqual(made);
  expect(await crashes.count(`webhook_deliveries WHERE event = 'holder_task' AND bot_id = ?`, bot.id)).toBe(
    1,
  );
});

it('a large export that is killed in the unit that records it has made no task, and the next one asks', async () => {
  for (let at = 0; at < 5; at++) {
    await bot.hasCategory(`large_${at}`);
    await bot.hasData(who, `large_${at}`, { value: 'x'.repeat(60_000) });
  }
  await bot.put('/holders/database', { kind: 'pull' });
  // The unit makes the task before.
  const { answer, left } = await killedBefore('INSERT INTO audit_events');
  expect([answer, left]).toEqual([undefined, [0, 0, 0]]);
  expect((await full()).data.holders).toMatchObject([{ state: 'asked' }]);
  const [{ task_id: id } = {}] = await tasks();
  const stated = { result: 'exported', data: { levels: [1] } };
  expect((await bot.post(`/holders/database/tasks/${String(id)}/acknowledge`, stated)).status).toBe(200);
  expect((await full()).data.holders).toMatchObject([{ state: 'stated', data: { levels: [1] } }]);
});
