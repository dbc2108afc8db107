// npm run bench:rows: the size on disk of rows written by the service, with their indices.
import { startLethe } from './contestants.mjs';
import { machine, markdownTable } from './docs.mjs';
import { ENGINES } from './engines.mjs';
import { Load } from './load.mjs';
import { Seeds } from './seeds.mjs';
import { GUILD, userId } from './tenant.mjs';

const SUBJECTS = 20_000;
const CATEGORIES = 5;
/** One of this many users is erased. */
const ERASED = 100;
/** 110 characters of JSON. */
const VALUE = { text: 'x'.repeat(99) };

const SIZES = `SELECT COALESCE(parent.relname, one.relname) AS name, space.nspname AS schema,
    SUM(pg_total_relation_size(one.oid)) AS bytes, SUM(pg_indexes_size(one.oid)) AS indices
  FROM pg_class one JOIN pg_namespace space ON space.oid = one.relnamespace
    LEFT JOIN pg_inherits part ON part.inhrelid = one.oid LEFT JOIN pg_class parent ON parent.oid = part.inhparent
  WHERE one.relkind = 'r' AND space.nspname IN ('public', 'keys') GROUP BY 1, 2`;
const SQLITE_SIZES = ['main', 'keys']
  .map(
    (schema) => `SELECT master.tbl_name AS name, '${schema}' AS schema, SUM(pages.pgsize) AS bytes,
      SUM(CASE WHEN master.type = 'index' THEN pages.pgsize ELSE 0 END) AS indices
    FROM dbstat('${schema}') AS pages JOIN ${schema}.sqlite_master master ON master.name = pages.name GROUP BY 1`,
  )
  .join(' UNION ALL ');

const load = new Load();

async function send({ url, tenant }, calls, status = '200') {
  const requests = calls.map((call) => tenant.request(...call));
  const result = await load.run({ url, requests, connections: 64, count: requests.length });
  if (result.statuses[status] !== requests.length) throw new Error(JSON.stringify(result.statuses));
}

async function filled(lethe) {
  const users = Array.from({ length: SUBJECTS }, (_, n) => userId(n));
  const guild_id = GUILD;
  const each = (path, more) => users.map((user_id) => ['POST', path, { user_id, guild_id, ...more }]);
  for (let n = 0; n < CATEGORIES; n++)
    await lethe.tenant.call('POST', '/data/register', {
      ...{ key: `c${n}`, label_de: 'x', label_en: 'x' },
      fields: [{ key: 'text', type: 'string', label_de: 'x', label_en: 'x' }],
    });
  await send(lethe, each('/consents/request', { consent_version: '1.0' }), '201');
  await send(lethe, each('/consents/accept', { consent_version: '1.0' }));
  for (let n = 0; n < CATEGORIES; n++)
    await send(lethe, each('/data/submit', { category: `c${n}`, data: VALUE }));
  await send(
    lethe,
    each('/gdpr/forget-user').filter((_, n) => n % ERASED === 0),
  );
  await sealed(lethe.seeds.database);
}

/** The time of the last event. */
async function sealed(database) {
  for (;;) {
    const [{ behind }] = await database.all(
      'SELECT (SELECT MAX(seq) FROM audit_events) - (SELECT MAX(last_seq) FROM audit_heads) AS behind',
    );
    if (Number(behind) === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function measured(name) {
  const engine = await ENGINES[name]();
  try {
    const lethe = await startLethe('rows', engine, Seeds);
    const { database } = lethe.seeds;
    await filled(lethe);
    const rows = [];
    if (name === 'sqlite') {
      await database.settle();
      database.database.exec(`ATTACH '${engine.directory}/rows.keys.db' AS keys`);
    }
    for (const { name: table, schema, bytes, indices } of await database.all(
      name === 'sqlite' ? SQLITE_SIZES : SIZES,
    )) {
      const title = schema === 'keys' ? `keys.${table}` : table;
      const [{ count }] = await database.all(`SELECT COUNT(*) AS count FROM ${title}`);
      const share = (all) => Math.round(Number(all) / Number(count)).toLocaleString('en-US');
      if (Number(count) >= SUBJECTS / ERASED) rows.push([title, Number(count), share(bytes), share(indices)]);
    }
    await lethe.stop();
    rows.sort((one, other) => other[1] - one[1]);
    return [
      `${engine.title}, ${SUBJECTS.toLocaleString('en-US')} subjects, ${machine()}`,
      markdownTable(['table', 'rows', 'bytes each', 'of them indices'], rows),
    ].join('\n\n');
  } finally {
    await engine.stop();
  }
}

for (const name of Object.keys(ENGINES)) console.log(`${await measured(name)}\n`);
load.stop();
