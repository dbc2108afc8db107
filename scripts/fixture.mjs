// npm run fixture -- NAME: fills the built service through its interface and keeps its data, keys and answers below
// test/engines/releases/NAME, for the tests of the upgrades to later versions. `--of CHECKOUT` takes the build of another one.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { remember, suspendable, theStory } from './fixture.story.mjs';
import { FAST, startPostgres } from './postgres.mjs';
import { startServer, temporaryDirectory } from './server.mjs';

const ROOT = join(import.meta.dirname, '..');
const USAGE = `npm run fixture -- NAME [--of CHECKOUT] [--postgres URL]

  NAME        The release, as 0.1.0
  --of        A built checkout; this one otherwise
  --postgres  A server whose databases pg_dump can read; otherwise one of the dependencies is started
`;
const UNLIMITED = '1000000';

const { values: given, positionals } = parseArgs({
  options: { of: { type: 'string', default: ROOT }, postgres: { type: 'string' } },
  allowPositionals: true,
});
const [name] = positionals;
if (!/^[a-z0-9.-]+$/.test(name ?? '')) {
  process.stderr.write(USAGE);
  process.exit(2);
}
const target = join(ROOT, 'test/engines/releases', name);
if (existsSync(target)) {
  process.stderr.write(
    `test/engines/releases/${name} exists, and the files of a release are never made anew. If it is not out, remove the folder yourself.\n`,
  );
  process.exit(1);
}
const program = (app) => join(resolve(given.of), `dist/apps/${app}/src/main.js`);

mkdirSync(target, { recursive: true });
await made('sqlite', async (directory) => ({
  url: `sqlite:${join(directory, 'lethe.db')}`,
  keep: () => {
    for (const file of ['lethe.db', 'keys.db']) {
      const log = join(directory, `${file}-wal`);
      if (existsSync(log) && statSync(log).size > 0) throw new Error(`${file} was not closed`);
      written(`${file}.gz`, readFileSync(join(directory, file)));
    }
  },
}));
const server = given.postgres === undefined ? await startPostgres({ settings: FAST }) : undefined;
const DATABASE = `lethe_fixture_${process.pid}`;
const url = Object.assign(new URL(given.postgres ?? server.url), { pathname: `/${DATABASE}` }).href;
await onServer(`CREATE DATABASE ${DATABASE}`);
try {
  await made('postgres', async () => ({ url, keep: () => written('postgres.sql.gz', dump(url)) }));
} finally {
  await onServer(`DROP DATABASE ${DATABASE} WITH (FORCE)`);
  await server?.stop();
}

/** Lets the service live on one engine, and keeps what it leaves. */
async function made(engine, opened) {
  const directory = temporaryDirectory();
  const { url: database, keep } = await opened(directory);
  const environment = {
    DATABASE_URL: database,
    LETHE_MASTER_KEY: randomBytes(32).toString('base64'),
    DATABASE_BALLAST_MIB: '0',
    RATE_LIMIT_TIERS: `free=${UNLIMITED}`,
    RATE_LIMIT_ANONYMOUS: UNLIMITED,
    // The second attempt of a call is not made while the service lives.
    WEBHOOK_RETRY_SCHEDULE: '24h,24h',
    // What rested on a revoked consent has to be there at each later upgrade.
    REVOKED_DATA_GRACE_DAYS: 'off',
    LOG_LEVEL: 'error',
  };
  const start = () => startServer({ directory, environment, stdout: 2, program: [program('api')] });
  let service = await start();
  const told = await theStory(service.url);
  await ended(service);
  admin(['bots:suspend', '--bot', suspendable(told).id], directory, environment);
  service = await start();
  const expected = await remember(service.url, told);
  await ended(service);
  const secrets = { master_key: environment.LETHE_MASTER_KEY };
  written(`${engine}.json.gz`, JSON.stringify({ ...secrets, ...expected }));
  keep();
}

async function ended(service) {
  const code = await service.stop();
  if (code !== 0) throw new Error(`the service ended with ${code}`);
}

function admin(args, directory, environment) {
  const env = { PATH: process.env.PATH, ...environment };
  const ran = spawnSync(process.execPath, [program('admin'), ...args], {
    cwd: directory,
    env,
    encoding: 'utf8',
  });
  if (ran.status !== 0) throw new Error(`${args.join(' ')}: ${ran.stderr}`);
}

/** The statements that make the database, for any client: without those of psql, and of no owner. */
function dump(database) {
  const args = [
    '--no-owner',
    '--no-privileges',
    '--no-comments',
    '--load-via-partition-root',
    '--rows-per-insert=50',
  ];
  const ran = spawnSync('pg_dump', [...args, database], { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (ran.error !== undefined) throw new Error(`pg_dump is needed: ${ran.error.message}`);
  if (ran.status !== 0) throw new Error(`${ran.stderr}--postgres takes a server that this pg_dump can read`);
  return ran.stdout.replace(/^(\\(un)?restrict .*|--.*)?\n/gm, '');
}

function written(file, content) {
  const packed = gzipSync(content, { level: 9 });
  writeFileSync(join(target, file), packed);
  process.stdout.write(
    `${join('test/engines/releases', name, file)}: ${Math.ceil(packed.length / 1024)} KiB\n`,
  );
}

async function onServer(sql) {
  const client = new pg.Client({ connectionString: given.postgres ?? server.url });
  await client.connect();
  await client.query(sql);
  await client.end();
}
