import { databaseUnavailable, UnitOfWork } from '@app/database';
import { ErasureService, GuildDeletion } from '@app/erasure';
import { Clock } from '@app/kernel';
import { SubjectDataHolders } from '@app/subjects';
import { CategoryRetention } from '@app/user-data';
import { type Bot, field } from '../support/bot';
import { type Answer, Client, type Json } from '../support/client';
import { runNow } from '../support/jobs';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess();
const DAY_MS = 86_400_000;
/** So many users of each door act at the same time: their acts share units. */
const USERS = 4;
let bot: Bot;

beforeEach(async () => {
  bot = await service.registerBot();
  await bot.hasCategory('profile');
});
afterEach(() => jest.restoreAllMocks());

type Call = (method: string, path: string, body?: unknown) => Promise<Answer<Json>>;

/** A way to the service, and what the events of its acts say. */
interface Door {
  readonly actor: string;
  readonly call: Call;
}

function callsOf(client: Client, given: Readonly<Record<string, string>> = {}): Call {
  return (method, path, body) => {
    const headers = { ...given, ...(body !== undefined && { 'content-type': 'application/json' }) };
    return client.send(method, `/api/v1${path}`, {
      headers,
      ...(body !== undefined && { raw: JSON.stringify(body) }),
    });
  };
}

/** The public part of a key, as the list of keys shows it. */
const actorOf = (key = ''): string => `key:${key.slice(0, 16)}`;

async function anotherKey(): Promise<Door> {
  const made = await bot.post<{ api_key: string; api_key_prefix: string }>(`/bots/${bot.id}/keys`, {});
  const { api_key: key, api_key_prefix: prefix } = made.data;
  return { actor: `key:${prefix}`, call: callsOf(new Client(service.url, key)) };
}

async function console(): Promise<Door> {
  const page = { 'x-lethe-console': '1', 'sec-fetch-site': 'same-origin' };
  const answer = await fetch(`${service.url}/console/session`, {
    method: 'POST',
    headers: { ...page, 'content-type': 'application/json' },
    body: JSON.stringify({ key: bot.key }),
  });
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  const client = new Client(`${service.url}/console`);
  return { actor: 'console', call: callsOf(client, { ...page, cookie }) };
}

const firstKey = (): Door => ({ actor: actorOf(bot.key), call: callsOf(new Client(service.url, bot.key)) });

interface Shown {
  readonly event_type: string;
  readonly source: string;
  readonly details: Json | null;
}

/** The events of a user that have details, oldest first, by type and actor. */
async function actors(who: Partial<SubjectIds>): Promise<string[]> {
  const query = new URLSearchParams({ ...who, page_size: '100' }).toString();
  const { events } = (await bot.get<{ events: Shown[] }>(`/audit/events?${query}`)).data;
  return events
    .filter(({ details }) => details !== null)
    .map(({ event_type: type, details }) => `${type} ${String(details?.['actor'])}`)
    .reverse();
}

const at = (path: string, { user_id, guild_id }: SubjectIds, more = ''): string =>
  `${path}/${user_id}?guild_id=${guild_id}${more}`;

/** The acts of a life, in their order, with the type of their event. */
const LIFE: readonly (readonly [type: string, act: (call: Call, who: SubjectIds) => ReturnType<Call>])[] = [
  ['consent_requested', (call, who) => call('POST', '/consents/request', { ...who, consent_version: '1' })],
  ['consent_accepted', (call, who) => call('POST', '/consents/accept', { ...who, consent_version: '1' })],
  [
    'data_submitted',
    (call, who) => call('POST', '/data/submit', { ...who, category: 'profile', data: { value: 'x' } }),
  ],
  ['data_exported', (call, who) => call('GET', at('/data/export', who))],
  ['data_exported', (call, who) => call('GET', at('/data/export', who, '&format=full'))],
  ['data_deleted', (call, who) => call('DELETE', at('/data/values', who, '&category=profile'))],
  ['consent_revoked', (call, who) => call('POST', '/consents/revoke', { ...who })],
];

const forget = (call: Call, who: SubjectIds) => call('POST', '/gdpr/forget-user', { ...who });

describe('details.actor of the events of the service', () => {
  it('is the key or the console by which each act was done, also of acts that share a unit', async () => {
    const doors = [firstKey(), await anotherKey(), await console()];
    const users = doors.flatMap(({ actor, call }) =>
      Array.from({ length: USERS }, () => ({ actor, call, who: subject() })),
    );
    for (const [type, act] of LIFE) {
      const answers = await Promise.all(users.map(({ call, who }) => act(call, who)));
      expect([type, ...answers.filter(({ status }) => status > 201)]).toEqual([type]);
    }
    for (const { who, actor } of users)
      expect(await actors(who)).toEqual(LIFE.map(([type]) => `${type} ${actor}`));
    const ended = await Promise.all(users.map(({ call, who }) => forget(call, who)));
    expect(ended.map(({ status }) => status)).toEqual(users.map(() => 200));
    for (const { who, actor } of users) expect(await actors(who)).toEqual([`deletion_completed ${actor}`]);
  });

  it('is on the events of a batch, of all guilds, of a guild and of a category', async () => {
    const [{ call, actor }] = [await anotherKey()];
    const who = subject();
    const again = { user_id: who.user_id, guild_id: snowflake() };
    await call('POST', '/servers/register', { guild_id: again.guild_id });
    for (const each of [who, again]) await bot.hasConsent(each);
    const items = [who, again].map((each) => ({ ...each, category: 'profile', data: { value: 'x' } }));
    await call('POST', '/data/submit/batch', { items });
    await call('GET', `/data/export/${who.user_id}?scope=all_guilds`);
    await call('DELETE', '/data/categories/profile');
    const types = ['data_submitted', 'data_exported', 'data_deleted'].map((type) => `${type} ${actor}`);
    for (const each of [who, again]) expect((await actors(each)).slice(2)).toEqual(types);
    expect((await call('DELETE', `/servers/${again.guild_id}`)).status).toBe(200);
    expect(
      (await call('POST', '/gdpr/forget-user', { user_id: who.user_id, scope: 'all_guilds' })).status,
    ).toBe(200);
    const completed = [`deletion_completed ${actor}`];
    for (const each of [who, again]) expect(await actors(each)).toEqual(completed);
  });

  it('says who has asked for an erasure that fails, and for one that a job completes', async () => {
    const [{ call, actor }] = [await anotherKey()];
    const who = subject();
    await bot.hasConsent(who);
    const holders = service.app.get(SubjectDataHolders, { strict: false });
    jest.spyOn(holders, 'erase').mockRejectedValueOnce(new Error('broken holder'));
    expect((await forget(call, who)).status).toBe(503);
    expect((await actors(who)).slice(2)).toEqual([`deletion_requested ${actor}`, `deletion_failed ${actor}`]);
    const unitOfWork = service.app.get(UnitOfWork);
    const left = [who, subject()];
    for (const each of left) {
      jest.spyOn(unitOfWork, 'destroyKeys').mockRejectedValueOnce(databaseUnavailable());
      expect((await forget(call, each)).status).toBe(503);
    }
    const [, earlier] = left as [SubjectIds, SubjectIds];
    // As an earlier version has left it.
    await service.database.run(
      `UPDATE deletion_requests SET via = NULL WHERE status = 'processing' AND bot_id = ? AND user_id = ?`,
      bot.id,
      service.stored(bot, earlier).user_id,
    );
    await service.app.get(ErasureService, { strict: false }).finishLeft();
    expect([await actors(who), await actors(earlier)]).toEqual([
      [`deletion_completed ${actor}`],
      ['deletion_completed job'],
    ]);
  });

  it('is job for what is due', async () => {
    const [who, guild] = [subject(), subject()];
    await bot.hasCategory('notes', [field('value')], { retention_days: 1 });
    await bot.post('/servers/register', { guild_id: guild.guild_id });
    for (const each of [who, guild]) await bot.hasConsent(each);
    await bot.hasData(who, 'notes', { value: 'x' });
    expect((await bot.delete(`/servers/${guild.guild_id}?grace_days=1`)).status).toBe(200);
    const nowMs = Date.now() + 2 * DAY_MS;
    jest.spyOn(service.app.get(Clock), 'nowMs').mockReturnValue(nowMs);
    for (const job of [CategoryRetention, GuildDeletion]) await runNow(service, job);
    expect((await actors(who)).at(-1)).toBe('data_deleted job');
    expect(await actors(guild)).toEqual(['deletion_completed job']);
  });

  it('is what a bot has written where the bot posts the event', async () => {
    const who = subject();
    for (const details of [{ actor: 'operator' }, { note: 'seen' }, null])
      await bot.post('/audit/event', { ...who, event_type: 'data_exported', ...(details && { details }) });
    const { events } = (await bot.get<{ events: Shown[] }>(`/audit/events?user_id=${who.user_id}`)).data;
    expect(events.map(({ details }) => details)).toEqual([null, { note: 'seen' }, { actor: 'operator' }]);
  });
});
