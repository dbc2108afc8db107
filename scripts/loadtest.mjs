// npm run loadtest -- --bots N --users N --minutes N: the load of many bots on an installation of your own, with a report.
import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Bot, Installation, register, remove } from './loadtest.bot.mjs';
import { linesOf, Report } from './loadtest.report.mjs';

const USAGE = `npm run loadtest -- [--url URL] [--bots N] [--users N] [--minutes N] [--token TOKEN] [--json]

Registers bots on an installation of your own, lets them act for some minutes, prints a report and deletes them again.
--url by default http://127.0.0.1:3000. --bots 1 to 10000, --users of all of them 1 to 10000000, --minutes 0.05 to 600.
--token is the one of REGISTRATION=token. A bot has one call at a time, and waits as long as a 429 says.
Ctrl-C ends the test with its report. --remove FILE deletes the bots of a test that was killed.
`;

/** Calls at the same time while bots are registered and deleted. */
const LANES = 8;
const PROGRESS_MS = 10_000;
/** With more bots than this, and without limits, the calls wait for each other. */
const BUSY_BOTS = 64;

class UsageError extends Error {}

function numberOf(name, text, min, max) {
  const value = Number(text);
  if (!(value >= min && value <= max)) throw new UsageError(`--${name} must be ${min} to ${max}.`);
  return value;
}

function orderOf(args) {
  const text = { type: 'string' };
  const options = { url: text, bots: text, users: text, minutes: text, token: text, remove: text };
  let values;
  try {
    ({ values } = parseArgs({ args, options: { ...options, json: { type: 'boolean' } } }));
  } catch (error) {
    throw new UsageError(error.message);
  }
  const { url = 'http://127.0.0.1:3000', bots = '5', users = '100', minutes = '1', token } = values;
  if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url))
    throw new UsageError('--url must be the http: or https: address of Lethe.');
  return {
    url,
    bots: Math.floor(numberOf('bots', bots, 1, 10_000)),
    users: Math.floor(numberOf('users', users, 1, 10_000_000)),
    minutes: numberOf('minutes', minutes, 0.05, 600),
    token,
    removed: values.remove,
    isJson: values.json === true,
  };
}

const say = (text) => process.stderr.write(`${text}\n`);

/** Runs `work` for each item, a few at a time; answers the results in the order in which they end. */
async function inLanes(items, work) {
  const results = [];
  const left = items.values();
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      for (const item of left) results.push(await work(item));
    }),
  );
  return results;
}

/** The bots that have to be deleted, with their keys, in a file that outlives a kill. */
class BotsFile {
  name = randomBytes(4).toString('hex');
  path = `lethe-loadtest-${this.name}.ndjson`;

  constructor(url) {
    writeFileSync(this.path, `${JSON.stringify({ url })}\n`, { mode: 0o600, flag: 'wx' });
  }

  add(bot) {
    appendFileSync(this.path, `${JSON.stringify(bot)}\n`);
  }
}

/** Deletes bots, and their file when none is left. Nothing interrupts it but the end of the process. */
async function removeAll(url, bots, path) {
  const installation = new Installation(url, new Report(), new AbortController().signal);
  const kept = (await inLanes(bots, async (bot) => !(await remove(installation, bot)) && bot.id)).filter(
    Boolean,
  );
  if (kept.length === 0) rmSync(path);
  else {
    say(`${kept.length} bots could not be deleted. Try again: npm run loadtest -- --remove ${path}`);
    process.exitCode = 1;
  }
  return bots.length - kept.length;
}

async function removeNoted(path) {
  let lines;
  try {
    lines = readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  } catch (error) {
    throw new UsageError(`--remove must name the file of a load test: ${error.message}`);
  }
  const [{ url }, ...bots] = lines;
  say(`${await removeAll(url, bots, path)} bots are deleted.`);
}

/** Registers the bots, for as long as the test may take. */
async function registerAll({ url, bots, minutes, token }, report, stopping, file) {
  const installation = new Installation(url, report, stopping);
  const endMs = performance.now() + minutes * 60_000;
  let refused = 0;
  const made = await inLanes(Array.from({ length: bots }), async () => {
    // After a few refusals the others would be refused too.
    if (performance.now() > endMs || stopping.aborted || refused >= LANES) return undefined;
    const bot = await register(installation, token, endMs, `Load test ${file.name}`);
    if (bot === undefined) refused += 1;
    else file.add(bot);
    return bot;
  });
  report.end();
  const found = made.filter((bot) => bot !== undefined);
  if (found.length > 0) return found;
  rmSync(file.path);
  const { errors } = report.summary({}).operations['register bot'] ?? { errors: {} };
  throw new Error(
    `No bot could be registered at ${url} (${JSON.stringify(errors)}). Is it the address of Lethe, and may anyone register: REGISTRATION, --token?`,
  );
}

/** What the reader of the report should know beside its numbers. */
function notesOf({ bots, minutes }, made, report, registered) {
  return [
    made.length < bots &&
      `Only ${made.length} of ${bots} bots could be registered in ${minutes} minutes. An address may make RATE_LIMIT_ANONYMOUS calls without a key a minute: raise it for the test.`,
    registered.failed > 0 &&
      `${registered.failed} registrations failed: ${JSON.stringify(registered.summary({}).operations['register bot'].errors)}`,
    report.limited > report.calls / 100 &&
      'The rates are those of the tiers and not of the machine: raise RATE_LIMIT_TIERS for the test to see the latter.',
    report.limited === 0 &&
      made.length > BUSY_BOTS &&
      'Each bot had a call under way nearly all the time, so the times are those of a full queue. Fewer bots show the time of a call.',
    report.failed > 0 && 'The log of Lethe says more about each error.',
  ].filter((note) => note !== false);
}

/** Ends the test at the first Ctrl-C, and the process at the second. */
function interruption(file) {
  const interrupted = new AbortController();
  // Each bot that waits listens.
  setMaxListeners(0, interrupted.signal);
  process.on('SIGINT', () => {
    if (interrupted.signal.aborted) {
      say(`Ended. To delete its bots: npm run loadtest -- --remove ${file.path}`);
      process.exit(130);
    }
    interrupted.abort();
    say('The test ends with its report, and deletes its bots. Ctrl-C once more leaves them.');
  });
  return interrupted.signal;
}

/** Lets the bots act until the end. */
async function live(bots, report, minutes) {
  report.begin();
  const endMs = performance.now() + minutes * 60_000;
  const progress = setInterval(
    () =>
      say(
        `${report.seconds.toFixed(0)} s: ${report.calls} calls, ${report.failed} errors, ${report.limited} answered 429`,
      ),
    PROGRESS_MS,
  );
  await Promise.all(bots.map((bot) => bot.live(endMs)));
  clearInterval(progress);
  report.end();
}

async function test(order) {
  const { url, minutes } = order;
  const file = new BotsFile(url);
  const stopping = interruption(file);
  const [registered, report] = [new Report(), new Report()];
  const made = await registerAll(order, registered, stopping, file);
  say(
    `${made.length} bots are registered after ${registered.seconds.toFixed(0)} s; ${file.path} has their keys until they are deleted.`,
  );
  const installation = new Installation(url, report, stopping);
  const bots = made.map((bot) => new Bot(installation, bot, Math.ceil(order.users / made.length)));
  await live(bots, report, minutes);
  const summary = report.summary({
    url,
    bots: { asked: order.bots, registered: made.length },
    users: { asked: order.users, reached: bots.reduce((sum, { seen }) => sum + seen, 0) },
    notes: notesOf(order, made, report, registered),
  });
  process.stdout.write(order.isJson ? `${JSON.stringify(summary, null, 2)}\n` : `${linesOf(summary)}\n`);
  await removeAll(url, made, file.path);
}

try {
  const order = orderOf(process.argv.slice(2));
  await (order.removed === undefined ? test(order) : removeNoted(order.removed));
} catch (error) {
  process.stderr.write(error instanceof UsageError ? `${error.message}\n\n${USAGE}` : `${error.message}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
