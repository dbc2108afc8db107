import { Bot, field } from '../support/bot';
import { useBuild } from '../support/build';
import type { ChildService } from '../support/child-service';
import { type Answer, Client } from '../support/client';
import { CuttingProxy } from '../support/cutting-proxy';
import { databaseAt } from '../support/database';
import { Installation, lasting } from '../support/installation';
import { Life } from '../support/lives';
import { canRunPostgres, type PostgresServer, PostgresServers } from '../support/postgres-servers';
import { useReceiver } from '../support/receiver';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

// A primary and its synchronous standby behind one address, which a forwarder of the test leads to one of them.

const WRITERS = 6;
/** The acts that are acknowledged before the primary is killed, and again after it. */
const ACTS = 90;
/** One user's acts are fewer than a page of the audit log. */
const ACTS_OF_A_LIFE = 25;
/** What a 503 says about the act. */
const TOLD =
  /nothing was changed, try again|look whether it took effect|on record and will be finished|part of it is done/;

(canRunPostgres() ? describe : describe.skip)('a primary and its synchronous standby', () => {
  const receiver = useReceiver();
  const servers = new PostgresServers();
  let primary: PostgresServer;
  let standby: PostgresServer;
  let address: CuttingProxy;
  const lethe = lasting(
    new Installation({
      build: useBuild(),
      settings: {
        LETHE_MASTER_KEY: Buffer.alloc(32, 'over').toString('base64'),
        WEBHOOK_TIMEOUT_MS: '15000',
        WEBHOOK_CONNECT_TIMEOUT_MS: '15000',
        WEBHOOK_RETRY_SCHEDULE: '1s,1s,1s,1s,1s,1s,1s,1s',
        LOG_LEVEL: 'fatal',
      },
      makeDatabase: async () => {
        primary = await (await servers.create('primary')).start();
        standby = await (await servers.backupOf(primary, 'standby', '-R')).start();
        // Before its standby is there, a primary that waits for one commits nothing.
        await primary.rows(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
        await primary.rows('SELECT pg_reload_conf()');
        await isSynchronous();
        address = await CuttingProxy.before(primary.url);
        return databaseAt(address.url);
      },
    }),
  );
  let service: ChildService;
  let bot: Bot;
  beforeAll(async () => {
    service = await lethe.child().start();
    bot = await Bot.register(service.url, { webhook_url: receiver.url });
    await bot.hasCategory('profile', [field('turn', 'number')]);
  });
  afterAll(async () => {
    await address?.close();
    await servers.remove();
  });

  function isSynchronous(): Promise<void> {
    const sync = `SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`;
    return until(async () => (await primary.rows(sync)).length === 1);
  }
  const readiness = (): Promise<Answer> => new Client(service.url).send('GET', '/health/ready');
  const untilReady = (): Promise<void> => service.untilOf(async () => (await readiness()).status === 200);

  function expectUnavailable(answers: readonly Answer<unknown>[], message = TOLD): void {
    for (const { status, text } of answers)
      expect({ status, text }).toEqual({ status: 503, text: expect.stringMatching(message) as string });
  }

  it('while the address leads to the standby each request is answered 503, and all go on when it leads to the primary', async () => {
    const who = subject();
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { turn: 1 });
    const submits = (turn: number): Promise<Answer[]> =>
      Promise.all(
        Array.from({ length: 12 }, () =>
          bot.post('/data/submit', { ...who, category: 'profile', data: { turn } }),
        ),
      );
    const others = () =>
      Promise.all([
        bot.export(who),
        bot.status(who),
        bot.get('/audit/events'),
        bot.post('/gdpr/forget-user', who),
      ]);

    address.leadTo(standby.url);
    address.cutAll();
    await service.untilOf(async () => (await readiness()).text.includes('The database is a standby'));
    expectUnavailable([...(await submits(2)), ...(await others())]);
    const { code, stderr } = await lethe.child().refused();
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('is a standby or in recovery and can only be read'),
    ]);

    // No connection is cut: none that leads to the standby was kept.
    address.leadTo(primary.url);
    await untilReady();
    expect((await bot.export<{ data: object }>(who)).data.data).toEqual({ profile: { turn: 1 } });
    for (const { status } of await submits(3)) expect(status).toBe(200);
    expect(await bot.eventTypes(who)).not.toContain('deletion_requested');
  });

  it('a commit whose wait for the standby is cancelled is not acknowledged', async () => {
    const who = subject();
    await bot.hasConsent(who);
    await standby.kill();
    const answer = bot.post('/data/submit', { ...who, category: 'profile', data: { turn: 1 } });
    const waiting = `FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'COMMIT'`;
    let isAnswered = false;
    void answer.then(() => (isAnswered = true));
    await service.untilOf(async () => {
      await primary.rows(`SELECT pg_cancel_backend(pid) ${waiting}`);
      return isAnswered;
    });
    expectUnavailable([await answer], /look whether it took effect/);
    await standby.start();
    await isSynchronous();
    expect((await bot.export<{ data: object }>(who)).data.data).toEqual({ profile: { turn: 1 } });
  });

  /** Users whose acts are sent until `hasEnded`, and what they were refused with. */
  const lives: Life[] = [];
  const refusals: string[] = [];
  let acknowledged = 0;

  async function write(hasEnded: () => boolean): Promise<void> {
    while (!hasEnded()) {
      const life = new Life(bot);
      lives.push(life);
      try {
        for (let count = 0; count < ACTS_OF_A_LIFE && !hasEnded(); count++) {
          await life.act();
          acknowledged++;
        }
      } catch (error) {
        refusals.push(String(error));
        await untilReady();
      }
    }
  }

  const erasures = (): string[] => lives.flatMap((life) => life.erasures);

  it('a primary that is killed under load loses nothing that was acknowledged, and the service goes on with the promoted standby', async () => {
    let goal = Infinity;
    const writers = Promise.all(Array.from({ length: WRITERS }, () => write(() => acknowledged >= goal)));
    await Promise.race([writers, until(() => acknowledged >= ACTS && erasures().length >= WRITERS)]);

    await primary.kill();
    const who = lives[0]?.who ?? { user_id: '', guild_id: '' };
    // What it says depends on when the lost connections are noticed.
    expect((await readiness()).status).toBe(503);
    expectUnavailable([
      await bot.post('/consents/request', { ...who, consent_version: '1' }),
      await bot.export(who),
      await bot.status(who),
      await bot.post('/gdpr/forget-user', who),
    ]);
    await standby.promote();
    address.leadTo(standby.url);
    await untilReady();
    goal = acknowledged + ACTS;
    await writers;

    expect(refusals.length).toBeGreaterThan(0);
    for (const refusal of refusals) expect(refusal).toMatch(/^Error: refused: 503 /);
    for (const refusal of refusals) expect(refusal).toMatch(TOLD);
  });

  it('every acknowledged act is there, and what was erased is erased to the end', async () => {
    const left = `FROM deletion_requests WHERE status = 'processing'`;
    await service.untilOf(async () => (await lethe.database.rows(`SELECT 1 ${left}`)).length === 0);
    const differences = await Promise.all(lives.map((life) => life.differences()));
    expect(differences.flat()).toEqual([]);
    const ledger = await lethe.database.rows<{ request_id: string }>(
      'SELECT request_id FROM keys.erasure_ledger',
    );
    expect(ledger.map((entry) => entry.request_id)).toEqual(expect.arrayContaining(erasures()));
    const undestroyed = 'SELECT 1 FROM keys.erasure_ledger l JOIN keys.subject_keys k ON k.id = l.key_id';
    expect(await lethe.database.rows(undestroyed)).toEqual([]);
  });

  it('every webhook call is delivered', async () => {
    const pending = `SELECT 1 FROM webhook_deliveries WHERE status = 'pending'`;
    await service.untilOf(async () => (await lethe.database.rows(pending)).length === 0);
    const told = receiver.calls.map(({ body }) => body['request_id']);
    expect(told).toEqual(expect.arrayContaining(erasures()));
  });

  it('the audit log is what was sealed', async () => {
    await lethe.sealed();
    expect(await lethe.admin('audit:verify')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Every log is what was sealed') as string,
    });
  });
});
