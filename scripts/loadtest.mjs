// npm run loadtest -- --url URL --bots N --users N --minutes N: the load of many bots on an installation of your own.
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const USAGE = `npm run loadtest -- --url URL [--bots N] [--users N] [--minutes N] [--token TOKEN]

Registers bots with users on an installation of your own, calls it for some minutes, and deletes the bots again.
--bots 1 to 100, --users of each bot 1 to 1000, --minutes 0.05 to 60. --token is the one of REGISTRATION=token.
A bot has one call at a time, and waits as long as a 429 says.
`;

const GUILD = '223456789012345678';
const CATEGORY = 'loadtest';
/** Most latencies kept for each minute of the test; beyond it each new one replaces a random one. */
const SAMPLE_MAX = 200_000;
const CALL_TIMEOUT_MS = 30_000;

class UsageError extends Error {}

function numberOf(name, text, min, max) {
  const value = Number(text);
  if (!(value >= min && value <= max)) throw new UsageError(`--${name} must be ${min} to ${max}.`);
  return value;
}

function orderOf(args) {
  const text = { type: 'string' };
  const options = { url: text, bots: text, users: text, minutes: text, token: text };
  let values;
  try {
    ({ values } = parseArgs({ args, options }));
  } catch (error) {
    throw new UsageError(error.message);
  }
  const { url = '', bots = '5', users = '20', minutes = '1', token } = values;
  if (!/^https?:\/\/[^/]/.test(url))
    throw new UsageError('--url must be the http: or https: address of Lethe.');
  return {
    url: `${url.replace(/(?<!\/)\/+$/, '')}/api/v1`,
    bots: Math.floor(numberOf('bots', bots, 1, 100)),
    users: Math.floor(numberOf('users', users, 1, 1_000)),
    minutes: numberOf('minutes', minutes, 0.05, 60),
    token,
  };
}

/** Counts answers and keeps a bounded sample of their times. */
class Report {
  answers = 0;
  limited = 0;
  errors = new Map();
  times = [];

  add(ms, code) {
    this.answers += 1;
    if (this.times.length < SAMPLE_MAX) this.times.push(ms);
    else {
      const at = randomInt(this.answers);
      if (at < SAMPLE_MAX) this.times[at] = ms;
    }
    if (code === 'rate_limited') this.limited += 1;
    else if (code !== undefined) this.errors.set(code, (this.errors.get(code) ?? 0) + 1);
  }

  over(seconds) {
    const sorted = this.times.toSorted((one, other) => one - other);
    const at = (part) => Number((sorted[Math.ceil(sorted.length * part) - 1] ?? 0).toFixed(1));
    return {
      seconds: Number(seconds.toFixed(1)),
      requests: this.answers,
      requests_per_second: Number((this.answers / seconds).toFixed(1)),
      milliseconds: { p50: at(0.5), p95: at(0.95), p99: at(0.99) },
      rate_limited: this.limited,
      errors: Object.fromEntries([...this.errors].sort()),
    };
  }
}

/** One answer: its data, or undefined for an error, and how long a 429 asks to wait. */
async function call({ url, report, key, headers = {} }, method, path, body) {
  const sinceMs = performance.now();
  try {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...headers,
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
    const text = await answer.text();
    const code = answer.ok ? undefined : codeOf(answer.status, text);
    report.add(performance.now() - sinceMs, code);
    if (answer.status === 429)
      return { waitMs: Math.min(60, Math.max(1, Number(answer.headers.get('retry-after')) || 1)) * 1_000 };
    return answer.ok ? { data: text === '' ? {} : (JSON.parse(text).data ?? {}) } : {};
  } catch (error) {
    report.add(performance.now() - sinceMs, error.cause?.code ?? error.name);
    await pause(1_000);
    return {};
  }
}

function codeOf(status, text) {
  if (status === 429) return 'rate_limited';
  try {
    return `${status} ${JSON.parse(text).error.code}`;
  } catch {
    return String(status);
  }
}

/** A call that is repeated after each 429 until `endMs`. */
async function patient(bot, endMs, ...request) {
  for (;;) {
    const answer = await call(bot, ...request);
    if (answer.waitMs === undefined) return answer.data;
    if (performance.now() + answer.waitMs > endMs) return undefined;
    await pause(answer.waitMs);
  }
}

const snowflake = () => String(10n ** 17n + BigInt(randomInt(2 ** 47)));

async function registered(base, token, endMs) {
  const headers = token === undefined ? {} : { 'x-registration-token': token };
  const body = { platform_bot_id: snowflake(), name: 'Load test' };
  const data = await patient({ ...base, headers }, endMs, 'POST', '/bots/register', body);
  return data && { ...base, id: data.id, key: data.api_key };
}

/** The calls of one bot until the end: a consent and a value for each user, then reads and writes in turn. */
async function live(bot, users, endMs) {
  const labels = { label_de: 'Lasttest', label_en: 'Load test' };
  const fields = [{ key: 'value', type: 'string', ...labels }];
  await patient(bot, endMs, 'POST', '/data/register', { key: CATEGORY, ...labels, fields });
  const people = Array.from({ length: users }, () => ({ user_id: snowflake(), guild_id: GUILD }));
  // One turn is made however long the registrations have taken.
  for (let turn = 0; turn === 0 || performance.now() < endMs; turn++) {
    const who = people[turn % users];
    if (turn < users)
      for (const act of ['request', 'accept'])
        await patient(bot, endMs, 'POST', `/consents/${act}`, { ...who, consent_version: '1.0' });
    const query = `user_id=${who.user_id}&guild_id=${GUILD}`;
    if (turn % 2 === 1) await patient(bot, endMs, 'GET', `/consents/status?${query}`);
    else {
      const data = { value: String(turn) };
      await patient(bot, endMs, 'POST', '/data/submit', { ...who, category: CATEGORY, data });
    }
  }
}

async function run({ url, bots, users, minutes, token }) {
  const report = new Report();
  const beganMs = performance.now();
  const endMs = beganMs + minutes * 60_000;
  const made = [];
  for (let left = bots; left > 0; left--) {
    const bot = await registered({ url, report }, token, endMs);
    if (bot !== undefined) made.push(bot);
  }
  if (made.length === 0) throw new Error('No bot could be registered: see REGISTRATION and --token.');
  try {
    await Promise.all(made.map((bot) => live(bot, users, endMs)));
  } finally {
    const found = report.over((performance.now() - beganMs) / 1_000);
    process.stdout.write(`${JSON.stringify({ bots: made.length, users, ...found }, null, 2)}\n`);
    const lastMs = performance.now() + 120_000;
    for (const bot of made)
      if ((await patient(bot, lastMs, 'DELETE', `/bots/${bot.id}`)) === undefined)
        process.stderr.write(`The bot ${bot.id} could not be deleted: use bots:delete.\n`);
  }
}

try {
  await run(orderOf(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(error instanceof UsageError ? `${error.message}\n\n${USAGE}` : `${error.message}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
