// What happens in an installation whose data is kept for the tests of later upgrades, and what it answers afterwards.
import { setTimeout as pause } from 'node:timers/promises';

/** Nothing listens there. */
const AWAY = 'http://127.0.0.1:45998/away';
const [HOME, LEAVING, PLAIN] = ['511111111111111101', '511111111111111102', '511111111111111103'];
const PEOPLE = [
  'asked',
  'given',
  'some',
  'declined',
  'withdrawn',
  'again',
  'large',
  'merged',
  'erased',
  'unknown',
];
const userId = (name) => `4111111111111111${String(PEOPLE.indexOf(name) + 10)}`;
const person = (name, guild = HOME) => ({ user_id: userId(name), guild_id: guild });
const LEAVERS = ['411111111111111151', '411111111111111152'].map((user_id) => ({
  user_id,
  guild_id: LEAVING,
}));
/** A text of the users who are erased, or will be: no file may have it afterwards. */
const MARK = 'leaves-no-trace';
const AWKWARD = [
  `{"emoji":"👩‍👩‍👧‍👦 🏳️‍🌈 é é 𝕏","escapes":"\\u0001\\u2028 \\" \\\\ ' {1,NULL} \\\\N \\t\\n"}`,
  `{"numbers":[9007199254740991,-9007199254740991,-0,0.1,5e-324,1.0,1E2]}`,
  `{"10":"x","9":"y","b":1,"a":2,"":{"":[]},"__proto__":null,"constructor":{}}`,
];
const field = (key, type = 'string') => ({ key, type, label_de: `Feld ${key}`, label_en: `Field ${key}` });
const category = (key, fields, more) => ({
  key,
  label_de: `Größe ${key}`,
  label_en: `Category ${key}`,
  fields,
  ...more,
});

class Caller {
  constructor(url, key) {
    this.url = url;
    this.key = key;
  }

  async answer(method, path, body) {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(this.key && { authorization: `Bearer ${this.key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: typeof body === 'object' ? JSON.stringify(body) : body,
    });
    return { status: response.status, text: await response.text() };
  }

  /** The `data` of an act that succeeds. */
  async act(method, path, body) {
    const { status, text } = await this.answer(method, `/api/v1${path}`, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return JSON.parse(text).data;
  }

  post(path, body) {
    return this.act('POST', path, body);
  }
}

/** Fills the service at `url`, and resolves once the receiver was called in vain and the log is sealed. */
export async function theStory(url) {
  const { paths } = JSON.parse((await new Caller(url).answer('GET', '/docs-json')).text);
  const has = (path) => `/api/v1${path}` in paths;
  const first = await registered(url, {
    platform_bot_id: '611111111111111101',
    name: 'Zoë ✨',
    webhook_url: AWAY,
  });
  const second = await registered(url, {
    platform_bot_id: '611111111111111102',
    name: 'Suspended',
    webhook_url: AWAY,
  });
  await declares(first, has);
  await lives(first);
  if (has('/holders')) first.holder = await holds(first);
  if (has('/data/object'))
    await first.caller.post('/data/restrict', { ...person('merged'), category: 'profile' });
  first.erased = await erases(first);
  await first.caller.act('DELETE', `/servers/${LEAVING}?grace_days=90`);
  await isSuspendedLater(second);
  first.keys = await changesKeys(first);
  // A link ends with the key that made it.
  first.link = await first.caller.post('/privacy-links', {
    ...person('given'),
    language: 'de',
    expires_in: 604800,
  });
  for (const bot of [first, second]) await called(bot);
  return [first, second];
}

/** The bot that the operator suspends before the answers are kept. */
export const suspendable = ([, second]) => second;

async function registered(url, bot) {
  const made = await new Caller(url).post('/bots/register', bot);
  return { ...made, caller: new Caller(url, made.api_key), answers: {} };
}

async function declares({ id, caller }, has) {
  const long = { retention_days: 3650 };
  await caller.post('/data/register', category('profile', [field('value'), field('extra', 'json')]));
  await caller.post(
    '/data/register',
    category('notes', [field('value', 'json')], { legal_basis: 'contract', ...long }),
  );
  await caller.post('/data/register', category('empty', [field('value', 'date')], { description: 'Ünï ✨' }));
  if (has('/data/object')) {
    const reasons = { reason_de: 'Zur Abwehr von Missbrauch.', reason_en: 'Against abuse.' };
    const without = { legal_basis: 'legitimate_interests', requires_consent: false, ...reasons, ...long };
    await caller.post('/data/register', category('safety', [field('value')], without));
  }
  for (const language of ['de', 'en'])
    await caller.post('/consents/texts', {
      ...{ consent_version: '2.0', language, title: 'Einwilligung ✨', body: AWKWARD[0], jurisdiction: 'ß' },
    });
  await caller.act('PUT', `/bots/${id}`, { privacy_contact: 'dpo@example.org' });
  await caller.post('/servers/register', { guild_id: HOME, name: 'Grünes Café 🌿' });
  await caller.post('/servers/register', { guild_id: LEAVING, name: MARK });
  await caller.post('/servers/register', { guild_id: PLAIN });
}

/** Consents in every state, and values. */
async function lives({ caller }) {
  const asks = (who, consent_version = '1.0') =>
    caller.post('/consents/request', { ...who, consent_version });
  const consents = async (who, more = {}) => {
    await asks(who);
    await caller.post('/consents/accept', { ...who, consent_version: '1.0', ...more });
  };
  const submits = (who, name, data, mode = 'replace') =>
    caller.post(
      '/data/submit',
      `{"user_id":"${who.user_id}","guild_id":"${who.guild_id}","category":"${name}","mode":"${mode}","data":${data}}`,
    );
  await asks(person('asked'));
  await asks(person('declined'));
  await caller.post('/consents/decline', person('declined'));
  for (const who of [person('given'), person('given', PLAIN)]) {
    await consents(who);
    await submits(who, 'profile', `{"value":"Robin of ${who.guild_id}","extra":${AWKWARD[0]}}`);
    await submits(who, 'notes', `{"value":${AWKWARD[1]}}`);
    await caller.post('/audit/event', { ...who, event_type: 'data_exported', details: { text: '√ \u0001' } });
  }
  await consents(person('some'), { categories: ['profile'] });
  await submits(person('some'), 'profile', `{"value":"some","extra":${AWKWARD[2]}}`);
  await consents(person('withdrawn'));
  await submits(person('withdrawn'), 'profile', `{"value":"withdrawn"}`);
  await caller.post('/consents/revoke', person('withdrawn'));
  await consents(person('again'));
  await submits(person('again'), 'notes', `{"value":"again"}`);
  await asks(person('again'), '2.0');
  await consents(person('large'));
  await submits(person('large'), 'profile', JSON.stringify({ value: 'ä𝕏'.repeat(1_000) }));
  await consents(person('merged'));
  await submits(person('merged'), 'profile', `{"value":"merged"}`);
  await submits(person('merged'), 'profile', `{"extra":${AWKWARD[1]}}`, 'merge');
  for (const who of [person('erased'), ...LEAVERS]) {
    await consents(who);
    await submits(who, 'profile', `{"value":"${MARK} ${who.user_id}"}`);
  }
}

/** A store of the bot: an erasure from then on waits for its answer. */
async function holds({ caller }) {
  const labels = { label_de: 'Datenbank des Bots', label_en: 'Database of the bot' };
  await caller.post('/holders', { key: 'database', kind: 'pull', covers: ['levels'], ...labels });
  return 'database';
}

async function erases({ caller }) {
  const found = [];
  for (const who of [person('erased'), person('unknown')]) {
    const { request_id, certificate_salt: salt } = await caller.post('/gdpr/forget-user', who);
    found.push({ ...who, request_id, salt });
  }
  return found;
}

async function isSuspendedLater({ caller }) {
  await caller.post('/data/register', category('profile', [field('value')]));
  await caller.post('/consents/request', { ...person('given'), consent_version: '1.0' });
  await caller.post('/consents/accept', { ...person('given'), consent_version: '1.0' });
  await caller.post('/data/submit', {
    ...person('given'),
    category: 'profile',
    data: { value: 'of the other' },
  });
  await caller.post('/gdpr/forget-user', person('unknown'));
}

/** The first key is void; the second one reads, and the third one may do everything. */
async function changesKeys(bot) {
  const void_ = bot.caller.key;
  const path = `/bots/${bot.id}/keys`;
  const { api_key: reading } = await bot.caller.post(path, { scopes: ['read'] });
  const { api_key: key } = await bot.caller.post(`${path}/rotate`, { overlap_seconds: 0 });
  bot.caller = new Caller(bot.caller.url, key);
  return { void: void_, reading };
}

/** Resolves when each delivery has had its one attempt. */
async function called({ caller }) {
  await until(async () => {
    const { deliveries } = await caller.act('GET', '/webhooks/deliveries?page_size=100');
    return deliveries.every(({ last_outcome }) => last_outcome !== null);
  });
}

/** What the installation answers, for the service at `url`. */
export async function remember(url, told) {
  const keySet = JSON.parse((await new Caller(url).answer('GET', '/.well-known/lethe-keys.json')).text);
  const bots = [];
  for (const [at, bot] of told.entries()) {
    const caller = new Caller(url, bot.caller.key);
    const { id, platform_bot_id, name, webhook_secret, keys, link, holder } = bot;
    const { event_id } = await sealed(caller);
    const answers = {};
    for (const path of at === 0 ? pathsOfFirst(bot, event_id) : pathsOfSecond(bot))
      answers[path] = await caller.answer('GET', `/api/v1${path}`);
    const log = (await caller.answer('GET', '/api/v1/audit/export')).text.trimEnd().split('\n');
    bots.push({
      ...{ id, platform_bot_id, name, api_key: caller.key, webhook_secret, keys, link, holder },
      ...{ erased: bot.erased ?? [], leaving: at === 0 ? LEAVERS : [], proof_of: event_id, answers, log },
    });
  }
  return { mark: MARK, leaving_guild: LEAVING, key_set: keySet, bots };
}

/** Resolves when the newest event is in a batch. */
async function sealed(caller) {
  const { events } = await caller.act('GET', '/audit/events?page_size=1');
  const [{ id: event_id }] = events;
  await until(async () => (await caller.answer('GET', `/api/v1/audit/proof/${event_id}`)).status === 200);
  return { event_id };
}

const aboutUser = ({ user_id, guild_id }) => `user_id=${user_id}&guild_id=${guild_id}`;

function pathsOfFirst({ id, erased }, event) {
  const people = [...PEOPLE.map((name) => person(name)), person('given', PLAIN)];
  return [
    ...[
      `/bots/${id}`,
      `/bots/${id}/keys`,
      '/servers',
      '/data/categories',
      '/consents/texts',
      '/audit/checkpoints',
    ],
    ...['profile', 'notes', 'empty'].map((key) => `/data/categories/${key}`),
    ...['profile', 'notes'].map((key) => `/data/values?guild_id=${HOME}&category=${key}&page_size=100`),
    `/audit/proof/${event}`,
    ...erased.flatMap(({ request_id }) =>
      ['', '/certificate'].map((more) => `/gdpr/forget-status/${request_id}${more}`),
    ),
    ...people.flatMap((who) =>
      ['status', 'history', 'receipt'].map((what) => `/consents/${what}?${aboutUser(who)}`),
    ),
    // Exports write events.
    ...people.flatMap(({ user_id, guild_id }) =>
      ['', '&format=full'].map((more) => `/data/export/${user_id}?guild_id=${guild_id}${more}`),
    ),
  ];
}

function pathsOfSecond({ id }) {
  const { user_id, guild_id } = person('given');
  return [
    `/bots/${id}`,
    `/consents/status?${aboutUser(person('given'))}`,
    `/data/export/${user_id}?guild_id=${guild_id}`,
  ];
}

async function until(holds) {
  while (!(await holds())) await pause(100);
}
