import { Bot, field } from './bot';
import { PREFIX } from './client';
import type { Service } from './service';
import { subject, type SubjectIds } from './snowflakes';
import { until } from './until';

/** JSON texts of a bot that change when they are handled as anything but text. */
const AWKWARD = [
  `{"emoji":"👩‍👩‍👧‍👦 🏳️‍🌈 é é 𝕏","escapes":"\\u0001\\u2028 \\" \\\\ ' {1,NULL} \\\\N \\t\\n"}`,
  `{"numbers":[9007199254740991,-9007199254740991,-0,0.1,5e-324,1.0,1E2]}`,
  `{"10":"x","9":"y","b":1,"a":2,"":{"":[]},"__proto__":null,"constructor":{}}`,
  `{}`,
  JSON.stringify({ long: 'ä'.repeat(12_000) }),
];

/** A filled installation and its answers. */
export interface Filled {
  readonly bots: readonly Bot[];
  readonly subjects: readonly SubjectIds[];
  /** Every GET of the interface at `url` with its answer, except for the time of an export. */
  answers(url: string): Promise<Readonly<Record<string, string>>>;
}

/** Fills `service` through its interface: consents in every state, awkward values, erasures, calls and their attempts. */
export async function fill(service: Service, subjectsEach = 12): Promise<Filled> {
  const bots = [
    await service.registerBot({ name: 'Zoë ✨', webhook_url: 'http://127.0.0.1:8088/closed' }),
    await service.registerBot(),
  ];
  const subjects: SubjectIds[] = [];
  const requests = new Map<Bot, string[]>();
  for (const bot of bots) {
    await bot.hasCategory('profile', [field('value'), field('extra', 'json')]);
    await bot.hasCategory('notes', [field('value', 'json')], { legal_basis: 'consent', retention_days: 30 });
    await bot.hasCategory('empty');
    const text = { consent_version: '2.0', title: 'Ünï ✨', body: AWKWARD[0], jurisdiction: 'ß' };
    for (const language of ['de', 'en']) await bot.post('/consents/texts', { ...text, language });
    await bot.put(`/bots/${bot.id}`, { privacy_contact: 'dpo@example.org' });
    for (let index = 0; index < subjectsEach; index++) {
      const who = subject();
      subjects.push(who);
      await bot.post('/servers/register', { guild_id: who.guild_id, name: index % 2 ? 'ß' : null });
      const erased = await live(bot, who, index);
      if (erased !== undefined) requests.set(bot, [...(requests.get(bot) ?? []), erased]);
    }
  }
  await attempted(service);
  const answers = (url: string) => allAnswers(url, bots, subjects, requests);
  return { bots, subjects, answers };
}

/** A key of few scopes that expires, a stored tier, and a suspended bot. */
export async function fillStandings({ bots: [one, other] }: Filled, { database }: Service): Promise<void> {
  const key = { scopes: ['read', 'erase'], expires_at: '2999-01-01T00:00:00Z' };
  await one?.post(`/bots/${one.id}/keys`, key);
  const time = '2026-11-20T12:00:00.000Z';
  await database.run(`UPDATE bots SET tier = 'high', resumed_at = '${time}' WHERE id = '${one?.id}'`);
  await database.run(`UPDATE bots SET suspended_at = '${time}' WHERE id = '${other?.id}'`);
  await database.run(`UPDATE api_keys SET last_used_at = '${time}', rotated_at = '${time}' WHERE scopes = 5`);
}

/** Waits for the first attempt of every call, so that no call is running. The retries are an hour away. */
async function attempted({ database }: Service): Promise<void> {
  const waiting = () =>
    database.rows(
      `SELECT id FROM webhook_deliveries WHERE status = 'pending' AND (last_outcome IS NULL OR locked_by IS NOT NULL)`,
    );
  await until(async () => (await waiting()).length === 0);
}

/** The settings of a service that will be filled. */
export const FILLED_SETTINGS = { WEBHOOK_RETRY_SCHEDULE: '1h' };

/** Plays one of the lives of a subject; answers the id of its erasure, if it ends with one. */
async function live(bot: Bot, who: SubjectIds, index: number): Promise<string | undefined> {
  const kind = index % 6;
  if (kind === 0) return undefined;
  await bot.hasRequest(who);
  if (kind === 1) return undefined;
  await bot.post('/consents/accept', { ...who, consent_version: '1.0' });
  await submit(bot, who, 'notes', `{"value":${AWKWARD[(index + 1) % AWKWARD.length]}}`);
  await submit(bot, who, 'profile', `{"value":"${index}","extra":${AWKWARD[index % AWKWARD.length]}}`);
  await bot.post('/audit/event', { ...who, event_type: 'data_exported', details: { text: '√ \u0001' } });
  if (kind === 3) await bot.hasRequest(who, '2.0');
  if (kind === 4) await bot.hasRevoked(who);
  return kind === 5 ? bot.hasForgotten(who) : undefined;
}

async function submit(bot: Bot, who: SubjectIds, category: string, data: string): Promise<void> {
  const raw = `{"user_id":"${who.user_id}","guild_id":"${who.guild_id}","category":"${category}","data":${data}}`;
  const headers = { 'content-type': 'application/json' };
  const { status, text } = await bot.send('POST', `${PREFIX}/data/submit`, { headers, raw });
  if (status !== 200) throw new Error(`could not be submitted: ${text}`);
}

async function allAnswers(
  url: string,
  bots: readonly Bot[],
  subjects: readonly SubjectIds[],
  requests: ReadonlyMap<Bot, readonly string[]>,
): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const bot of bots) {
    const caller = new Bot(url, {
      id: bot.id,
      platform_bot_id: bot.platformBotId,
      name: bot.name,
      api_key: bot.key,
      api_key_prefix: '',
      webhook_secret: bot.webhookSecret,
    });
    for (const path of pathsOf(bot, subjects, requests.get(bot) ?? [])) {
      const { status, text } = await caller.get(path);
      // A cursor is encrypted anew in each answer.
      const same = text.replace(/"(exportedAt|next)":"[^"]*"/g, '"$1":""');
      found[`${bot.name} ${path}`] = `${status} ${same}`;
    }
  }
  return found;
}

function pathsOf(bot: Bot, subjects: readonly SubjectIds[], requests: readonly string[]): string[] {
  const lists = ['/servers', '/data/categories', '/consents/texts', '/audit/events', '/webhooks/deliveries'];
  const filters = ['event_type=data_submitted', `guild_id=${subjects[2]?.guild_id}`];
  return [
    `/bots/${bot.id}`,
    ...['profile', 'notes', 'empty'].map((key) => `/data/categories/${key}`),
    ...lists.flatMap((list) => [list, `${list}?page=2&page_size=7`]),
    ...filters.map((filter) => `/audit/events?${filter}&page_size=100`),
    ...requests.map((id) => `/gdpr/forget-status/${id}`),
    ...subjects.flatMap(({ user_id, guild_id }) => [
      `/consents/status?user_id=${user_id}&guild_id=${guild_id}`,
      `/audit/events?user_id=${user_id}`,
      `/consents/history?user_id=${user_id}&guild_id=${guild_id}`,
    ]),
    // Exports write events: they come last, the one that shows events before the other.
    ...subjects.flatMap(({ user_id, guild_id }) =>
      ['&format=full', ''].map((more) => `/data/export/${user_id}?guild_id=${guild_id}${more}`),
    ),
  ];
}
