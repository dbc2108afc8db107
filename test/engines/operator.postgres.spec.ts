import { JobRunner } from '@app/database';
import { StorageSampling } from '@app/operations';
import { Client } from '../support/client';
import { expectFailure } from '../support/expected';
import { Service } from '../support/service';
import { subject } from '../support/snowflakes';
import { ago, amidDay } from '../support/time';

const OPERATOR_TOKEN = 'an-operator-token-'.repeat(3);
const one = new Service({ OPERATOR_TOKEN });
let other: Service;

beforeAll(async () => {
  await one.start();
  other = await new Service({ DATABASE_URL: one.database.url, OPERATOR_TOKEN }, one.database).start();
});
afterAll(async () => {
  await other.app.close();
  await one.stop();
});

const dayOf = (daysAgo: number): string => ago(daysAgo * 86_400_000).slice(0, 10);

describe('two processes on one database', () => {
  it('write one sample a day, whichever runs first, both at once and again, and remove what is older than 400 days', async () => {
    await amidDay();
    const { database } = one;
    await database.run('DELETE FROM storage_samples');
    for (const ago of [399, 400, 401, 800])
      await database.run('INSERT INTO storage_samples VALUES (?, 1, 1, 1)', dayOf(ago));
    for (let runs = 0; runs < 3; runs++)
      await Promise.all(
        [one, other].map(({ app }) =>
          app.get(JobRunner).run(app.get(StorageSampling, { strict: false }), 'now'),
        ),
      );
    const rows = await database.rows<{ day: string }>('SELECT day FROM storage_samples ORDER BY day');
    expect(rows.map(({ day }) => day)).toEqual([dayOf(400), dayOf(399), dayOf(0)]);
  });

  it('both refuse a bot from the answer of its suspension on, and both take it after its end', async () => {
    const bot = await one.registerBot();
    const ask = (at: Service) => bot.at(at).post('/consents/request', { ...subject(), consent_version: '1' });
    for (const at of [one, other]) expect((await ask(at)).status).toBe(201);
    expect((await new Client(one.url, OPERATOR_TOKEN).post(`/operator/bots/${bot.id}/suspend`)).status).toBe(
      200,
    );
    for (const at of [other, one]) expectFailure(await ask(at), 403, 'suspended');
    expect((await new Client(other.url, OPERATOR_TOKEN).post(`/operator/bots/${bot.id}/resume`)).status).toBe(
      200,
    );
    for (const at of [one, other]) expect((await ask(at)).status).toBe(201);
  });

  it('say that another process has applied migrations that one does not know', async () => {
    await one.database.run(`INSERT INTO migrations (timestamp, name) VALUES (1, 'OfANewerLethe')`);
    const { data } = await new Client(other.url, OPERATOR_TOKEN).get('/operator/status');
    expect(data).toMatchObject({ migrations: { pending: [], unknown: ['OfANewerLethe'] } });
    await one.database.run(`DELETE FROM migrations WHERE name = 'OfANewerLethe'`);
  });
});
