// npm run bench:partitions: appends, lists and retention of the audit log with other partitions than it has.
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { startServer } from '../scripts/server.mjs';
import { machine, markdownTable } from './docs.mjs';
import { LAYOUTS, lastOfFirstMonth } from './partitions.layouts.mjs';
import { endOfFirstMonth, eventRows, followingRows } from './partitions.seeds.mjs';
import { startPostgres } from './postgres.mjs';
import { median } from './statistics.mjs';
import { Tenant } from './tenant.mjs';

const require = createRequire(import.meta.url);
// One server after the other ends with this process.
process.setMaxListeners(50);
const { appendEvents } = require('../dist/libs/audit/src/audit.sql.js');
const { countOf, eventsOf, pageOf } = require('../dist/libs/audit/src/audit.reading.js');
const { firstEvent } = require('../dist/libs/audit/src/audit-queries.js');
const { lowerCounts } = require('../dist/libs/audit/src/audit-counts.js');
const { AuditPruning } = require('../dist/libs/sealing/src/audit-pruning.js');
const { PostgresTx } = require('../dist/libs/database/src/postgres.tx.js');

const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    layouts: { type: 'string', default: Object.keys(LAYOUTS).join(',') },
    bots: { type: 'string', default: '100' },
  },
});
const FLAGS = {
  ...{ shared_buffers: '1GB', max_wal_size: '8GB', checkpoint_timeout: '15min', random_page_cost: '1.1' },
  ...{ maintenance_work_mem: '1GB', work_mem: '256MB', max_parallel_workers_per_gather: '0' },
  // The fill writes no log of its own. VACUUM runs where it is measured.
  ...{ wal_level: 'minimal', max_wal_senders: '0', autovacuum: 'off' },
};
// As the service reads them.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const CONNECTED = { isPooled: false, isOnStandby: false };
const APPENDED = 64;
const ROUNDS = 30;

function progress(text) {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}

async function timed(work) {
  const begunMs = performance.now();
  const answer = await work();
  return { ms: performance.now() - begunMs, answer };
}

async function medianOf(work, rounds = ROUNDS) {
  const times = [];
  for (let round = 0; round < rounds + 5; round++) times.push((await timed(work)).ms);
  return median(times.slice(5));
}

/** A database with the schema of the service, its log in one of the layouts. */
class Log {
  constructor(client, events) {
    Object.assign(this, { client, events });
  }

  static async filled(server, layout, events) {
    const url = await server.createDatabase(`log_${layout.toLowerCase()}_${events}`);
    const environment = {
      RATE_LIMIT_ANONYMOUS: '100000000',
      LETHE_MASTER_KEY: randomBytes(32).toString('base64'),
    };
    const lethe = await startServer({ environment: { ...environment, DATABASE_URL: url } });
    for (let bot = 0; bot < Number(options.bots); bot++)
      await Tenant.register(lethe.url, 0, { platform_bot_id: String(987654321098765432n + BigInt(bot)) });
    await lethe.stop();
    // A server that is stopped after an error reports it once more on the connection.
    const client = new pg.Client(url).on('error', () => undefined);
    await client.connect();
    await client.query("SET plan_cache_mode = 'force_generic_plan'; SET timezone = 'UTC'; SET jit = off");
    const log = new Log(client, events);
    for (const sql of LAYOUTS[layout].build(events)) await client.query(sql);
    await log.fill();
    return log;
  }

  /** Indices are built at once, behind the rows. */
  async fill() {
    const indices = await this.rows(
      `SELECT pg_get_indexdef(indexrelid) AS sql, indexrelid::regclass::text AS name, indisprimary AS primary
       FROM pg_index WHERE indrelid = 'audit_events'::regclass`,
    );
    await this.client.query('SET session_replication_role = replica; BEGIN; TRUNCATE audit_events');
    for (const { name, primary } of indices)
      await this.client.query(
        primary ? `ALTER TABLE audit_events DROP CONSTRAINT ${name}` : `DROP INDEX ${name}`,
      );
    await this.client.query(eventRows(this.events));
    await this.client.query(
      'ALTER TABLE audit_events ADD CONSTRAINT pk_audit_events PRIMARY KEY (bot_id, seq)',
    );
    for (const { sql, primary } of indices)
      if (!primary) await this.client.query(sql.replace(' ON ONLY ', ' ON '));
    await this.client.query('COMMIT');
    for (const sql of followingRows(this.events)) await this.client.query(sql);
    await this.client.query('SET session_replication_role = origin');
    await this.client.query('VACUUM ANALYZE');
    await this.client.query('CHECKPOINT');
  }

  async rows(sql) {
    return (await this.client.query(sql)).rows;
  }

  async number(sql) {
    return Number(Object.values((await this.rows(sql))[0])[0]);
  }

  bytes() {
    return this.number(`SELECT SUM(pg_total_relation_size(relid)) FROM pg_partition_tree('audit_events')`);
  }

  written() {
    return this.number(`SELECT pg_current_wal_insert_lsn() - '0/0'`);
  }

  /** A unit of the service. */
  async unit(work) {
    await this.client.query('BEGIN');
    const answer = await work(new PostgresTx(this.client, undefined, CONNECTED));
    await this.client.query('COMMIT');
    return answer;
  }

  async event() {
    const [found] = await this.rows(
      `SELECT bot_id, guild_id, user_id FROM audit_events WHERE seq = ${Math.floor(this.events / 2)}`,
    );
    return found;
  }
}

async function appends(log) {
  const bots = await log.rows('SELECT id FROM bots');
  const subject = (n) => ({ botId: bots[n % bots.length].id, guildId: `guild${n % 20}`, userId: `user${n}` });
  let n = 0;
  const one = () => ({
    ...{ subject: subject(n++ * 7919), id: randomUUID(), type: 'data_submitted', source: 'service' },
    ...{ details: `v1.${'A'.repeat(70)}`, createdAt: new Date().toISOString() },
  });
  const before = await log.written();
  const ms = await medianOf(() => log.unit((tx) => appendEvents(tx, Array.from({ length: APPENDED }, one))));
  return { 'append 64 events, ms': ms, 'its log, kB an event': ((await log.written()) - before) / n / 1000 };
}

async function lists(log) {
  const { bot_id: bot, guild_id: guild, user_id: user } = await log.event();
  const filter = (columns, ...values) => ({ columns, values: [bot, ...values] });
  const all = filter([]);
  const ofUser = filter(['user_id'], user);
  const deep = Math.min(50_000, Math.floor(log.events / 200));
  const reads = {
    'page 1 of 20': (tx) => pageOf(tx, all, 20, 0),
    'page 1, a guild and a type': (tx) =>
      pageOf(tx, filter(['guild_id', 'event_type'], guild, 'data_submitted'), 20, 0),
    'page 1 of a user': (tx) => pageOf(tx, ofUser, 20, 0),
    'total of a user': (tx) => countOf(tx, ofUser),
    [`a page behind ${deep.toLocaleString('en-US')} events`]: (tx) => pageOf(tx, all, 20, deep),
    'export of a user': (tx) => eventsOf(tx, filter(['user_id', 'guild_id'], user, guild), 0, 500),
    '500 events to seal': (tx) => eventsOf(tx, all, Math.floor(log.events / 2), 500),
  };
  const found = {};
  for (const [title, read] of Object.entries(reads))
    found[`${title}, ms`] = await medianOf(() => log.unit((tx) => read(tx)));
  found['locks held by page 1'] = await log.unit(async (tx) => {
    await reads['page 1 of 20'](tx);
    return log.number('SELECT COUNT(*) FROM pg_locks WHERE pid = pg_backend_pid()');
  });
  return found;
}

/** What the job does for every bot: signed statements as long as real ones, in the units of the service. */
async function byService(log) {
  const unitOfWork = { read: (work) => log.unit(work) };
  const signer = { sign: async () => 'x'.repeat(600) };
  const clock = { nowIso: () => new Date().toISOString() };
  const pruning = new AuditPruning(unitOfWork, signer, clock);
  const lease = { batch: (work) => log.unit(work) };
  let removed = 0;
  for (const { id } of await log.rows('SELECT id FROM bots'))
    removed += await pruning.pruneBefore(lease, id, endOfFirstMonth(log.events));
  return removed;
}

/** The same statement and counts for every bot, and then its events by the end of their partition. */
async function byPartition(log, partitions) {
  const removed = await log.number(
    `SELECT COUNT(*) FROM audit_events WHERE seq <= ${lastOfFirstMonth(log.events)}`,
  );
  for (const { bot_id: bot, number, last_seq: last } of await log.rows('SELECT * FROM audit_heads')) {
    await log.unit(async (tx) => {
      await tx.run(
        'UPDATE audit_heads SET pruned_number = ?, pruning = ? WHERE bot_id = ?',
        number,
        'x'.repeat(600),
        bot,
      );
      await tx.run('DELETE FROM audit_batches WHERE bot_id = ? AND number <= ?', bot, number);
      await lowerCounts(tx, bot, Number(last));
    });
  }
  const dropped = await timed(() =>
    log.unit(async () => {
      await log.client.query(`DROP TABLE ${partitions.join(', ')}`);
      log.locks = await log.rows(
        `SELECT DISTINCT regexp_replace(relname, '_p\\d+$', '_pNN') AS name FROM pg_locks
           JOIN pg_class ON pg_class.oid = relation AND relkind IN ('r', 'p')
         WHERE pid = pg_backend_pid() AND mode = 'AccessExclusiveLock' ORDER BY 1`,
      );
    }),
  );
  return { removed, dropped };
}

async function retention(log, layout) {
  const partitions = LAYOUTS[layout].oldest();
  const [bytes, wal] = [await log.bytes(), await log.written()];
  const { ms, answer } = await timed(() =>
    partitions.length === 0 ? byService(log) : byPartition(log, partitions),
  );
  const written = (await log.written()) - wal;
  const removed = answer.removed ?? answer;
  const { bot_id: bot } = await log.event();
  const first = () => medianOf(() => log.unit((tx) => firstEvent(tx, bot)), 5);
  const before = await first();
  const vacuumWal = await log.written();
  const vacuum = await timed(() => log.client.query('VACUUM audit_events, audit_batches, audit_counts'));
  return {
    'events of the oldest month': removed,
    'removed, events/s': removed / (ms / 1000),
    'of it the DROP, ms': answer.dropped?.ms,
    'exclusive locks of the DROP': log.locks?.map(({ name }) => name).join(', '),
    'log of the removal, bytes an event': written / removed,
    'VACUUM after it, s': vacuum.ms / 1000,
    'log of VACUUM, bytes an event': ((await log.written()) - vacuumWal) / removed,
    'oldest event of a bot before VACUUM, ms': before,
    'the same after it, ms': await first(),
    'size before, GB': bytes / 1e9,
    'size after, GB': (await log.bytes()) / 1e9,
  };
}

async function measured(server, layout, events) {
  progress(`${LAYOUTS[layout].title}: ${events} events`);
  const log = await Log.filled(server, layout, events);
  progress('filled');
  const found = { ...(await appends(log)), ...(await lists(log)) };
  progress('lists measured');
  Object.assign(found, await retention(log, layout));
  await log.client.end();
  progress(JSON.stringify(found));
  return found;
}

function cell(value) {
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  return value >= 1000 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)));
}

const postgresFlags = Object.entries(FLAGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
for (const events of options.events.split(',').map(Number)) {
  const layouts = options.layouts.split(',');
  const results = [];
  for (const layout of layouts) {
    // One server for each: its files are removed before the next one is filled.
    const server = await startPostgres(postgresFlags);
    try {
      results.push(await measured(server, layout, events));
    } finally {
      await server.stop();
    }
  }
  const heads = ['', ...layouts.map((layout) => LAYOUTS[layout].title)];
  const rows = Object.keys(results[0]).map((title) => [title, ...results.map((each) => cell(each[title]))]);
  console.log(`${events.toLocaleString('en-US')} events, ${machine()}\n\n${markdownTable(heads, rows)}\n`);
}
process.exit(0);
