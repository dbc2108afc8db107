import { median } from '../../bench/statistics.mjs';
import { Tenant } from '../../bench/tenant.mjs';
import { atMost, shown } from '../table.mjs';

export const name = 'memory';
export const shows = 'anonymous memory during very many mixed requests; `--requests 1000000` for a long run';
export const engines = ['sqlite', 'postgres'];

/** What docs/operate.md says about the peak, in MB, with a reserve. */
const PEAK_MB = { sqlite: 240, postgres: 300 };
const SAMPLE_MS = 100;
/** What is held without garbage is the same after half of the requests and after all, but for caches. */
const HELD_TIMES = 1.2;
const USERS = 1_000;
const STEPS = 40;
const REQUESTS = { sqlite: 100_000, postgres: 25_000 };
const NOT_FOUND = '99999999999999999999';

/** Requests in a mix with refused ones. */
function mixed(tenant) {
  const { guildId, users } = tenant;
  const subjectOf = (user) => ({ user_id: user, guild_id: guildId });
  const versionOf = (user) => ({ ...subjectOf(user), consent_version: '1.0' });
  const event = (user) => ({ ...subjectOf(user), event_type: 'data_exported', details: { n: 1 } });
  /** The share of each kind in a hundred requests. */
  const mix = [
    [38, (user) => ['GET', `/consents/status?user_id=${user}&guild_id=${guildId}`]],
    [25, (user, n) => ['POST', '/data/submit', tenant.profile(user, n)]],
    [8, (user) => ['POST', '/consents/request', versionOf(user)]],
    [8, (user) => ['POST', '/consents/accept', versionOf(user)]],
    [2, (user) => ['POST', '/consents/revoke', subjectOf(user)]],
    [5, (user) => ['GET', `/data/export/${user}?guild_id=${guildId}`]],
    [4, () => ['GET', '/audit/events?page_size=50']],
    [3, (user) => ['POST', '/audit/event', event(user)]],
    [2, () => ['GET', '/data/categories']],
    [1, (user) => ['POST', '/gdpr/forget-user', subjectOf(user)]],
    [1, () => ['POST', '/servers/register', { guild_id: guildId, name: 'Garden' }]],
    [1, () => ['POST', '/data/submit', { user_id: 1 }]],
    [1, () => ['GET', `/consents/status?user_id=${NOT_FOUND}&guild_id=${guildId}`]],
    [1, () => ['GET', '/nowhere']],
  ];
  const kinds = mix.flatMap(([share, make]) => Array.from({ length: share }, () => make));
  // 7 and 100 have no common divisor: every kind is used with every user, in the same order in each run.
  return Array.from({ length: 100_000 }, (_, n) =>
    tenant.request(...kinds[(n * 7) % kinds.length](users[(n * 13) % users.length], n)),
  );
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

export async function run(stage) {
  const count = Number(stage.options.requests ?? REQUESTS[stage.engine.name]);
  const receiver = await stage.receiver();
  const service = await stage.service({ LOG_LEVEL: 'info' }, { watched: true });
  const mb = () => service.anonymous / 2 ** 20;
  const startMb = mb();
  let peakMb = startMb;
  const sampling = setInterval(() => (peakMb = Math.max(peakMb, mb())), SAMPLE_MS);
  stage.defer(() => clearInterval(sampling));
  const tenant = await Tenant.arrange(service.url, USERS, { webhook_url: receiver.url });
  const job = { url: service.url, requests: mixed(tenant), connections: 64, count: count / STEPS };
  const load = stage.load();
  const [samples, speeds, held] = [[], [], []];
  for (let step = 1; step <= STEPS; step++) {
    const { statuses, broken, perSecond } = await load.run(job);
    if (broken > 0 || statuses['500'] > 0) throw new Error(`broken ${broken}, ${JSON.stringify(statuses)}`);
    samples.push(mb());
    speeds.push(perSecond);
    // Twice alone: a collection of the garbage lowers the peak.
    if (step === STEPS / 2 || step === STEPS) held.push((await service.ask('begin')).peakBytes);
  }
  clearInterval(sampling);
  const exitCode = await service.stop();
  const growth = mean(samples.slice(-STEPS / 8)) / mean(samples.slice(STEPS / 2, (STEPS * 5) / 8));
  return [
    shown('requests', count),
    shown('requests a second, median', median(speeds)),
    shown('memory after the start', startMb, 'MB'),
    shown('memory at the end', samples.at(-1), 'MB'),
    atMost(PEAK_MB[stage.engine.name], 'memory at its peak', peakMb, 'MB'),
    shown('memory at the end / after half of the requests', growth),
    shown('held without garbage at the end', held[1] / 2 ** 20, 'MB'),
    atMost(HELD_TIMES, 'held at the end / after half of the requests', held[1] / held[0]),
    atMost(0, 'exit code', exitCode),
  ];
}
