import { Webhook } from 'standardwebhooks';
import { encryptedBy } from '@app/crypto';
import type { Bot } from '../support/bot';
import type { Json } from '../support/client';
import { expectFailure } from '../support/expected';
import { type Call, useReceiver } from '../support/receiver';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';
import { SqlLog } from '../support/sql-log';
import { passes } from '../support/time';
import { until } from '../support/until';

const service = useServiceInProcess({ WEBHOOK_RETRY_SCHEDULE: '1h' });
const receiver = useReceiver();
let bot: Bot;
let who: SubjectIds;
beforeEach(async () => {
  receiver.reset();
  bot = await service.registerBot({ webhook_url: receiver.url });
  who = subject();
  await bot.hasConsent(who);
});
afterEach(() => jest.restoreAllMocks());

interface Listed {
  readonly id: string;
  readonly status: string;
  readonly request_id: string | null;
}
const DAY_MS = 86_400_000;
const register = (key: string, kind = 'webhook') =>
  bot.post('/holders', { key, kind, covers: ['x'], label_de: 'Datenbank', label_en: 'Database' });
const full = (of = who) => bot.export<Json>(of, '&format=full');
const tasks = async (key = 'database'): Promise<Json[]> =>
  (await bot.get<{ tasks: Json[] }>(`/holders/${key}/tasks`)).data.tasks;
const deliveries = async (): Promise<Listed[]> =>
  (await bot.get<{ deliveries: Listed[] }>('/webhooks/deliveries?event=holder_task')).data.deliveries;
const about = (act: string): Call[] => receiver.calls.filter(({ body }) => body['act'] === act);
/** Once each call was sent. */
async function sent(): Promise<void> {
  const waiting = `SELECT id FROM webhook_deliveries WHERE bot_id = ? AND (attempts = 0 OR locked_by IS NOT NULL)`;
  await until(async () => (await service.database.rows(waiting, bot.id)).length === 0);
}
const stored = (columns = '*') =>
  service.database.rows<Json>(
    `SELECT ${columns} FROM webhook_deliveries WHERE bot_id = ? AND event = 'holder_task'`,
    bot.id,
  );

describe('a full export of a bot with a holder of the kind webhook', () => {
  it('calls it with exactly the fields of its task, signed; a pull holder is not called', async () => {
    await register('database');
    await register('quiet', 'pull');
    await full();
    await sent();
    const [task] = await tasks();
    const [call, ...further] = about('export');
    expect(further).toEqual([]);
    expect(call?.headers['x-gdpr-event']).toBe('holder_task');
    const { result, answered_at: at, ...named } = task ?? {};
    expect([result, at]).toEqual([null, null]);
    expect(call?.body).toEqual({ event: 'holder_task', holder: 'database', ...named });
    expect(call?.body).toMatchObject({ act: 'export', request_id: task?.['task_id'], ...who });
    const verified = new Webhook(bot.webhookSecret).verify(
      call?.rawBody ?? '',
      call?.headers as Record<string, string>,
    );
    expect(verified).toEqual(call?.body);
    expect(await deliveries()).toMatchObject([{ status: 'delivered', request_id: null }]);
    expect(await tasks('quiet')).toHaveLength(1);
  });

  it('calls it once for each task: not again for an open one and a fresh answer, and again a day later', async () => {
    await register('database');
    await Promise.all([full(), full(), full()]);
    const [task] = await tasks();
    await bot.post(`/holders/database/tasks/${String(task?.['task_id'])}/acknowledge`, { result: 'nothing' });
    await full();
    await sent();
    expect(about('export')).toHaveLength(1);
    passes(service, DAY_MS + 60_000);
    await full();
    const [later] = await tasks();
    await until(() => about('export').length === 2);
    expect(about('export')[1]?.body['task_id']).toBe(later?.['task_id']);
  });

  it('of all guilds calls it for each guild', async () => {
    await register('database');
    const places = [who, { ...who, guild_id: snowflake() }];
    await bot.hasConsent(places[1]!);
    await bot.get(`/data/export/${who.user_id}?scope=all_guilds&format=full`);
    await sent();
    const guilds = about('export').map(({ body }) => body['guild_id']);
    expect(guilds.sort()).toEqual(places.map(({ guild_id }) => guild_id).sort());
  });

  it('that is refused with 404 calls nobody', async () => {
    await register('database');
    expectFailure(await full(subject()), 404, 'not_found');
    expect(await stored()).toEqual([]);
  });

  it('shows the call in its section webhook_deliveries', async () => {
    await register('database');
    expect((await full()).data['webhook_deliveries']).toMatchObject([{ event: 'holder_task' }]);
  });
});

describe('the call about an export', () => {
  it.each([200, 500])('is removed by an erasure of the user, after an answer %i too', async (status) => {
    await register('database');
    receiver.status = status;
    await full();
    await sent();
    const [before] = await stored('id, payload');
    const erasure = await bot.hasForgotten(who);
    const after = await stored('id, request_id');
    expect(before).toBeDefined();
    expect(after).toMatchObject([{ request_id: erasure }]);
    expect(after[0]?.['id']).not.toBe(before?.['id']);
  });

  it('leaves the call about the erasure, which waits, through a further erasure', async () => {
    await register('database');
    receiver.status = 500;
    const first = await bot.hasForgotten(who);
    await bot.hasConsent(who);
    await full();
    const second = await bot.hasForgotten(who);
    const left = (await deliveries()).map(({ request_id }) => request_id);
    expect(left.sort()).toEqual([first, second].sort());
  });

  it('is encrypted with the key of its user, and the call about the erasure is not', async () => {
    await register('database');
    receiver.status = 500;
    await full();
    const [asked] = await stored('payload');
    await bot.hasForgotten(who);
    const [erased] = await stored('payload');
    const keyOf = (row: Json | undefined) => encryptedBy(String(row?.['payload']));
    expect(keyOf(asked)).not.toBe(keyOf(erased));
    await bot.hasConsent(subject());
    await bot.hasForgotten(subject());
    const of = new Set((await stored('payload')).map(keyOf));
    expect([...of]).toEqual([keyOf(erased)]);
  });
});

describe('what a bot pays for its holders', () => {
  const counted = async (act: () => Promise<unknown>): Promise<SqlLog> => {
    const log = new SqlLog().open();
    await act();
    log.close();
    return log;
  };

  it('is two statements that read for a full export without holders, and two of its own for an erasure', async () => {
    await sent();
    const exporting = await counted(() => full());
    expect([exporting.runsOf(/bot_holders/), exporting.runsOf(/^INSERT INTO holder_/)]).toEqual([2, 0]);
    const erasing = await counted(() => bot.hasForgotten(who));
    expect([erasing.runsOf(/INTO holder_tasks/), erasing.runsOf(/DELETE FROM holder_exports/)]).toEqual([
      1, 1,
    ]);
    // The third one counts the rows of all tables with data about users.
    expect(erasing.runsOf(/bot_holders|holder_(tasks|exports)/)).toBe(3);
  });

  it('is no statement more for a holder that pulls because others are called', async () => {
    await register('database', 'pull');
    const pulling = await counted(() => full());
    expect(pulling.runsOf(/INSERT INTO webhook_deliveries/)).toBe(0);
    expect(pulling.runsOf(/INTO holder_exports/)).toBe(1);
    await bot.put('/holders/database', { kind: 'webhook' });
    const other = subject();
    await bot.hasConsent(other);
    const called = await counted(() => full(other));
    expect(called.runsOf(/INSERT INTO webhook_deliveries/)).toBe(1);
    expect(called.runsOf(/bot_holders/)).toBe(pulling.runsOf(/bot_holders/));
  });
});
