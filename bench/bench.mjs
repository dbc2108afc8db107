// npm run bench: Lethe beside a stock Nest-on-Express application, in one run on one machine.
import { readFileSync } from 'node:fs';
import { startServer, temporaryDirectory } from '../scripts/server.mjs';
import { seedAuditEvents } from './audit.seed.mjs';
import { httpRequest, Load } from './load.mjs';
import { startStock } from './stock.mjs';
import { Tenant } from './tenant.mjs';

const CONNECTIONS = 64;
const WARM_UP_MS = 1500;
const isQuick = process.argv.includes('--quick');
const rounds = isQuick ? 3 : 7;
const durationMs = isQuick ? 1500 : 5000;
const events = isQuick ? 100_000 : 1_000_000;
const USERS = 1000;

// Limiter, authentication, request ids and the log are on; the limits are only too high to be reached.
const environment = {
  RATE_LIMIT_TIERS: 'free=100000000',
  RATE_LIMIT_ANONYMOUS: '100000000',
  LOG_LEVEL: 'info',
};

const directory = temporaryDirectory();
const arranging = await startServer({ directory, environment });
const tenant = await Tenant.arrange(arranging.url, USERS);
await arranging.stop();
const total = seedAuditEvents(directory, tenant, events);
const lethe = await startServer({ directory, environment });
tenant.url = lethe.url;
const { pagination } = await tenant.call('GET', '/audit/events');
if (pagination.total_count !== total)
  throw new Error(`the audit total is ${pagination.total_count}, not ${total}`);

const stock = await startStock();
const get = { ...stock, requests: [httpRequest('GET', '/status')] };
const post = {
  ...stock,
  requests: tenant.users.map((user, n) => httpRequest('POST', '/submit', undefined, tenant.profile(user, n))),
};
const audit = [tenant.request('GET', '/audit/events?page=1')];
const cases = [
  { name: 'stock GET, constant', ...get },
  { name: 'GET /consents/status', ...lethe, requests: tenant.statusRequests(), floor: 0, target: 1.6 },
  { name: `GET /audit/events, page 1 of ${total}`, ...lethe, requests: audit, floor: 0, target: 0.3 },
  { name: 'GET /data/export', ...lethe, requests: tenant.exportRequests(), floor: 0 },
  { name: 'stock POST, one DTO', ...post },
  {
    name: 'POST /data/submit, durable',
    ...lethe,
    requests: tenant.submitRequests(),
    floor: 4,
    target: 1.1,
  },
];

/** Milliseconds of processor time that a process has used, where the system tells (Linux). */
function cpuMsOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return NaN;
  }
}

async function measure({ url, requests, pid }, durationMs) {
  const before = cpuMsOf(pid);
  const result = await load.run({ url, requests, connections: CONNECTIONS, durationMs });
  return { ...result, cpuUs: ((cpuMsOf(pid) - before) * 1000) / result.answers };
}

const load = new Load();
const measured = cases.map(() => []);
for (const each of cases) await measure(each, WARM_UP_MS);
for (let round = 1; round <= rounds; round++) {
  for (const [index, each] of cases.entries()) {
    const result = await measure(each, durationMs);
    const refused = Object.keys(result.statuses).filter((status) => status !== '200');
    if (refused.length > 0 || result.broken > 0)
      throw new Error(`${each.name}: ${JSON.stringify(result.statuses)}, broken ${result.broken}`);
    measured[index].push(result);
  }
  process.stderr.write(`round ${round} of ${rounds}\r`);
}
load.stop();
stock.stop();
await lethe.stop();

function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const rows = cases.map(({ name, floor, target }, index) => {
  const results = measured[index];
  const middle = (field) => median(results.map((result) => result[field]));
  const ratio =
    floor === undefined
      ? undefined
      : median(results.map((result, n) => result.perSecond / measured[floor][n].perSecond));
  return {
    '': name,
    'requests/s': Math.round(middle('perSecond')),
    'p50 ms': middle('p50').toFixed(2),
    'p95 ms': middle('p95').toFixed(2),
    'p99 ms': middle('p99').toFixed(2),
    'CPU µs': middle('cpuUs').toFixed(0),
    'of stock': ratio?.toFixed(2) ?? '',
    target: target === undefined ? '' : `${target} ${ratio >= target ? 'met' : 'MISSED'}`,
    'generator CPU': `${Math.round(middle('generatorCpu') * 100)} %`,
  };
});
console.table(rows);
console.log(
  `Medians of ${rounds} interleaved rounds of ${durationMs / 1000} s, ${CONNECTIONS} keep-alive connections, Node ${process.version}.
The ratios are the medians of the rounds' own ratios. CPU µs is what the server itself spends on one request: it
holds where the machine is shared, while requests/s suffer. Repeat with: npm run bench${isQuick ? ' -- --quick (shorter, and with fewer audit events)' : ''}`,
);
