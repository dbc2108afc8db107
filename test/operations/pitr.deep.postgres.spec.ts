import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bot } from '../support/bot';
import { CuttingProxy } from '../support/cutting-proxy';
import { databaseAt } from '../support/database';
import { digestsOf, storedIds } from '../support/digests';
import { expectFailure } from '../support/expected';
import { Installation, lasting } from '../support/installation';
import { canRunPostgres, type PostgresServer, PostgresServers } from '../support/postgres-servers';
import type { SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

// Point-in-time recovery: a base backup and the archived log, restored to a moment before an erasure.

const POINT = 'before_the_erasure';

(canRunPostgres() ? describe : describe.skip)('a base backup and the archived log', () => {
  const servers = new PostgresServers();
  const archive = servers.makeDirectory('archive');
  let live: PostgresServer;
  let restored: PostgresServer;
  let address: CuttingProxy;
  const lethe = lasting(
    new Installation({
      makeDatabase: async () => {
        live = await servers.create('live');
        await live.start('archive_mode=on', `archive_command=cp %p ${archive}/%f`);
        address = await CuttingProxy.before(live.url);
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
  let gone: SubjectIds;
  let requestId: string;
  /** From before the base backup, from after it, and from after the moment to which is restored. */
  const others: SubjectIds[] = [];

  /** How many rows each table about users has of one. */
  async function rowsOf(who: SubjectIds): Promise<number[]> {
    const ids = storedIds(await digestsOf(lethe.database, lethe.environment), bot.id, who);
    const counts: number[] = [];
    for (const table of ['subjects', 'consents', 'consent_history', 'user_data']) {
      const sql = `SELECT 1 FROM ${table} WHERE bot_id = ? AND guild_id = ? AND user_id = ?`;
      counts.push((await lethe.database.rows(sql, bot.id, ids.guild_id, ids.user_id)).length);
    }
    return counts;
  }

  /** Resolves when the log up to here is in the archive. */
  async function archived(): Promise<void> {
    const [file] = await live.rows<{ name: string }>('SELECT pg_walfile_name(pg_switch_wal()) AS name');
    const last = `SELECT 1 FROM pg_stat_archiver WHERE last_archived_wal >= '${file?.name}'`;
    await until(async () => (await live.rows(last)).length > 0);
  }

  it('bring back a user who was erased after the moment to which they are restored', async () => {
    bot = await lethe.withBot({ webhook_url: 'http://127.0.0.1:8088/closed' });
    [gone, others[0]] = [await bot.hasUser(), await bot.hasUser()];
    restored = await servers.backupOf(live, 'restored');
    others[1] = await bot.hasUser();
    await live.rows(`SELECT pg_create_restore_point('${POINT}')`);
    requestId = await bot.hasForgotten(gone);
    others[2] = await bot.hasUser();
    expect(await lethe.admin('ledger:export', '--out', ledger())).toMatchObject({ code: 0 });
    await lethe.service.end();
    await archived();
    await live.kill();

    writeFileSync(join(restored.data, 'recovery.signal'), '');
    await restored.start(`restore_command=cp ${archive}/%f %p`, `recovery_target_name=${POINT}`);
    const paused = `SELECT 1 WHERE pg_get_wal_replay_pause_state() = 'paused'`;
    await until(async () => (await restored.rows(paused)).length > 0);
    address.leadTo(restored.url);
    await lethe.database.disconnect();
    expect(await rowsOf(gone)).not.toContain(0);
  });

  it('lead to no start and no command before the recovery has ended, and each says so', async () => {
    const refused = await lethe.admin('ledger:import', '--in', ledger());
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('standby or in recovery')]);
    await expect(lethe.service.start()).rejects.toThrow('Promote it, or correct DATABASE_URL');
    await restored.rows('SELECT pg_wal_replay_resume()');
    const primary = 'SELECT 1 WHERE NOT pg_is_in_recovery()';
    await until(async () => (await restored.rows(primary)).length > 0);
  });

  it('are followed by the ledger: it erases again before the service answers, and all others stay', async () => {
    expect((await lethe.admin('ledger:import', '--in', ledger())).stderr).toContain('1 erasure was added');
    await lethe.service.start();
    expect(await rowsOf(gone)).toEqual([0, 0, 0, 0]);
    const undestroyed = 'SELECT 1 FROM keys.erasure_ledger l JOIN keys.subject_keys k ON k.id = l.key_id';
    expect(await lethe.database.rows(undestroyed)).toEqual([]);
    expectFailure(await bot.export(gone), 404, 'not_found');
    const status = await bot.get(`/gdpr/forget-status/${requestId}`);
    expect(status.data).toMatchObject({ ...gone, status: 'completed', deleted_categories: ['profile'] });
    expect(await lethe.database.rows('SELECT event FROM webhook_deliveries')).toEqual([
      { event: 'user_forgotten' },
    ]);
    const exports = await Promise.all(others.map((who) => bot.export<{ data: object }>(who)));
    for (const [at, { user_id: value }] of others.slice(0, 2).entries())
      expect(exports[at]?.data.data).toEqual({ profile: { value } });
    // What came after the moment is lost.
    expect(exports[2]?.status).toBe(404);
    await lethe.sealed();
    expect(await lethe.admin('audit:verify')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Every log is what was sealed') as string,
    });
  });
});
