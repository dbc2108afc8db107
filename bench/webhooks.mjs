import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { LetheKeys } from './lethe.keys.mjs';
import { Database } from './sqlite.driver.mjs';
import { startServer, temporaryDirectory } from '../scripts/server.mjs';

// Measures the time from a commit to the first attempt, the deliveries per second with all their writes, and the memory
// for 100,000 waiting deliveries. Run `npm run build` before.

const LIMITS = { RATE_LIMIT_TIERS: 'free=100000000', RATE_LIMIT_ANONYMOUS: '100000000', LOG_LEVEL: 'error' };
const GUILD = '223456789012345678';
let nextId = 300_000_000_000_000_000n;
const snowflake = () => String(nextId++);

/** Confirms every call, or accepts it and never answers. */
class Receiver {
  calls = 0;
  silent = false;
  onCall = () => undefined;

  async start() {
    const server = createServer((request, response) => {
      this.calls++;
      this.onCall(performance.now());
      request.resume();
      if (!this.silent) response.end();
    });
    await new Promise((resolve) => server.listen(0, '0.0.0.0', resolve));
    this.url = `http://127.0.0.1:${server.address().port}`;
    return this;
  }

  /** One of 250 hosts, each with slots of its own: on Linux the whole of 127.0.0.0/8 is this machine. */
  host(number) {
    return this.url.replace('127.0.0.1', `127.0.1.${(number % 250) + 1}`);
  }

  async until(calls) {
    while (this.calls < calls) await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

async function call(server, method, path, key, body) {
  const headers = { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) };
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers,
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!answer.success)
    throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer.error)}`);
  return answer.data;
}

const register = (server, url) =>
  call(server, 'POST', '/bots/register', undefined, {
    platform_bot_id: snowflake(),
    name: 'Bench',
    webhook_url: url,
  });
const forget = (server, bot) =>
  call(server, 'POST', '/gdpr/forget-user', bot.api_key, { user_id: snowflake(), guild_id: GUILD });

function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

async function latency() {
  const receiver = await new Receiver().start();
  const server = await startServer({ environment: LIMITS });
  const bot = await register(server, `${receiver.url}/hook`);
  const afterAnswer = [];
  for (let n = 0; n < 330; n++) {
    const heard = new Promise((resolve) => (receiver.onCall = resolve));
    await forget(server, bot);
    const answeredMs = performance.now();
    afterAnswer.push(Math.max(0, (await heard) - answeredMs));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await server.stop();
  const warm = afterAnswer.slice(30);
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(warm, share).toFixed(1));
  console.log(
    `first attempt after the answer, ms: p50 ${p50}, p95 ${p95}, p99 ${p99} (300 erasures, one by one)`,
  );
}

/** Creates a backlog: events of bots without a URL are sent when they get one. */
async function throughput(bots, eventsEach) {
  const receiver = await new Receiver().start();
  const server = await startServer({ environment: LIMITS });
  const registered = [];
  for (let n = 0; n < bots; n++) registered.push(await register(server, null));
  const all = registered.flatMap((bot) => Array.from({ length: eventsEach }, () => bot));
  for (let at = 0; at < all.length; at += 64)
    await Promise.all(all.slice(at, at + 64).map((bot) => forget(server, bot)));
  const startMs = performance.now();
  await Promise.all(
    registered.map((bot, n) =>
      call(server, 'PUT', `/bots/${bot.id}`, bot.api_key, { webhook_url: receiver.host(n) }),
    ),
  );
  await receiver.until(all.length);
  const seconds = (performance.now() - startMs) / 1000;
  await server.stop();
  const rate = Math.round(all.length / seconds);
  console.log(`throughput, ${bots} URLs: ${rate} deliveries/s (${all.length} in ${seconds.toFixed(1)} s)`);
}

function residentMb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
}

async function memory(rows, bots) {
  const directory = temporaryDirectory();
  const receiver = await new Receiver().start();
  receiver.silent = true;
  const masterKey = randomBytes(32).toString('base64');
  const environment = { ...LIMITS, LETHE_MASTER_KEY: masterKey };
  let server = await startServer({ directory, environment });
  const registered = [];
  for (let n = 0; n < bots; n++) registered.push(await register(server, receiver.host(n)));
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const before = residentMb(server.pid);
  await server.stop();
  insertPending(directory, masterKey, registered, rows);
  server = await startServer({ directory, environment });
  const seen = [];
  for (let n = 0; n < 30; n++) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    seen.push(residentMb(server.pid));
  }
  const { webhook_health: health } = await call(
    server,
    'GET',
    `/bots/${registered[0].id}`,
    registered[0].api_key,
  );
  await server.stop();
  const largest = Math.max(...seen).toFixed(0);
  console.log(
    `memory, ${rows} pending deliveries of ${bots} bots whose receivers never answer: ${before.toFixed(0)} MB resident ` +
      `without them, at most ${largest} MB with them over 30 s (one bot: ${health.pending} pending)`,
  );
}

function insertPending(directory, masterKey, bots, rows) {
  const keyFile = new Database(join(directory, 'keys.db'), { readonly: true });
  const keys = new LetheKeys(keyFile.prepare('SELECT name, id, sealed FROM service_keys').all(), masterKey);
  keyFile.close();
  const database = new Database(join(directory, 'lethe.db'));
  const insert = database.prepare(
    `INSERT INTO webhook_deliveries (bot_id, id, event, payload, status, attempts, retries, next_attempt_at, give_up_at, created_at)
     VALUES (?, ?, 'consent_revoked', ?, 'pending', 0, 0, ?, ?, ?)`,
  );
  const now = new Date().toISOString();
  const later = new Date(Date.now() + 5 * 86_400_000).toISOString();
  const payload = JSON.stringify({
    event: 'consent_revoked',
    user_id: snowflake(),
    guild_id: GUILD,
    revoked_at: now,
  });
  database.transaction(() => {
    for (let n = 0; n < rows; n++) {
      const bot = bots[n % bots.length].id;
      const id = `0198c2f0-7a00-7000-8000-${n.toString(16).padStart(12, '0')}`;
      const text = keys.encrypt(payload, `webhook_deliveries/${bot}/${id}`);
      insert.run(bot, id, text, now, later, now);
    }
  })();
  database.close();
}

await latency();
await throughput(1, 2_000);
await throughput(50, 200);
await memory(100_000, 100);
process.exit(0);
