// npm run soak: the anonymous memory of the service during a million mixed requests. It reads /proc, so it runs on Linux.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { startServer } from '../scripts/server.mjs';
import { ENGINES } from './engines.mjs';
import { Load } from './load.mjs';
import { Tenant } from './tenant.mjs';

/** The most at any time. */
const PEAK_MB = { sqlite: 240, postgres: 300 };
const SAMPLE_MS = 100;
/** Most growth in the second half: noise of the garbage collector. */
const GROWTH_MB = 15;
const USERS = 5000;
const STEPS = 40;
const { values: options } = parseArgs({
  options: {
    engine: { type: 'string', default: 'sqlite' },
    requests: { type: 'string', default: '1000000' },
  },
});
const count = Number(options.requests);

const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.end());
});
await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve));

const engine = await ENGINES[options.engine]();
const server = await startServer({
  environment: {
    RATE_LIMIT_TIERS: 'free=100000000',
    RATE_LIMIT_ANONYMOUS: '100000000',
    DATABASE_URL: await engine.createDatabase('lethe'),
    LETHE_MASTER_KEY: randomBytes(32).toString('base64'),
  },
});
/** Without the pages of files, which the system can take back at any time. */
const anonymousMb = () =>
  Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) / 1024;

const startMb = anonymousMb();
let peakMb = startMb;
const sampling = setInterval(() => (peakMb = Math.max(peakMb, anonymousMb())), SAMPLE_MS);
const tenant = await Tenant.arrange(server.url, USERS, {
  webhook_url: `http://127.0.0.1:${receiver.address().port}/`,
});

const { guildId } = tenant;
const subjectOf = (user) => ({ user_id: user, guild_id: guildId });
const versionOf = (user) => ({ ...subjectOf(user), consent_version: '1.0' });
const nobody = '99999999999999999999';

/** The share of each kind in a hundred requests, refused ones included. */
const MIX = [
  [38, (user) => ['GET', `/consents/status?user_id=${user}&guild_id=${guildId}`]],
  [25, (user, n) => ['POST', '/data/submit', tenant.profile(user, n)]],
  [8, (user) => ['POST', '/consents/request', versionOf(user)]],
  [8, (user) => ['POST', '/consents/accept', versionOf(user)]],
  [2, (user) => ['POST', '/consents/revoke', subjectOf(user)]],
  [5, (user) => ['GET', `/data/export/${user}?guild_id=${guildId}`]],
  [4, () => ['GET', '/audit/events?page_size=50']],
  [
    3,
    (user) => [
      'POST',
      '/audit/event',
      { ...subjectOf(user), event_type: 'data_exported', details: { n: 1 } },
    ],
  ],
  [2, () => ['GET', '/data/categories']],
  [1, (user) => ['POST', '/gdpr/forget-user', subjectOf(user)]],
  [1, () => ['POST', '/servers/register', { guild_id: guildId, name: 'Garden' }]],
  [1, () => ['POST', '/data/submit', { user_id: 1 }]],
  [1, () => ['GET', `/consents/status?user_id=${nobody}&guild_id=${guildId}`]],
  [1, () => ['GET', '/nowhere']],
];
const kinds = MIX.flatMap(([share, make]) => Array.from({ length: share }, () => make));
// 7 and 100 have no common divisor: every kind is used with every user, in the same order in each run.
const requests = Array.from({ length: 100_000 }, (_, n) =>
  tenant.request(...kinds[(n * 7) % kinds.length](tenant.users[(n * 13) % USERS], n)),
);

const load = new Load();
const statuses = {};
const samples = [];
for (let step = 1; step <= STEPS; step++) {
  const part = { url: server.url, requests, connections: 64, count: count / STEPS };
  const result = await load.run(part);
  for (const [status, answers] of Object.entries(result.statuses))
    statuses[status] = (statuses[status] ?? 0) + answers;
  if (result.broken > 0 || statuses['500'] > 0)
    throw new Error(`broken ${result.broken}, ${JSON.stringify(statuses)}`);
  samples.push(anonymousMb());
  const done = Math.round((step * count) / STEPS);
  console.log(`${done} requests, ${Math.round(result.perSecond)}/s, ${samples.at(-1).toFixed(0)} MB`);
}
clearInterval(sampling);
load.stop();
receiver.close();
const exitCode = await server.stop();
await engine.stop();

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const half = STEPS / 2;
const growthMb = mean(samples.slice(-STEPS / 8)) - mean(samples.slice(half, half + STEPS / 8));
const mostMb = PEAK_MB[options.engine];
console.log(`after the start ${startMb.toFixed(0)} MB, at the end ${samples.at(-1).toFixed(0)} MB`);
const checks = [
  [`at its peak ${peakMb.toFixed(0)} MB, at most ${mostMb}`, peakMb <= mostMb],
  [`growth over the second half ${growthMb.toFixed(1)} MB, at most ${GROWTH_MB}`, growthMb <= GROWTH_MB],
  [`exit code ${exitCode}`, exitCode === 0],
];
console.log(JSON.stringify(statuses));
for (const [what, holds] of checks) console.log(`${holds ? 'ok  ' : 'FAIL'} ${what}`);
process.exit(checks.every(([, holds]) => holds) ? 0 : 1);
