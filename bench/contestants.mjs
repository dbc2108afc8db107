import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startServer, temporaryDirectory } from '../scripts/server.mjs';
import { compile, startApplication } from './application.mjs';
import { LetheKeys } from './lethe.keys.mjs';
import { Seeds } from './seeds.mjs';
import { Tenant } from './tenant.mjs';

/** Limiter, authentication, request ids and log are active; the limits are too high to be reached. */
const LETHE = {
  RATE_LIMIT_TIERS: 'free=100000000',
  RATE_LIMIT_ANONYMOUS: '100000000',
  LOG_LEVEL: 'info',
};

// Every started server ends with this process.
process.setMaxListeners(50);

const START = {
  lethe: async (url) => {
    const masterKey = randomBytes(32).toString('base64');
    const directory = url.startsWith('sqlite:')
      ? join(url.slice('sqlite:'.length), '..')
      : temporaryDirectory();
    const environment = { ...LETHE, DATABASE_URL: url, LETHE_MASTER_KEY: masterKey };
    const again = () => startServer({ directory, environment });
    return { ...(await again()), again, masterKey };
  },
  usual: (url) => startApplication(compile('usual'), { DATABASE_URL: url }),
  limit: (url) => startApplication(join(import.meta.dirname, 'limit/main.mjs'), { DATABASE_URL: url }),
};

/** Confirms every webhook call. */
export async function startReceiver() {
  const server = createServer((request, response) => request.resume().on('end', () => response.end()));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return `http://127.0.0.1:${server.address().port}/`;
}

/** A service on its own database of `engine`, with a bot and the seeds of `Kind`. */
async function start(name, path, engine, { users = 0, webhookUrl, Kind = Seeds }) {
  const url = await engine.createDatabase(name);
  const server = await START[path](url);
  const tenant = await Tenant.register(server.url, users, { webhook_url: webhookUrl });
  const database = await engine.open(url);
  const keys = server.masterKey && new LetheKeys(await database.serviceKeys(), server.masterKey);
  let running = server;
  return {
    ...server,
    name,
    tenant,
    seeds: new Kind(database, tenant.id, keys),
    /** Milliseconds from the start of another process until it is ready; it has another URL. */
    restart: async () => {
      await running.stop();
      const begunMs = performance.now();
      running = await server.again();
      while (!(await fetch(`${running.url}/health/ready`)).ok) await setTimeout(5);
      return performance.now() - begunMs;
    },
    stop: async () => {
      await database.close();
      await running.stop();
    },
  };
}

/** One of {@link START} with `users` that have consented, and `events` audit events. */
export async function startContestant(name, engine, { users, events, webhookUrl }) {
  const contestant = await start(name, name, engine, { users, webhookUrl });
  const { seeds, tenant } = contestant;
  const isLethe = name === 'lethe';
  const subjects = () => seeds.subjects(users, { values: !isLethe });
  const submits = async () => {
    if (!isLethe) return;
    // Seeds hold up this process. In a further turn of the event loop it sees which connections were closed meanwhile.
    await setTimeout(100);
    await tenant.submits();
  };
  await subjects();
  if (events > 0) await seeds.events(1, events, users);
  await seeds.counted();
  await seeds.database.settle();
  await submits();
  const restore = async () => {
    await subjects();
    await submits();
  };
  return { ...contestant, restore };
}

/** Lethe with one bot; several can run at the same time. */
export function startLethe(name, engine, Kind) {
  return start(name, 'lethe', engine, { Kind });
}

/** The baseline: a new Nest application on Express without a database. */
export async function startStock() {
  return { ...(await startApplication(compile('stock'))), name: 'stock' };
}
