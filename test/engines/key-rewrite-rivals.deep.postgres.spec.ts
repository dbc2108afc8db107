import { KeyRewrite, Keyring } from '@app/crypto';
import { type Lease, LeaseLost, UnitOfWork } from '@app/database';
import { KeyRewriteJob } from '@app/gdpr';
import type { Client } from 'pg';
import { useRewriting } from '../support/key-rewrites';
import { Service } from '../support/service';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

const on = useRewriting();
afterEach(() => jest.restoreAllMocks());

describe('beside a rewrite', () => {
  /** A unit that moves all keys, held open until `act` waits for it. */
  async function whileMoving(act: () => Promise<unknown>): Promise<void> {
    await on.get(UnitOfWork).write((tx) => on.get(KeyRewrite).begin(tx));
    let acting: Promise<unknown> | undefined;
    await on.get(UnitOfWork).write(async (tx) => {
      const from = await on.get(KeyRewrite).begin(tx);
      await on.get(KeyRewrite).move(tx, from!, 0);
      acting = act();
      await waitsForALock();
    });
    await acting;
  }

  async function rewrittenOnce(): Promise<void> {
    const earlier = subject();
    await on.stores(earlier);
    await on.rewriteFor((await on.forgets(earlier)).request_id);
  }

  async function waitsForALock(): Promise<void> {
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(async () => (await on.service.database.rows(waiting)).length > 0);
  }

  it.each(['first', 'second'])(
    'an erasure destroys a key that is on its way, in the %s direction',
    async (direction) => {
      if (direction === 'second') await rewrittenOnce();
      const [mover, who] = [subject(), subject()];
      await on.stores(mover);
      await on.stores(who);
      await on.forgets(mover);
      const { id } = (
        await on.service.database.rows<{ id: string }>(
          'SELECT key_id AS id FROM subjects WHERE user_id = ?',
          on.service.stored(on.bot, who).user_id,
        )
      )[0]!;
      await whileMoving(() => on.forgets(who));
      expect(
        await on.service.database.rows('SELECT 1 FROM keys.subject_keys WHERE id = ?', id),
      ).toStrictEqual([]);
      expect(await on.left()).toContainEqual({ id });
    },
  );

  it.each(['first', 'second'])(
    'a change of the master key replaces a text that is on its way, in the %s direction',
    async (direction) => {
      if (direction === 'second') await rewrittenOnce();
      const [gone, who] = [subject(), subject()];
      await on.stores(gone);
      await on.stores(who);
      await on.forgets(gone);
      const [before] = await on.service.database.rows<{ id: string; sealed: string }>(
        'SELECT * FROM keys.subject_keys',
      );
      const again = on
        .get(Keyring)
        .encrypt(
          on.get(Keyring).open(before!.sealed, `subject_keys/${before!.id}`),
          `subject_keys/${before!.id}`,
        );
      const beside = await on.connected();
      const replace = 'UPDATE keys.subject_keys SET sealed = $1 WHERE id = $2 AND sealed = $3';
      await whileMoving(() => beside.query(replace, [again, before!.id, before!.sealed]));
      await beside.end();
      expect(await on.service.database.rows('SELECT sealed FROM keys.subject_keys')).toStrictEqual([
        { sealed: again },
      ]);
    },
  );

  it('a key is added to the table that stays, also when its unit began before', async () => {
    await on.stores(subject());
    const gone = subject();
    await on.stores(gone);
    await on.forgets(gone);
    const adding = await on.connected();
    await adding.query('BEGIN');
    await adding.query(`INSERT INTO keys.subject_keys (id, sealed) VALUES ('early', 'x')`);
    await on.rewrite();
    expect(await on.service.database.rows('SELECT number FROM keys.key_rewrite')).toStrictEqual([
      { number: 0 },
    ]);
    await adding.query('COMMIT');
    await adding.end();
    await on.rewrite();
    expect(await on.service.database.rows('SELECT id FROM keys.subject_keys_a')).toStrictEqual([]);
    expect(await on.service.database.rows('SELECT id FROM keys.subject_keys_b')).toContainEqual({
      id: 'early',
    });
  });
});

const blocked = (query: string) =>
  on.service.database.rows(
    `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE ?`,
    query,
  );

describe('a rewrite that another process has taken over', () => {
  const isThere = () => on.service.database.rows(`SELECT id FROM keys.subject_keys_a WHERE id = 'late'`);

  /** A unit that adds a key to the first table once the end of a rewrite waits for it. */
  async function addingTo(ended: Promise<unknown>, adding: Client): Promise<void> {
    let hasEnded = false;
    void ended.catch(() => undefined).finally(() => (hasEnded = true));
    await until(async () => hasEnded || (await blocked('%TABLE keys.subject_keys_a%')).length === 1);
    await adding.query(`INSERT INTO keys.subject_keys (id, sealed) VALUES ('late', 'x')`);
    await adding.query('COMMIT');
  }

  async function begun(): Promise<Client> {
    jest.replaceProperty(on.get(KeyRewrite), 'lockMs', 3_600_000);
    const adding = await on.connected();
    await adding.query('BEGIN');
    return adding;
  }
  const hold = 'LOCK TABLE keys.subject_keys_a IN ROW EXCLUSIVE MODE';

  async function destroysOne(): Promise<string> {
    const who = subject();
    await on.stores(who);
    return (await on.forgets(who)).request_id;
  }

  it('empties no table to which keys are added again', async () => {
    const adding = await begun();
    const first = await destroysOne();
    const vacuum = jest.spyOn(on.get(UnitOfWork), 'vacuum').mockImplementationOnce(async () => {
      vacuum.mockRestore();
      // Another process ends this rewrite, and does the next one.
      await on.service.database.run('DELETE FROM job_leases');
      await on.rewriteFor(first);
      await on.rewriteFor(await destroysOne());
      await adding.query(hold);
      return undefined;
    });
    const late = on.get(KeyRewriteJob).run(await on.lease(), new AbortController().signal);
    await addingTo(late, adding);
    await expect(late).rejects.toThrow(LeaseLost);
    expect(await isThere()).toStrictEqual([{ id: 'late' }]);
  });

  it('looks for keys once more when no other unit can add one', async () => {
    const adding = await begun();
    await adding.query(hold);
    const lease: Pick<Lease, 'batch'> = { batch: (work) => on.get(UnitOfWork).write(work) };
    const removing = on.get(KeyRewrite).removeFile(lease, 'a', new AbortController().signal);
    await addingTo(removing, adding);
    expect(await removing).toBe(false);
    expect(await isThere()).toStrictEqual([{ id: 'late' }]);
  });
});

describe('on a busy server', () => {
  it('a rewrite ends although there is always a transaction that has read keys', async () => {
    // A reader that is stopped, as on a busy machine, is waited for.
    jest.replaceProperty(on.get(KeyRewrite), 'lockMs', 3_600_000);
    const who = subject();
    await on.stores(who);
    await on.stores(subject());
    const { request_id: id } = await on.forgets(who);
    const read = async (client: Client): Promise<void> => {
      await client.query('BEGIN');
      await client.query('SELECT sealed FROM keys.subject_keys LIMIT 1');
    };
    const readers = await Promise.all(Array.from({ length: 3 }, () => on.connected()));
    await read(readers[0]!);
    const rewriting = on.rewriteFor(id);
    // Both times the next reader comes before the earlier one has ended, and waits behind the rewrite.
    for (const [at, next] of readers.slice(1).entries()) {
      const waiting = at === 0 ? 'TRUNCATE%' : 'LOCK TABLE%';
      await until(async () => (await blocked(waiting)).length === 1);
      const reading = read(next);
      await until(async () => (await blocked('SELECT sealed%')).length === 1);
      await readers[at]!.query('COMMIT');
      await reading;
    }
    await rewriting;
    await readers[2]!.query('COMMIT');
    await Promise.all(readers.map((reader) => reader.end()));
    expect(await on.unrecoverableAt(id)).not.toBeNull();
  });

  it('a rewrite gives up where a transaction that has read keys goes on, and nobody waits behind it then', async () => {
    const who = subject();
    await on.stores(who);
    const { request_id: id } = await on.forgets(who);
    const reader = await on.connected();
    await reader.query('BEGIN');
    await reader.query('SELECT sealed FROM keys.subject_keys LIMIT 1');
    await on.rewrite();
    expect(await blocked('%')).toStrictEqual([]);
    await on.stores(subject());
    expect(await on.unrecoverableAt(id)).toBeNull();
    await reader.query('COMMIT');
    await reader.end();
    await on.rewriteFor(id);
    expect(await on.unrecoverableAt(id)).not.toBeNull();
  });

  it('a warning of the server at the connection stops no rewrite', async () => {
    const { database } = on.service;
    const name = new URL(database.url).pathname.slice(1);
    const [before] = await database.rows<{ datcollversion: string }>(
      'SELECT datcollversion FROM pg_database WHERE datname = current_database()',
    );
    const set = (version: string) =>
      database.run('UPDATE pg_database SET datcollversion = ? WHERE datname = ?', version, name);
    await set('0.1');
    try {
      const who = subject();
      await on.stores(who);
      const { request_id: id } = await on.forgets(who);
      await on.rewriteFor(id);
      expect(await on.unrecoverableAt(id)).not.toBeNull();
    } finally {
      await set(before!.datcollversion);
    }
  });
});

describe('a database user who does not own the tables', () => {
  it('removes no file: the run fails with the warning of the server, and no erasure becomes unrecoverable', async () => {
    const { database } = on.service;
    const role = `guest_${Date.now()}`;
    await database.run(`CREATE ROLE ${role} LOGIN PASSWORD 'guest'`);
    await database.run(`GRANT USAGE ON SCHEMA keys TO ${role}`);
    for (const schema of ['public', 'keys']) {
      await database.run(`GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${role}`);
      await database.run(`GRANT ALL ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role}`);
      await database.run(`REVOKE MAINTAIN ON ALL TABLES IN SCHEMA ${schema} FROM ${role}`);
    }
    const url = Object.assign(new URL(database.url), { username: role, password: 'guest' }).href;
    const guest = new Service({ JOBS: 'off', MIGRATE_ON_START: 'false', DATABASE_URL: url }, database);
    await guest.start();
    const who = subject();
    await on.stores(who);
    const { request_id: id } = await on.forgets(who);
    await expect(on.rewrite(undefined, guest.app.get(KeyRewriteJob, { strict: false }))).rejects.toThrow(
      'PostgreSQL did not vacuum keys.subject_keys_a: ',
    );
    expect(await on.unrecoverableAt(id)).toBeNull();
    await guest.app.close();
    await on.rewriteFor(id);
    expect(await on.unrecoverableAt(id)).not.toBeNull();
    await database.run(`DROP OWNED BY ${role}`);
    await database.run(`DROP ROLE ${role}`);
  });
});

describe('a service that ends while it vacuums', () => {
  it('does not wait for the end of the vacuum', async () => {
    const { database } = on.service;
    const table = 'keys.subject_keys_a';
    const stopping = new AbortController();
    await on.get(UnitOfWork).write(async (tx) => {
      // The vacuum waits for this lock.
      await tx.run(`LOCK TABLE ${table} IN SHARE UPDATE EXCLUSIVE MODE`);
      const vacuum = on.get(UnitOfWork).vacuum(table, stopping.signal);
      let hasEnded = false;
      void vacuum.catch(() => undefined).finally(() => (hasEnded = true));
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE query LIKE 'VACUUM%' AND wait_event_type = 'Lock'
        AND datname = current_database()`;
      await until(async () => (await database.rows(waiting)).length === 1);
      expect(hasEnded).toBe(false);
      stopping.abort();
      // Before the lock is released: the unit that holds it would reach its time limit before the vacuum does, and fail.
      await until(() => hasEnded);
    });
  });
});
