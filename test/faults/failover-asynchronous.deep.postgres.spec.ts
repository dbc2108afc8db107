import { join } from 'node:path';
import type { Bot } from '../support/bot';
import { CuttingProxy } from '../support/cutting-proxy';
import { databaseAt } from '../support/database';
import { expectFailure } from '../support/expected';
import { Installation, lasting } from '../support/installation';
import { canRunPostgres, type PostgresServer, PostgresServers } from '../support/postgres-servers';
import type { SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

// The standby lacks the last moments of the primary, as docs/operate.md says of asynchronous replication.

(canRunPostgres() ? describe : describe.skip)('a primary and its asynchronous standby', () => {
  const servers = new PostgresServers();
  let primary: PostgresServer;
  let standby: PostgresServer;
  let address: CuttingProxy;
  const lethe = lasting(
    new Installation({
      makeDatabase: async () => {
        primary = await (await servers.create('primary')).start();
        standby = await (await servers.backupOf(primary, 'standby', '-R')).start();
        address = await CuttingProxy.before(primary.url);
        return databaseAt(address.url);
      },
    }),
  );
  afterAll(async () => {
    await address?.close();
    await servers.remove();
  });

  const ledger = (): string => join(lethe.directory, 'ledger.ndjson');
  let bot: Bot;
  let erased: SubjectIds;
  let revoked: SubjectIds;
  let requestId: string;
  let checkpoint: string;

  /** Resolves when the standby has all that is written so far. */
  async function isCaughtUp(): Promise<void> {
    const [here] = await primary.rows<{ lsn: string }>('SELECT pg_current_wal_lsn() AS lsn');
    const reached = `SELECT 1 FROM pg_stat_replication WHERE replay_lsn >= '${here?.lsn}'`;
    await until(async () => (await primary.rows(reached)).length === 1);
  }

  async function checkpoints(): Promise<string[]> {
    type Page = { checkpoints: { checkpoint: string }[] };
    return (await bot.get<Page>('/audit/checkpoints')).data.checkpoints.map((one) => one.checkpoint);
  }

  it('acknowledges what the standby has not got', async () => {
    bot = await lethe.withBot();
    [erased, revoked] = [await bot.hasUser(), await bot.hasUser()];
    await isCaughtUp();
    await standby.kill();

    requestId = await bot.hasForgotten(erased);
    await bot.hasRevoked(revoked);
    expect(await lethe.admin('ledger:export', '--out', ledger())).toMatchObject({ code: 0 });
    await lethe.sealed();
    checkpoint = (await checkpoints())[0] ?? '';
    expect(checkpoint).not.toBe('');
    await primary.kill();
  });

  it('has lost it after the failover, and the service goes on with the promoted standby', async () => {
    await standby.start();
    await standby.promote();
    address.leadTo(standby.url);
    await until(async () => (await bot.status(revoked)).status === 200);
    await lethe.database.disconnect();

    const { data } = await bot.export<{ data: object }>(erased);
    expect(data.data).toEqual({ profile: { value: erased.user_id } });
    expectFailure(await bot.get(`/gdpr/forget-status/${requestId}`), 404, 'not_found');
    expect((await bot.status(revoked)).data).toMatchObject({ status: 'accepted' });
    await bot.hasData(revoked, 'profile', { value: 'b' });
    await lethe.sealed();
    expect(await checkpoints()).not.toContain(checkpoint);
  });

  it('erases again by the ledger that was exported before, and only that', async () => {
    await lethe.service.end();
    expect((await lethe.admin('ledger:import', '--in', ledger())).stderr).toContain('1 erasure was added');
    await lethe.service.start();
    expectFailure(await bot.export(erased), 404, 'not_found');
    const request = await bot.get(`/gdpr/forget-status/${requestId}`);
    expect(request.data).toMatchObject({ ...erased, status: 'completed', deleted_categories: ['profile'] });
    expect((await bot.status(revoked)).data).toMatchObject({ status: 'accepted' });
    await lethe.sealed();
    expect(await lethe.admin('audit:verify')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Every log is what was sealed') as string,
    });
  });
});
