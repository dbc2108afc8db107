import { lockBot } from '@app/bots';
import { lockSubject, type Subject, SubjectDigests } from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import type { Bot } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { expectFailure } from '../support/expected';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { keptOpen } from '../support/units';
import { until } from '../support/until';

const service = useServiceInProcess();
let bot: Bot;
let who: SubjectIds;
let held: Subject;

beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
  held = service.app.get(SubjectDigests, { strict: false }).named(bot.id, who);
  await bot.hasConsent(who);
  await bot.post('/holders', {
    ...{ key: 'database', kind: 'pull', covers: ['messages'] },
    ...{ label_de: 'Datenbank', label_en: 'Database' },
  });
});

const full = () => bot.export<{ holders: Json[] }>(who, '&format=full');
const openTask = async (): Promise<string> => {
  await full();
  const { tasks } = (await bot.get<{ tasks: { task_id: string }[] }>('/holders/database/tasks')).data;
  return tasks[0]?.task_id ?? '';
};
const acknowledge = (id: string) =>
  bot.post(`/holders/database/tasks/${id}/acknowledge`, { result: 'exported', data: { text: 'late' } });
const rows = () => service.database.rows<Json>(`SELECT * FROM holder_exports WHERE bot_id = '${bot.id}'`);

/** Resolves when a transaction waits for a lock of another one. */
async function someoneWaits(): Promise<'waits'> {
  const sql = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await until(async () => (await service.database.rows(sql)).length > 0, 2);
  return 'waits';
}

/** The answer of `compete`, which has to wait for an uncommitted unit with `hold`. */
async function behind(hold: (tx: Tx) => Promise<unknown>, compete: () => Promise<Answer>): Promise<Answer> {
  let competing: Promise<Answer> | undefined;
  const holding = service.app.get(UnitOfWork).write(async (tx) => {
    await keptOpen(tx);
    await hold(tx);
    competing ??= compete();
    return Promise.race([someoneWaits(), competing.then(() => 'was answered at once')]);
  });
  expect(await holding).toBe('waits');
  return competing as unknown as Promise<Answer>;
}

describe('the answer of a holder to an export', () => {
  it('waits for an erasure of its user, and is then 404 and stores nothing', async () => {
    const id = await openTask();
    const erase = async (tx: Tx): Promise<void> => {
      await lockSubject(tx, held, 'alone');
      await tx.run('DELETE FROM holder_exports WHERE bot_id = ?', bot.id);
    };
    expectFailure(await behind(erase, () => acknowledge(id)), 404, 'not_found');
    expect(await rows()).toEqual([]);
  });

  it('is removed by an erasure that waits for it', async () => {
    await acknowledge(await openTask());
    const answered = await behind(
      (tx) => lockSubject(tx, held, 'together'),
      () => bot.post('/gdpr/forget-user', who),
    );
    expect(answered.status).toBe(200);
    expect(await rows()).toEqual([]);
  });
});

describe('a full export', () => {
  it('waits for the deletion of a holder, and asks it no more', async () => {
    const remove = async (tx: Tx): Promise<void> => {
      await lockBot(tx, bot.id, 'UPDATE');
      await tx.run('DELETE FROM bot_holders WHERE bot_id = ?', bot.id);
    };
    expect((await behind(remove, full)).status).toBe(200);
    expect(await rows()).toEqual([]);
  });

  it('of a user without a consent waits for an erasure of the user, and asks nobody after it', async () => {
    await service.app.get(UnitOfWork).write((tx) => tx.run('DELETE FROM consents WHERE bot_id = ?', bot.id));
    const erase = async (tx: Tx): Promise<void> => {
      await lockSubject(tx, held, 'alone');
      await tx.run('DELETE FROM subjects WHERE bot_id = ?', bot.id);
    };
    await behind(erase, full);
    expect(await rows()).toEqual([]);
  });
});
