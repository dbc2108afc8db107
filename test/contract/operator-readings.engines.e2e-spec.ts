import { countSubjects, MasterKeyRotation } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import { PageQuery } from '@app/http';
import { OperatedBots } from '@app/operations';
import { outboxState } from '@app/webhooks';
import { Client } from '../support/client';
import { engine } from '../support/database';
import { useServiceInProcess } from '../support/service';
import { SqlLog } from '../support/sql-log';

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
    expect(await turnsDuring(() => outboxState(unitOfWork()))).toBeGreaterThanOrEqual(1);
    const keys = service.app.get(MasterKeyRotation, { strict: false });
    expect(await turnsDuring(() => keys.uses())).toBeGreaterThanOrEqual(1);
  });
});
