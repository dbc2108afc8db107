import { randomInt } from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';

// As far ahead as the ids of users.
const GUILD = '12345678901234567890';
const CATEGORY = 'loadtest';
const CALL_TIMEOUT_MS = 30_000;
/** Most bytes of an answer that are kept; of a longer one the rest is read and dropped. */
const KEPT_MAX_BYTES = 65_536;
/** The pause after a call without an answer. */
const FAULT_PAUSE_MS = 1_000;
const REMOVAL_TRIES = 5;

/** The way to one installation: its address, its report, and the end of the test. */
export class Installation {
  constructor(url, report, stopping) {
    this.url = new URL(`${url.replace(/\/+$/, '')}/api/v1`);
    this.report = report;
    this.stopping = stopping;
    const isSecure = this.url.protocol === 'https:';
    this.agent = new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true });
    this.request = isSecure ? httpsRequest : httpRequest;
  }

  /** One call: the status, the data of a success, and how long a 429 asks to wait. Never rejects. */
  async call(operation, { method, path, body, headers = {} }) {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const sinceMs = performance.now();
    try {
      const answer = await this.answer(method, path, text, headers);
      const isGood = answer.status < 300;
      this.report.add(
        operation,
        performance.now() - sinceMs,
        isGood ? undefined : codeOf(answer.status, answer.text),
      );
      const data = isGood ? dataOf(answer.text) : undefined;
      return { status: answer.status, limit: answer.headers['x-ratelimit-limit'], data, ...waitOf(answer) };
    } catch (error) {
      this.report.add(operation, performance.now() - sinceMs, error.code ?? error.name);
      await this.rest(FAULT_PAUSE_MS);
      return { status: 0 };
    }
  }

  /** A call that is repeated after each 429 until `endMs`, or until the test ends. */
  async patient(operation, endMs, request) {
    for (;;) {
      const answer = await this.call(operation, request);
      if (answer.waitMs === undefined) return answer;
      const waitMs = Math.min(answer.waitMs, endMs - performance.now());
      this.report.waitedMs += Math.max(0, waitMs);
      await this.rest(waitMs);
      if (this.stopping.aborted || performance.now() >= endMs) return answer;
    }
  }

  /** A timer can end some tenths of a millisecond early, where the bot would call once more before the end. */
  async rest(ms) {
    const untilMs = performance.now() + ms;
    for (let leftMs = ms; leftMs > 0 && !this.stopping.aborted; leftMs = untilMs - performance.now())
      await pause(Math.ceil(leftMs), undefined, { signal: this.stopping }).catch(() => undefined);
  }

  answer(method, path, text, headers) {
    return new Promise((resolve, reject) => {
      const length = text === undefined ? {} : { 'content-length': Buffer.byteLength(text) };
      const request = this.request(
        `${this.url.href}${path}`,
        {
          method,
          agent: this.agent,
          headers: {
            ...headers,
            ...length,
            ...(text === undefined ? {} : { 'content-type': 'application/json' }),
          },
          signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
        },
        (response) => {
          const kept = [];
          let bytes = 0;
          response.on('data', (chunk) => {
            if ((bytes += chunk.length) <= KEPT_MAX_BYTES) kept.push(chunk);
          });
          response.on('end', () =>
            resolve({
              status: response.statusCode,
              headers: response.headers,
              text: Buffer.concat(kept).toString(),
            }),
          );
          response.on('error', reject);
        },
      );
      request.on('error', reject).end(text);
    });
  }
}

function codeOf(status, text) {
  try {
    return `${status} ${JSON.parse(text).error.code}`;
  } catch {
    return String(status);
  }
}

function dataOf(text) {
  try {
    return JSON.parse(text).data ?? {};
  } catch {
    // An export that is longer than what is kept.
    return {};
  }
}

function waitOf({ status, headers }) {
  if (status !== 429) return {};
  const seconds = Number(headers['retry-after']);
  return { waitMs: Math.min(60, Math.max(1, seconds || 1)) * 1_000 };
}

/** An id of 20 digits that the platform gives out no earlier than in 2090, so that it is no user's. */
const snowflake = () => String(10n ** 19n + BigInt(randomInt(2 ** 47)));

/** One bot with its users, whose ids follow from the first one: they take no memory. */
export class Bot {
  seen = 0;
  isPrepared = false;
  firstUser = BigInt(snowflake());

  constructor(installation, { id, key }, users) {
    this.installation = installation;
    this.id = id;
    this.headers = { authorization: `Bearer ${key}` };
    this.users = users;
  }

  /** The calls of the bot until the end, one after the other. */
  async live(endMs) {
    const { stopping } = this.installation;
    while (performance.now() < endMs && !stopping.aborted) {
      if (!this.isPrepared) await this.prepare(endMs);
      else if (this.seen === 0) await this.grow(endMs);
      else await this.act(endMs);
    }
  }

  send(operation, endMs, method, path, body) {
    return this.installation.patient(operation, endMs, { method, path, body, headers: this.headers });
  }

  async prepare(endMs) {
    const labels = { label_de: 'Lasttest', label_en: 'Load test' };
    const fields = [{ key: 'value', type: 'string', ...labels }];
    const answer = await this.send('declare category', endMs, 'POST', '/data/register', {
      key: CATEGORY,
      ...labels,
      fields,
    });
    this.isPrepared = answer.status < 300 && answer.status > 0;
    if (!this.isPrepared) return;
    const { tiers } = this.installation.report;
    tiers.set(answer.limit, (tiers.get(answer.limit) ?? 0) + 1);
  }

  who(at) {
    return { user_id: String(this.firstUser + BigInt(at)), guild_id: GUILD };
  }

  /** One more user, with a consent. */
  async grow(endMs) {
    const consent = { ...this.who(this.seen), consent_version: '1.0' };
    for (const act of ['request', 'accept']) {
      const { status } = await this.send(`consent ${act}`, endMs, 'POST', `/consents/${act}`, consent);
      if (status === 0 || status >= 300) return;
    }
    this.seen += 1;
    await this.submit(endMs, this.seen - 1);
  }

  submit(endMs, at) {
    const body = { ...this.who(at), category: CATEGORY, data: { value: String(at) } };
    return this.send('submit', endMs, 'POST', '/data/submit', body);
  }

  /** Of ten turns with all users there: six ask for a consent, three store, one exports; few erase the newest user. */
  async act(endMs) {
    if (this.seen < this.users && randomInt(4) === 0) return this.grow(endMs);
    const at = randomInt(this.seen);
    const { user_id, guild_id } = this.who(at);
    const query = `user_id=${user_id}&guild_id=${guild_id}`;
    const turn = randomInt(100);
    if (turn < 60) return this.send('consent status', endMs, 'GET', `/consents/status?${query}`);
    if (turn < 90) return this.submit(endMs, at);
    if (turn < 98) return this.send('export', endMs, 'GET', `/data/export/${user_id}?guild_id=${guild_id}`);
    const newest = this.who(this.seen - 1);
    const { status } = await this.send('erase', endMs, 'POST', '/gdpr/forget-user', newest);
    if (status === 200) this.seen -= 1;
    return undefined;
  }
}

/** Deletes a bot with everything that it has stored; true when nothing of it is left. */
export async function remove(installation, { id, key }) {
  const headers = { authorization: `Bearer ${key}` };
  const request = { method: 'DELETE', path: `/bots/${id}`, headers };
  for (let tries = 0; tries < REMOVAL_TRIES; tries++) {
    const { status } = await installation.patient('delete bot', Infinity, request);
    // 401: an earlier try has deleted it, whose answer was lost.
    if (status === 200 || status === 204 || status === 401) return true;
    await installation.rest(FAULT_PAUSE_MS);
  }
  return false;
}

/** Registers a bot; undefined when it is refused. */
export async function register(installation, token, endMs, name) {
  const headers = token === undefined ? {} : { 'x-registration-token': token };
  const body = { platform_bot_id: snowflake(), name };
  const request = { method: 'POST', path: '/bots/register', body, headers };
  const { status, data } = await installation.patient('register bot', endMs, request);
  return status === 201 || status === 200 ? { id: data.id, key: data.api_key } : undefined;
}
