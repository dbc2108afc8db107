import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KeyRewrite } from '@app/crypto';
import { LeaseLost, UnitOfWork } from '@app/database';
import { ErasureLedger, KeyRewriteJob } from '@app/gdpr';
import { useRewriting } from '../support/key-rewrites';
import { subject, type SubjectIds } from '../support/snowflakes';
import { tracesOf } from '../support/traces';

const TABLES = ['keys.subject_keys_a', 'keys.subject_keys_b'];

const on = useRewriting();

/** The tables of the keys whose file contains one of the needles. */
async function tablesWith(needles: readonly Buffer[]): Promise<string[]> {
  await on.service.database.run('CHECKPOINT');
  const paths = `SELECT current_setting('data_directory') AS directory, pg_relation_filepath(?) AS path`;
  const found: string[] = [];
  for (const table of TABLES) {
    const [row] = await on.service.database.rows<{ directory: string; path: string }>(paths, table);
    const content = readFileSync(join(row!.directory, row!.path));
    if (needles.some((needle) => content.includes(needle))) found.push(table);
  }
  return found;
}

const value = async (who: SubjectIds): Promise<unknown> => (await on.bot.export(who)).data['data'];

describe('a rewrite of the tables of the keys', () => {
  it('removes destroyed keys from their files, and only then an erasure is unrecoverable', async () => {
    const [erased, living] = [subject(), subject()];
    await on.stores(erased);
    await on.stores(living);
    const { wrapped } = await tracesOf(on.service, on.bot.id, erased);
    expect(await tablesWith(wrapped)).toStrictEqual(['keys.subject_keys_a']);
    const { request_id: id, completed_at: completedAt } = await on.forgets(erased);
    expect(await tablesWith(wrapped)).toStrictEqual(['keys.subject_keys_a']);
    expect(await on.unrecoverableAt(id)).toBeNull();
    await on.rewriteFor(id);
    expect(await tablesWith(wrapped)).toStrictEqual([]);
    expect(await on.left()).toStrictEqual([]);
    const at = await on.unrecoverableAt(id);
    expect(Date.parse(at!)).toBeGreaterThanOrEqual(Date.parse(completedAt));
    expect(await tablesWith((await tracesOf(on.service, on.bot.id, living)).wrapped)).toStrictEqual([
      'keys.subject_keys_b',
    ]);
    expect(await value(living)).toMatchObject({ profile: { value: 'a value' } });
  });

  it('moves the keys to and fro, and changes nothing where no key was destroyed', async () => {
    const others = Array.from({ length: 5 }, () => subject());
    for (const who of others) await on.stores(who);
    const count = async (table: string): Promise<number> =>
      (await on.service.database.rows(`SELECT 1 FROM ${table}`)).length;
    for (const [full, empty] of [TABLES, [...TABLES].reverse()]) {
      await on.rewrite();
      expect([await count(full!), await count(empty!)]).toStrictEqual([others.length, 0]);
      const who = subject();
      await on.stores(who);
      const { request_id: id } = await on.forgets(who);
      await on.rewriteFor(id);
      expect([await count(full!), await count(empty!)]).toStrictEqual([0, others.length]);
      expect(await on.unrecoverableAt(id)).not.toBeNull();
    }
    for (const who of others) expect(await value(who)).toMatchObject({ profile: { value: 'a value' } });
  });

  it('waits for every snapshot that could still read the key', async () => {
    const who = subject();
    await on.stores(who);
    const { wrapped } = await tracesOf(on.service, on.bot.id, who);
    const reader = await on.connected();
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await reader.query('SELECT 1');
    const { request_id: id } = await on.forgets(who);
    await on.rewrite();
    expect(await on.unrecoverableAt(id)).toBeNull();
    expect(await tablesWith(wrapped)).not.toStrictEqual([]);
    await reader.query('COMMIT');
    await reader.end();
    await on.rewriteFor(id);
    expect(await on.unrecoverableAt(id)).not.toBeNull();
    expect(await tablesWith(wrapped)).toStrictEqual([]);
  });

  it('does not vouch for a key that was destroyed while it ran', async () => {
    const [first, second] = [subject(), subject()];
    await on.stores(first);
    await on.stores(second);
    const { wrapped } = await tracesOf(on.service, on.bot.id, second);
    const { request_id: early } = await on.forgets(first);
    const remove = jest.spyOn(on.get(KeyRewrite), 'removeFile');
    let late = '';
    remove.mockImplementationOnce(async (lease, from) => {
      late = (await on.forgets(second)).request_id;
      remove.mockRestore();
      return on.get(KeyRewrite).removeFile(lease, from, new AbortController().signal);
    });
    await on.rewriteFor(early);
    expect(await on.unrecoverableAt(late)).toBeNull();
    expect(await tablesWith(wrapped)).toStrictEqual(['keys.subject_keys_b']);
    await on.rewriteFor(late);
    expect(await on.unrecoverableAt(late)).not.toBeNull();
    expect(await tablesWith(wrapped)).toStrictEqual([]);
  });

  it('is continued by another process from any point at which it ends', async () => {
    const { request_id: id } = await erasedOne();
    const stopped = new AbortController();
    const move = jest.spyOn(on.get(KeyRewrite), 'move').mockImplementationOnce(async () => {
      stopped.abort();
      return 25;
    });
    await on.rewrite(stopped.signal);
    move.mockRestore();
    expect(await on.unrecoverableAt(id)).toBeNull();
    const taken = await on.lease();
    const taker = await on.service.database.rows(
      'UPDATE job_leases SET locked_by = ? RETURNING name',
      'another',
    );
    expect(taker).not.toStrictEqual([]);
    await expect(on.get(KeyRewriteJob).run(taken, new AbortController().signal)).rejects.toThrow(LeaseLost);
    await on.service.database.run('DELETE FROM job_leases');
    await on.rewriteFor(id);
    expect(await on.unrecoverableAt(id)).not.toBeNull();
    expect(await on.left()).toStrictEqual([]);
  });

  it('records erasures of which nothing was held at their completion', async () => {
    const { request_id: id, completed_at: completedAt } = await on.forgets(subject());
    const { request_id: keyed } = await erasedOne();
    await on.rewriteFor(keyed);
    expect(await on.unrecoverableAt(keyed)).not.toBeNull();
    expect(completedAt).toMatch(/Z$/);
    expect(await on.unrecoverableAt(id)).not.toBeNull();
  });

  async function erasedOne() {
    const who = subject();
    await on.stores(who);
    await on.stores(subject());
    return on.forgets(who);
  }
});

describe('what a rewrite leaves', () => {
  it('is no key in the statistics of a column, and no plan that scans the tables', async () => {
    for (let count = 0; count < 8; count++) await on.stores(subject());
    for (let round = 0; round < 2; round++) {
      const who = subject();
      await on.stores(who);
      const { request_id: id } = await on.forgets(who);
      await on.rewriteFor(id);
      await on.service.database.run('ANALYZE');
    }
    const statistics = `SELECT attname, tablename FROM pg_stats WHERE tablename LIKE 'subject_keys__'`;
    expect(await on.service.database.rows(statistics)).not.toContainEqual(
      expect.objectContaining({ attname: 'sealed' }),
    );
    const client = await on.connected();
    await client.query('SET plan_cache_mode = force_generic_plan');
    const find = `PREPARE find (text) AS SELECT sealed FROM keys.subject_keys WHERE id = $1`;
    await client.query(find);
    const plan = async (): Promise<string> =>
      JSON.stringify((await client.query(`EXPLAIN (FORMAT JSON) EXECUTE find('x')`)).rows);
    expect(await plan()).toContain('Seq Scan');
    const who = subject();
    await on.stores(who);
    await on.forgets(who);
    await on.get(UnitOfWork).write((tx) => on.get(KeyRewrite).begin(tx));
    expect(await plan()).toMatch(/Seq Scan.*Index Scan|Index Scan.*Seq Scan|Index Scan.*Index Scan/);
    await client.end();
  });
});

describe('every completed erasure whose key is in no file', () => {
  const without = 'UPDATE deletion_requests SET unrecoverable_at = NULL';

  it('gets its time, also after a restore of older data beside the present keys', async () => {
    const who = subject();
    await on.stores(who);
    const { request_id: id } = await on.forgets(who);
    await on.rewriteFor(id);
    await on.service.database.run(without);
    await on.rewriteFor(id);
    expect(await on.unrecoverableAt(id)).not.toBeNull();
  });

  it('gets it while other keys wait, but not while its own is stored', async () => {
    const [who, other] = [subject(), subject()];
    await on.stores(who);
    await on.stores(other);
    const { request_id: id } = await on.forgets(who);
    await on.rewrite();
    await on.service.database.run(without);
    const restored = 'INSERT INTO keys.subject_keys (id, sealed) SELECT key_id, ? FROM deletion_requests';
    await on.service.database.run(restored, 'a restored key');
    await on.rewrite();
    expect(await on.unrecoverableAt(id)).toBeNull();
  });

  it('loses it with its certificate when the key was restored and is destroyed again', async () => {
    const who = subject();
    await on.stores(who);
    const { request_id: id } = await on.forgets(who);
    await on.rewriteFor(id);
    const first = await on.unrecoverableAt(id);
    await on.bot.get(`/gdpr/forget-status/${id}/certificate`);
    const ledger = on.get(ErasureLedger);
    let file = '';
    for await (const piece of ledger.pieces()) file += piece;
    const restored = 'INSERT INTO keys.subject_keys (id, sealed) SELECT key_id, ? FROM deletion_requests';
    await on.service.database.run(restored, 'a restored key');

    await ledger.merge(async function* () {
      yield* file.trimEnd().split('\n');
    });
    expect(await on.unrecoverableAt(id)).toBeNull();
    await on.rewriteFor(id);
    expect(Date.parse((await on.unrecoverableAt(id))!)).toBeGreaterThan(Date.parse(first!));
  });
});

describe('the certificate of an erasure', () => {
  const payloadOf = (jws: string): { unrecoverable_at: string | null } =>
    JSON.parse(Buffer.from(jws.split('.')[1]!, 'base64url').toString()) as never;

  it('names the time, and is kept from then on', async () => {
    const who = subject();
    await on.stores(who);
    const { request_id: id } = await on.forgets(who);
    const certificate = async () =>
      (await on.bot.get<{ certificate: string }>(`/gdpr/forget-status/${id}/certificate`)).data.certificate;
    expect(payloadOf(await certificate()).unrecoverable_at).toBeNull();
    await on.rewriteFor(id);
    const kept = await certificate();
    expect(payloadOf(kept).unrecoverable_at).toBe(await on.unrecoverableAt(id));
    expect(await certificate()).toBe(kept);
  });
});
