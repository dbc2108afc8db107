import { hasConsent, newBot, snowflake, subject } from '../bots.mjs';
import { atMost, shown } from '../table.mjs';
import { BODIES, largestSingle } from '../batches.mjs';

export const name = 'greedy';
export const shows =
  'stops of the event loop and memory while one bot sends the largest declarations, pages and batches';
export const engines = ['sqlite', 'postgres'];

/** Requests at the same time. */
const AT_ONCE = 15;
/** Other processes make a measurement larger, and none smaller: the least of some counts. */
const ROUNDS = 8;
/** The stop of many requests is that of one, which others can follow: it does not add up. */
const TIMES_OF_ONE = 4;
/** A stop of this length is none: the garbage collector needs as much. */
const SHORT_MS = 15;
/** Of the memory a part is garbage: the young generation has 8 MiB. */
const GROWTH_TIMES_ANSWERS = 12;
const GROWTH_TIMES_BODY = 40;

const categories = Array.from({ length: 100 }, (_, at) => `category_${at}`.padEnd(100, 'x'));

/** The least cost of some rounds of `work`; `arrange` is not measured. */
async function leastCost(service, work, arrange = async () => undefined) {
  const least = { stopMs: Infinity, growth: Infinity };
  for (let round = 0; round < ROUNDS; round++) {
    await arrange();
    const { stopMs, growth } = await service.costOf(work);
    least.stopMs = Math.min(least.stopMs, stopMs);
    least.growth = Math.min(least.growth, growth);
  }
  return least;
}

async function largeBot(service) {
  const bot = await newBot(service.url);
  const labels = { label_de: 'Kategorie', label_en: 'Category' };
  // Each declaration is as large as it may be.
  const fields = Array.from({ length: 6 }, (_, at) => ({
    ...{ key: `field_${at}`, type: 'string', ...labels },
    description: 'x'.repeat(5_000),
  }));
  for (const key of categories.slice(1)) await bot.call('POST', '/data/register', { key, ...labels, fields });
  return bot;
}

/** What a bot asks for many times at once: `[what, request, arrangement]`. */
function attacksOf(bot) {
  const named = categories.slice(1, 51);
  const post = (path, more) => (who) => ['POST', path, { ...who, ...more }];
  const get = (path) => () => ['GET', path];
  const requested = (who) => bot.call('POST', '/consents/request', { ...who, consent_version: '1.0' });
  return [
    ['pages of its categories', get('/data/categories?page_size=100')],
    ['its record of processing', get(`/bots/${bot.id}/processing-record`)],
    ['requests that name 50 categories', post('/consents/request', { categories: named })],
    ['acceptances', post('/consents/accept', { consent_version: '1.0' }), requested],
    [
      'withdrawals of one category',
      post('/consents/revoke', { categories: [named[0]] }),
      (who) => hasConsent(bot, who),
    ],
  ];
}

async function send(bot, method, path, body) {
  const response = await fetch(`${bot.url}/api/v1${path}`, {
    ...{ method, body: typeof body === 'string' ? body : body && JSON.stringify(body) },
    headers: { authorization: `Bearer ${bot.key}`, 'content-type': 'application/json' },
  });
  const { length } = await response.text();
  return { status: response.status, length };
}

async function costOfAttack(service, bot, [, request, arrange = () => undefined], atOnce) {
  let those;
  let bytes = 0;
  const arranged = async () => {
    those = Array.from({ length: atOnce }, subject);
    for (const who of those) await arrange(who);
  };
  const work = async () => {
    const answers = await Promise.all(those.map((who) => send(bot, ...request(who))));
    const refused = answers.find(({ status }) => status >= 300);
    if (refused) throw new Error(`${request(subject())[1]} was refused with ${refused.status}`);
    bytes = answers.reduce((sum, { length }) => sum + length, 0);
  };
  return { ...(await leastCost(service, work, arranged)), bytes };
}

async function rowsOfAttacks(service) {
  const bot = await largeBot(service);
  const rows = [];
  for (const attack of attacksOf(bot)) {
    const one = await costOfAttack(service, bot, attack, 1);
    const many = await costOfAttack(service, bot, attack, AT_ONCE);
    const of = `${AT_ONCE} ${attack[0]}`;
    rows.push(shown(`${of}: stop of the loop`, many.stopMs, 'ms'));
    rows.push(atMost(TIMES_OF_ONE, `${of}: stop / of one`, many.stopMs / Math.max(one.stopMs, SHORT_MS)));
    const held = Math.max(many.bytes, (2 ** 20 * AT_ONCE) / 2);
    rows.push(atMost(GROWTH_TIMES_ANSWERS, `${of}: growth / bytes of the answers`, many.growth / held));
  }
  return rows;
}

async function rowsOfBatches(service) {
  const bot = await newBot(service.url);
  const fields = ['text', 'tree'].map((key) => ({
    key,
    type: key === 'tree' ? 'json' : 'string',
    label_de: key,
    label_en: key,
  }));
  await bot.call('POST', '/data/register', { key: 'greedy', label_de: 'Gier', label_en: 'Greed', fields });
  const guild_id = snowflake();
  const people = Array.from({ length: 100 }, () => ({ user_id: snowflake(), guild_id }));
  for (const who of people) await hasConsent(bot, who);
  const single = await leastCost(service, () => send(bot, 'POST', '/data/submit', largestSingle()));
  const rows = [shown('the largest single request: stop of the loop', single.stopMs, 'ms')];
  for (const [what, make] of Object.entries(BODIES)) {
    const body = make(people, 'greedy');
    const { stopMs, growth } = await leastCost(service, () => send(bot, 'POST', '/data/submit/batch', body));
    const of = `a batch of ${what}`;
    rows.push(
      atMost(2, `${of}: stop / of the largest single`, stopMs / Math.max(single.stopMs, 2 * SHORT_MS)),
    );
    rows.push(atMost(GROWTH_TIMES_BODY, `${of}: growth / its bytes`, growth / body.length));
  }
  return rows;
}

export async function run(stage) {
  const settings = { BATCH_BODY_LIMIT_BYTES: '4194304' };
  const service = await stage.service(settings, { watched: true });
  return [...(await rowsOfBatches(service)), ...(await rowsOfAttacks(service))];
}
