import { type Bot, field } from '../support/bot';
import { Client, PREFIX } from '../support/client';
import { engine } from '../support/database';
import { rawRequest } from '../support/raw-socket';
import { useReceiver } from '../support/receiver';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';

import { JobRunner, keysPath, SqliteDatabase, UnitOfWork } from '@app/database';
import { OwnError } from '@app/kernel';
import { SubjectDataHolders } from '@app/crypto';

const receiver = useReceiver();
const service = useServiceInProcess();

/** One line of the log. */
interface Line {
  readonly [name: string]: unknown;
}
const lines = () => service.logLines.map((line) => JSON.parse(line) as Line);

/** The whole life of a bot with all possible errors. */
async function live(bot: Bot): Promise<string[]> {
  const who = subject();
  const [value, details, label, server] = ['marker-value', 'marker-details', 'marker-label', 'marker-server'];
  await bot.post('/servers/register', { guild_id: who.guild_id, name: server });
  await bot.hasCategory('profile', [field('value')], { label_en: label });
  await bot.hasConsent(who);
  await bot.hasData(who, 'profile', { value });
  await bot.post('/audit/event', { ...who, event_type: 'data_exported', details: { text: details } });
  await bot.export(who);
  await bot.export(who, '&format=full');
  await bot.get(`/audit/events?user_id=${who.user_id}`);
  await bot.post('/data/submit', { ...who, category: 'profile', data: { wrong: value } });
  await bot.post('/data/submit', { ...who, category: 'profile', data: { value: 1 } });
  await bot.send('POST', `${PREFIX}/data/submit`, {
    headers: { 'content-type': 'application/json' },
    raw: `{"${value}`,
  });
  await bot.get(`/nothing/${who.user_id}?user=${who.user_id}`);
  await bot.get(`/data/export/${who.user_id}`);
  await bot.get(`/consents/status?user_id=${who.user_id}&user_id=${who.user_id}`);
  await bot.send('GET', `/${who.user_id}`);
  await bot.get(`/servers?api_key=${bot.key}`);
  await bot.get(`/servers`, { 'x-request-id': `<${bot.key}>` });
  for (const id of [who.user_id, `user-${who.user_id}.1`]) await bot.get(`/servers`, { 'x-request-id': id });
  await new Client(service.url, `${bot.key}x`).get('/servers');
  await rawRequest(service.port, `GARBAGE ${bot.key} ${who.user_id}\r\n\r\n`);
  await bot.hasRevoked(who);
  const [holder] = service.app.get(SubjectDataHolders).all();
  if (holder === undefined) throw new Error('there is no holder');
  const fault = Object.assign(new Error(`fault with ${value}`), {
    query: 'SELECT ?',
    parameters: [who.user_id, value],
  });
  const broken = jest.spyOn(holder, 'erase').mockRejectedValueOnce(fault);
  await bot.post('/gdpr/forget-user', who);
  broken.mockRestore();
  await bot.hasForgotten(who);
  return [who.user_id, who.guild_id, value, details, label, server];
}

describe('the log', () => {
  it('holds no key, secret, id of a user or guild, or value of a whole life', async () => {
    const bot = await service.registerBot({
      webhook_url: receiver.url,
      privacy_contact: 'marker@example.org',
    });
    const markers = await live(bot);
    await receiver.received(2);
    await bot.delete(`/bots/${bot.id}`);
    const log = service.logLines.join('');
    expect(service.logLines.length).toBeGreaterThan(20);
    const secrets = [
      bot.key,
      bot.key.slice(8, 30),
      bot.webhookSecret,
      bot.webhookSecret.slice(6, 20),
      'marker@example.org',
    ];
    for (const secret of [...secrets, ...markers]) expect(log).not.toContain(secret);
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
