import { engine } from '../support/database';
import { markedLife, secretsOf } from '../support/marked-life';
import { useReceiver } from '../support/receiver';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';

import { keysPath, SqliteDatabase, UnitOfWork } from '@app/database';
import { JobRunner } from '@app/jobs';
import { OwnError } from '@app/kernel';
import { SubjectDataHolders } from '@app/subjects';

const receiver = useReceiver();
const service = useServiceInProcess();

/** One line of the log. */
interface Line {
  readonly [name: string]: unknown;
}
const lines = () => service.logLines.map((line) => JSON.parse(line) as Line);

describe('the log', () => {
  it('holds no key, secret, id of a user or guild, or value of a whole life', async () => {
    const bot = await service.registerBot({
      webhook_url: receiver.url,
      privacy_contact: 'marker@example.org',
    });
    const markers = await markedLife(service, bot);
    await receiver.received(2);
    await bot.delete(`/bots/${bot.id}`);
    const log = service.logLines.join('');
    expect(service.logLines.length).toBeGreaterThan(20);
    for (const secret of [...secretsOf(bot), 'marker@example.org', ...markers])
      expect(log).not.toContain(secret);
  });

  it('has one structured line for each request, with its id, route and status', async () => {
    const bot = await service.registerBot();
    const answer = await bot.get(`/bots/${bot.id}`);
    const ofRequest = lines().filter((line) => line['requestId'] === answer.header('x-request-id'));
    expect(ofRequest).toHaveLength(1);
    expect(ofRequest[0]).toMatchObject({
      method: 'GET',
      route: '/api/v1/bots/:bot_id',
      status: 200,
      botId: bot.id,
    });
    expect(ofRequest[0]?.['durationMs']).toEqual(expect.any(Number));
  });

  it('says of a fault its kind and place under the id that the caller was given, and nothing more', async () => {
    const bot = await service.registerBot();
    const [holder] = service.app.get(SubjectDataHolders).all();
    if (holder === undefined) throw new Error('there is no holder');
    const broken = jest.spyOn(holder, 'export').mockRejectedValueOnce(new TypeError('secret words'));
    const answer = await bot.export(subject());
    broken.mockRestore();
    expect({ status: answer.status, code: answer.error.code }).toStrictEqual({
      status: 500,
      code: 'internal_error',
    });
    expect(answer.text).not.toContain('secret words');
    const ofRequest = lines().filter((line) => line['requestId'] === answer.header('x-request-id'));
    expect(ofRequest).toContainEqual(expect.objectContaining({ fault: 'TypeError', msg: 'request failed' }));
    expect(JSON.stringify(ofRequest)).not.toContain('secret words');
  });

  it.each([
    ['of another, and keeps its message', new TypeError('secret words'), undefined],
    ['of our own, with its message', new OwnError('own words'), 'own words'],
  ])(
    'says in words which job failed and when it is run again, with the fault %s',
    async (_, error, reason) => {
      const name = `job-${error.name}`;
      const run = (): Promise<void> => Promise.reject(error);
      await service.app.get(JobRunner).run({ name, everyMs: 60_000, run });
      const found = lines().filter(({ job }) => job === name);
      expect(found).toEqual([
        expect.objectContaining({
          level: 50,
          context: 'Jobs',
          msg: `The job ${name} failed and is run again in 60 s`,
          fault: error.name,
          frames: expect.any(String),
        }),
      ]);
      expect(found[0]?.['reason']).toBe(reason);
      expect(JSON.stringify(found)).not.toContain('secret words');
    },
  );

  const onSqlite = engine === 'sqlite' ? it : it.skip;
  onSqlite('says in words that a destroyed key stays in the write-ahead log, and until when', async () => {
    const bot = await service.registerBot();
    const reader = new SqliteDatabase(keysPath(service.databasePath), { readonly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT * FROM service_keys').all();
    await bot.hasConsent(subject());
    await expect(service.app.get(UnitOfWork).scrubKeys()).rejects.toMatchObject({
      code: 'service_unavailable',
    });
    reader.close();
    expect(lines()).toContainEqual(
      expect.objectContaining({
        level: 50,
        context: 'Database',
        msg: expect.stringMatching(
          /^The write-ahead log of the keys could not be truncated, since another process reads the keys/,
        ),
      }),
    );
  });
});
