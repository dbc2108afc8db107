// npm run soak: the memory of the service during a million mixed requests.
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { startServer } from '../scripts/server.mjs';
import { Load } from './load.mjs';
import { Tenant } from './tenant.mjs';

const START_MB = 200;
const END_MB = 350;
/** Most growth in the second half: noise of the garbage collector. */
const GROWTH_MB = 15;
const USERS = 5000;
const STEPS = 40;
const count = process.argv.includes('--quick') ? 40_000 : 1_000_000;

const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.end());
});
await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve));

const server = await startServer({
  environment: { RATE_LIMIT_TIERS: 'free=100000000', RATE_LIMIT_ANONYMOUS: '100000000' },
});
const residentMb = () => Number(execFileSync('ps', ['-o', 'rss=', '-p', String(server.pid)])) / 1024;

const startMb = residentMb();
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
  samples.push(residentMb());
  const done = Math.round((step * count) / STEPS);
  console.log(`${done} requests, ${Math.round(result.perSecond)}/s, ${samples.at(-1).toFixed(0)} MB`);
}
load.stop();
receiver.close();
const exitCode = await server.stop();

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const half = STEPS / 2;
const growthMb = mean(samples.slice(-STEPS / 8)) - mean(samples.slice(half, half + STEPS / 8));
const endMb = samples.at(-1);
const checks = [
  [`after the start ${startMb.toFixed(0)} MB, at most ${START_MB}`, startMb <= START_MB],
  [`at the end ${endMb.toFixed(0)} MB, at most ${END_MB}`, endMb <= END_MB],
  [`growth over the second half ${growthMb.toFixed(1)} MB, at most ${GROWTH_MB}`, growthMb <= GROWTH_MB],
  [`exit code ${exitCode}`, exitCode === 0],
];
console.log(JSON.stringify(statuses));
for (const [what, holds] of checks) console.log(`${holds ? 'ok  ' : 'FAIL'} ${what}`);
process.exit(checks.every(([, holds]) => holds) ? 0 : 1);
