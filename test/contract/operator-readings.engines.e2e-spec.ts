import { randomUUID } from 'node:crypto';
import { countSubjects, MasterKeyRotation } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import { PageQuery } from '@app/http';
import { Clock, CONFIG, type Config } from '@app/kernel';
import { circumstancesOf, findingsOf, InstallationReading, OperatedBots } from '@app/operations';
import { outboxState } from '@app/webhooks';
import { Client } from '../support/client';
import { engine } from '../support/database';
import { withoutJobs } from '../support/jobs';
import { useServiceInProcess } from '../support/service';
import { SqlLog } from '../support/sql-log';
import { ago } from '../support/time';

const OPERATOR_TOKEN = 'an-operator-token-'.repeat(3);
const service = useServiceInProcess({ OPERATOR_TOKEN });

/** What jobs ask meanwhile: an index answers it. */
const NEXT_BOT = /^SELECT MIN\(bot_id\) AS bot_id FROM \S+ WHERE bot_id > \?$/;

const unitOfWork = (): UnitOfWork => service.app.get(UnitOfWork, { strict: false });

/** The turns of the event loop while `work` runs. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let next = setImmediate(function turn() {
    turns++;
    next = setImmediate(turn);
  });
  await work();
  clearImmediate(next);
  return turns;
}

describe('a reading of the installation', () => {
  it('counts nothing on the connections that the keys of callers need', async () => {
    const hot = jest.spyOn(unitOfWork(), 'get');
    const operator = new Client(service.url, OPERATOR_TOKEN);
    for (const path of ['status', 'findings', 'storage'])
      expect((await operator.get(`/operator/${path}`)).status).toBe(200);
    const asked = hot.mock.calls.map(([sql]) => sql).filter((sql) => !NEXT_BOT.test(sql));
    hot.mockRestore();
    expect(asked.filter((sql) => /COUNT|MIN|MAX|pg_database_size/i.test(sql))).toEqual([]);
  });

  it('counts few subjects, and of many looks at 10,000 at once: SQLite counts all of them, PostgreSQL estimates', async () => {
    const bot = await service.registerBot();
    const { database } = service;
    const before = await countSubjects(unitOfWork());
    const fill = (from: number, to: number) =>
      database.run(
        `INSERT INTO subjects (bot_id, guild_id, user_id, key_id)
         WITH RECURSIVE n (at) AS (SELECT ${from} UNION ALL SELECT at + 1 FROM n WHERE at < ${to})
         SELECT '${bot.id}', 'g' || (at % 7), 'u' || at, 'k' || at FROM n`,
      );
    await fill(1, 9_000 - before);
    expect(await countSubjects(unitOfWork())).toBe(9_000);
    await fill(9_001 - before, 25_000 - before);
    if (engine === 'postgres') await database.run('ANALYZE subjects');
    const log = new SqlLog().open();
    const turns = turnsDuring(async () => expect(await countSubjects(unitOfWork())).toBe(25_000));
    expect(await turns).toBeGreaterThanOrEqual(2);
    log.close();
    for (const sql of log.statements().filter((text) => /FROM subjects/.test(text)))
      expect(sql).toMatch(/LIMIT (10000|1 OFFSET 9999)\b/);
    await database.run('DELETE FROM subjects WHERE bot_id = ?', bot.id);
  });

  it('gives the event loop a turn between its pages', async () => {
    for (let bots = 0; bots < 3; bots++) await service.registerBot();
    const bots = service.app.get(OperatedBots, { strict: false });
    const list = () => bots.list(Object.assign(new PageQuery(), { page: '1', page_size: '3' }));
    await list();
    expect(await turnsDuring(list)).toBeGreaterThanOrEqual(3);
    expect(
      await turnsDuring(() => outboxState(unitOfWork(), service.app.get(Clock, { strict: false }))),
    ).toBeGreaterThanOrEqual(1);
    const keys = service.app.get(MasterKeyRotation, { strict: false });
    expect(await turnsDuring(() => keys.uses())).toBeGreaterThanOrEqual(1);
  });

  it('finds calls late that no one makes, and not those to a receiver that fails and is called now and then', async () => {
    await withoutJobs(service);
    const since = ago(2 * 3_600_000);
    const late = async (failures: number, failedAt: string | null): Promise<string[]> => {
      const { id } = await service.registerBot();
      await service.database.run(
        `INSERT INTO webhook_deliveries (bot_id, id, event, payload, status, attempts, retries, next_attempt_at,
           give_up_at, created_at) VALUES (?, ?, 'ping', '{}', 'pending', 0, 0, ?, ?, ?)`,
        ...[id, randomUUID(), since, ago(-3_600_000), since],
      );
      await service.database.run(
        `INSERT INTO webhook_health (bot_id, failures, last_outcome, last_failed_at, last_delivered_at)
         VALUES (?, ?, 'refused', ?, ?)`,
        // The receiver has confirmed a call by a clock that was a day ahead.
        ...[id, failures, failedAt, ago(-86_400_000)],
      );
      const installation = await service.app.get(InstallationReading, { strict: false }).read();
      const read = { installation, masterKeys: [] };
      const found = findingsOf(circumstancesOf(service.app.get<Config>(CONFIG, { strict: false }), read));
      return found.flatMap(({ id: finding, says }) => (finding === 'webhooks_late' ? [says] : []));
    };
    const hourAgo = ago(3_660_000);
    expect(await late(5, ago(600_000))).toEqual([]);
    expect(await late(1, hourAgo)).toEqual([
      `A webhook call is due, and its receiver has confirmed none since ${hourAgo}.`,
    ]);
    expect(await late(0, ago(600_000))).toEqual([
      `A webhook call is due, and its receiver has confirmed none since ${since}.`,
    ]);
  });
});
