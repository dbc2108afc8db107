import { type Bot, field } from '../bot';
import type { Json } from '../client';
import type { Receiver } from '../receiver';
import { seal } from '../sealing';
import type { Service } from '../service';
import { BOT_WIDE, type SubjectIds } from '../snowflakes';
import { until } from '../until';
import type { KeptBot, KeptKey, KeptLink, Repeat } from './manifest';

/** Ids that are the same in every fixture. */
const id = (kind: number, index: number): string => `${kind}${String(index).padStart(17, '0')}`;
export const user = (index: number): string => id(1, index);
export const guild = (index: number): string => id(2, index);
const who = (index: number, guildIndex = index % 3): SubjectIds => ({
  user_id: user(index),
  guild_id: guild(guildIndex),
});

type Noted = {
  -readonly [Part in 'erased' | 'receipts' | 'repeats' | 'links' | 'keys']: KeptBot[Part][number][];
};

/** A bot that is filled, and what it was answered once and cannot ask again. */
export interface FilledBot {
  readonly bot: Bot;
  readonly subjects: SubjectIds[];
  readonly noted: Noted;
}

const noted = (): Noted => ({ erased: [], receipts: [], repeats: [], links: [], keys: [] });

async function ok<T = Json>(
  answer: Promise<{ readonly status: number; readonly text: string; readonly data: T }>,
): Promise<T> {
  const { status, text, data } = await answer;
  if (status >= 300) throw new Error(`could not be filled: ${status} ${text}`);
  return data;
}

/** Fills a small installation through its interface: something in every table, in every state that lasts. */
export async function fillRelease(service: Service, receiver: Receiver): Promise<FilledBot[]> {
  const bots: FilledBot[] = [];
  for (const [index, name] of ['Garden', 'Zoë ✨', 'Quiet', 'Suspended'].entries()) {
    const bot = await service.registerBot({ platform_bot_id: id(3, index), name, webhook_url: receiver.url });
    bots.push({ bot, subjects: [], noted: noted() });
    await declare(bot);
  }
  const [garden, zoe, quiet, suspended] = bots as [FilledBot, FilledBot, FilledBot, FilledBot];
  await lives(garden);
  await seal(service, garden.bot);
  await erasures(garden);
  await seal(service, garden.bot);
  await guilds(garden);
  await repeats(garden);
  for (const each of [zoe, quiet, suspended]) await lives(each, 2);
  await erase(zoe, who(1));
  await erase(quiet, who(1));
  await keysOf(garden);
  await linksOf(garden);
  await calls(service, receiver, { garden, zoe, quiet });
  return bots;
}

async function declare(bot: Bot): Promise<void> {
  const labels = { labels: { fr: 'Profil (fr)', 'zh-Hant': '個人資料' } };
  await bot.hasCategory('profile', [field('value'), field('extra', 'json')], labels);
  await bot.hasCategory('notes', [field('value')], { legal_basis: 'consent', retention_days: 30 });
  await bot.hasCategory('empty');
  const text = { consent_version: '2.0', title: 'Ünï ✨', body: 'May we keep it?', jurisdiction: 'EU' };
  for (const language of ['de', 'en']) await ok(bot.post('/consents/texts', { ...text, language }));
  await ok(bot.put(`/bots/${bot.id}`, { privacy_contact: 'dpo@example.org' }));
  for (const index of [0, 1, 2])
    await ok(bot.post('/servers/register', { guild_id: guild(index), name: index ? 'ß' : null }));
}

/** A consent in each state, with values, a merged one among them. */
async function lives(filled: FilledBot, count = 8): Promise<void> {
  const { bot, subjects } = filled;
  for (let index = 0; index < count; index++) {
    const one = who(index);
    subjects.push(one);
    await ok(bot.post('/consents/request', { ...one, consent_version: '2.0' }));
    if (index === 6) await ok(bot.post('/consents/decline', one));
    if (index >= 6) continue;
    const accepted = await ok<{ receipt: string }>(
      bot.post('/consents/accept', { ...one, consent_version: '2.0' }),
    );
    filled.noted.receipts.push(accepted.receipt);
    await bot.hasData(one, 'profile', {
      value: `n${index}`,
      extra: { deep: ['👩‍👩‍👧‍👦', -0.5, index, '\u0001"\\'] },
    });
    await ok(
      bot.post('/data/submit', { ...one, category: 'profile', mode: 'merge', data: { value: `m${index}` } }),
    );
    await bot.hasData(one, 'notes', { value: 'ä'.repeat(10 + index) });
    await ok(bot.post('/audit/event', { ...one, event_type: 'data_exported', details: { text: '√' } }));
    if (index === 4) await bot.hasRequest(one, '3.0');
    if (index === 5) await bot.hasRevoked(one);
  }
  const wide = { user_id: user(0), guild_id: BOT_WIDE };
  subjects.push(wide);
  await ok(
    bot.post('/consents/request', {
      user_id: user(0),
      bot_id: bot.id,
      categories: ['profile'],
      language: 'fr',
    }),
  );
}

/** Erases a user and keeps the proof of it. */
async function erase({ bot, noted: { erased } }: FilledBot, one: SubjectIds): Promise<void> {
  const { request_id, certificate_salt: salt } = await ok<{ request_id: string; certificate_salt: string }>(
    bot.post('/gdpr/forget-user', one),
  );
  erased.push({ ...one, request_id, salt, certificate: await certificateOf(bot, request_id) });
}

async function certificateOf(bot: Bot, request: string): Promise<string> {
  return (await ok<{ certificate: string }>(bot.get(`/gdpr/forget-status/${request}/certificate`)))
    .certificate;
}

/** Of one user in a guild, of one in all guilds, and of one who came back. */
async function erasures(filled: FilledBot): Promise<void> {
  const {
    bot,
    subjects,
    noted: { erased },
  } = filled;
  const lived = async (one: SubjectIds): Promise<void> => {
    await bot.hasConsent(one);
    await bot.hasData(one, 'profile', { value: 'gone' });
    subjects.push(one);
  };
  for (const one of [who(10), who(11), who(12, 0), who(12, 1)]) await lived(one);
  await erase(filled, who(10));
  await erase(filled, who(11));
  await bot.hasConsent(who(11));
  await bot.hasData(who(11), 'profile', { value: 'back' });
  erased.pop();
  const { requests } = await ok<{
    requests: { request_id: string; guild_id: string; certificate_salt: string }[];
  }>(bot.post('/gdpr/forget-user', { user_id: user(12), scope: 'all_guilds' }));
  for (const { request_id, guild_id, certificate_salt: salt } of requests)
    erased.push({
      user_id: user(12),
      guild_id,
      request_id,
      salt,
      certificate: await certificateOf(bot, request_id),
    });
}

/** One erased with its users, one that will be. */
async function guilds({ bot }: FilledBot): Promise<void> {
  for (const index of [5, 6]) {
    await ok(bot.post('/servers/register', { guild_id: guild(index), name: 'leaves' }));
    await bot.hasConsent(who(20 + index, index));
    await bot.hasData(who(20 + index, index), 'profile', { value: 'with the guild' });
  }
  await ok(bot.delete(`/servers/${guild(5)}`));
  await ok(bot.delete(`/servers/${guild(6)}?grace_days=30`));
}

async function repeats({ bot, noted: { repeats: kept } }: FilledBot): Promise<void> {
  const submit = { ...who(1), category: 'profile', data: { value: 'once' } };
  const batch = { items: [{ ...who(2), category: 'notes', data: { value: 'batch' } }] };
  const key = { scopes: ['read'] };
  for (const [index, [path, body]] of (
    [
      ['/data/submit', submit],
      ['/data/submit/batch', batch],
      [`/bots/${bot.id}/keys`, key],
    ] as const
  ).entries()) {
    const answer = await ok(bot.post(path, body, { 'idempotency-key': `release-${index}` }));
    kept.push({ path, body, key: `release-${index}`, answer } satisfies Repeat);
  }
}

/** Keys of few scopes, one that has expired, one that is deleted. */
async function keysOf({ bot, noted: { keys } }: FilledBot): Promise<void> {
  const made = (given: Json) => ok<{ id: string; api_key: string }>(bot.post(`/bots/${bot.id}/keys`, given));
  const note = (api_key: string, reads: number, writes: number): void =>
    void keys.push({ api_key, reads, writes } satisfies KeptKey);
  note((await made({ scopes: ['read'] })).api_key, 200, 403);
  const deleted = await made({ scopes: ['read', 'write'] });
  await ok(bot.delete(`/bots/${bot.id}/keys/${deleted.id}`));
  note(deleted.api_key, 401, 401);
  const short = await made({
    scopes: ['write', 'read'],
    expires_at: new Date(Date.now() + 1_500).toISOString(),
  });
  const asShort = { authorization: `Bearer ${short.api_key}` };
  await until(async () => (await bot.get('/bots/me', asShort)).status === 401);
  note(short.api_key, 401, 401);
}

async function linksOf({ bot, noted: { links } }: FilledBot): Promise<void> {
  for (const [index, status] of [200, 404].entries()) {
    const { id: linkId, url } = await ok<{ id: string; url: string }>(
      bot.post('/privacy-links', { ...who(index), language: 'de' }),
    );
    if (status !== 200) await ok(bot.delete(`/privacy-links/${linkId}`));
    links.push({ token: url.split('/').at(-1) ?? '', status } satisfies KeptLink);
  }
}

/** Resolves when a bot has a call in this state, and none whose first attempt is due. */
async function called({ database }: Service, { bot }: FilledBot, status: string): Promise<void> {
  const sql = `SELECT status, last_outcome, locked_by FROM webhook_deliveries WHERE bot_id = ?`;
  await until(async () => {
    const rows = await database.rows<{
      status: string;
      last_outcome: string | null;
      locked_by: string | null;
    }>(sql, bot.id);
    const isRunning = rows.some(
      (row) => row.locked_by !== null || (row.status === 'pending' && row.last_outcome === null),
    );
    return !isRunning && rows.some((row) => row.status === status);
  });
}

/** Calls that have ended: delivered, exhausted after a short schedule, and gone. */
async function calls(
  service: Service,
  receiver: Receiver,
  { garden, zoe, quiet }: Readonly<Record<'garden' | 'zoe' | 'quiet', FilledBot>>,
): Promise<void> {
  await called(service, garden, 'delivered');
  receiver.status = 500;
  await erase(zoe, who(0));
  await called(service, zoe, 'exhausted');
  receiver.status = 410;
  await erase(quiet, who(0));
  await called(service, quiet, 'gone');
}

/**
 * The last acts, under a schedule whose retry is an hour away: a call that waits for it, one that was cancelled, and
 * events that no batch holds.
 */
export async function fillLast(
  service: Service,
  receiver: Receiver,
  bots: readonly FilledBot[],
): Promise<void> {
  const [garden, , , suspended] = bots.map(({ bot, ...more }) => ({ ...more, bot: bot.at(service) })) as [
    FilledBot,
    FilledBot,
    FilledBot,
    FilledBot,
  ];
  receiver.status = 500;
  for (const each of [garden, suspended]) {
    await erase(each, who(each === garden ? 3 : 1));
    await called(service, each, 'pending');
  }
  await ok(suspended.bot.put(`/bots/${suspended.bot.id}`, { webhook_url: null }));
  await called(service, suspended, 'cancelled');
  await ok(
    garden.bot.post('/audit/event', { ...who(2), event_type: 'data_deleted', details: { unsealed: true } }),
  );
}
