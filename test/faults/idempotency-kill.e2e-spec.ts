import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Bot, field } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import type { Answer, Json } from '../support/client';
import { newDatabase, type TestDatabase } from '../support/database';
import { atDepth } from '../support/depth';
import { directoryOnDisk } from '../support/disk';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';

jest.setTimeout(120_000);

const build = useBuild();
const LETHE_MASTER_KEY = Buffer.alloc(32, 'test').toString('base64');
const RATE_LIMIT_TIERS = 'free=1000000';
const CLIENTS = 8;
const ROUNDS = atDepth(1, 10);
let directory: string;
let database: TestDatabase;
let service: ChildService;
let bot: Bot;

beforeEach(async () => {
  directory = directoryOnDisk();
  database = await newDatabase(directory);
  const environment = { DATABASE_URL: database.url, LETHE_MASTER_KEY, RATE_LIMIT_TIERS };
  service = await new ChildService(build.directory, join(directory, 'lethe.db'), environment).start();
  bot = await Bot.register(service.url);
});
afterEach(async () => {
  await service.end('SIGKILL');
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

interface Sent {
  readonly path: string;
  readonly body: Json;
  readonly key: string;
  /** The answer, if it came before the process was killed. */
  text?: string | undefined;
}

const send = async (one: Sent): Promise<Answer> =>
  bot.post(one.path, one.body, { 'idempotency-key': one.key });

/** Sends requests until the process is killed in the middle of them. */
async function untilKilled(next: () => Sent): Promise<Sent[]> {
  const all: Sent[] = [];
  let killed: Promise<unknown> | undefined;
  const client = async (): Promise<void> => {
    while (killed === undefined) {
      const one = next();
      all.push(one);
      const answer = await send(one).catch((error: unknown) => {
        if (!(error instanceof TypeError)) throw error;
      });
      if (answer === undefined) return;
      expect(answer.status).toBe(200);
      one.text = answer.text;
      if (all.length > atDepth(15, 100) + atDepth(20, 40) * Math.random()) killed ??= service.end('SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  await killed;
  return all;
}

/** Sends every request again: those with an answer must get the same one. Afterwards each has one. */
async function repeat(all: readonly Sent[]): Promise<void> {
  const left = [...all];
  const client = async (): Promise<void> => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) await repeatOne(one);
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

async function repeatOne(one: Sent): Promise<void> {
  const again = await send(one);
  expect([again.status, again.header('idempotent-replayed') ?? 'new']).toStrictEqual([
    200,
    one.text === undefined ? (again.header('idempotent-replayed') ?? 'new') : 'true',
  ]);
  if (one.text !== undefined) expect(again.text).toBe(one.text);
  one.text = again.text;
}

it('after kill -9 every submit is done once: repeats of answered ones are replayed, others are done', async () => {
  const who = subject();
  await bot.hasCategory('profile');
  await bot.hasConsent(who);
  const all: Sent[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    let count = 0;
    const next = (): Sent => {
      const key = `${round}-${++count}`;
      return { path: '/data/submit', key, body: { ...who, category: 'profile', data: { value: key } } };
    };
    const sent = await untilKilled(next);
    all.push(...sent);
    await service.start();
    await repeat(sent);
  }
  await repeat(all);
  const events = await database.rows(`SELECT 1 FROM audit_events WHERE event_type = 'data_submitted'`);
  expect(events).toHaveLength(all.length);
});

it('after kill -9 every item of a batch is done once, also of a batch that was cut in the middle', async () => {
  const guild_id = snowflake();
  const people = Array.from({ length: 20 }, () => ({ user_id: snowflake(), guild_id }));
  await bot.hasCategory('profile', [field('value'), field('more', 'json')]);
  await Promise.all(people.map((who) => bot.hasConsent(who)));
  let count = 0;
  // Each user twice: a batch takes two units at least, and is killed between them too.
  const next = (): Sent => {
    const value = `batch-${++count}`;
    const items = people.flatMap((who) => [
      { ...who, category: 'profile', data: { value } },
      { ...who, category: 'profile', data: { more: [value] }, mode: 'merge' },
    ]);
    return { path: '/data/submit/batch', key: value, body: { items } };
  };
  const all = await untilKilled(next);
  await service.start();
  await repeat(all);
  for (const one of all) {
    const { results } = (await send(one)).data as unknown as { results: { ok: boolean }[] };
    expect(results.filter(({ ok }) => ok)).toHaveLength(2 * people.length);
  }
  const events = await database.rows(`SELECT 1 FROM audit_events WHERE event_type = 'data_submitted'`);
  expect(events).toHaveLength(all.length * 2 * people.length);
});

it('after kill -9 every erasure is done once, with the salt of its certificate, and all guilds are answered', async () => {
  const users: SubjectIds[] = [];
  const many = atDepth(50, 200);
  for (let at = 0; at < many; at++) {
    const user_id = snowflake();
    users.push({ user_id, guild_id: snowflake() });
  }
  const hold = (who: SubjectIds) => bot.hasRequest(who);
  for (let at = 0; at < many; at += 20) await Promise.all(users.slice(at, at + 20).map(hold));
  // Each user is in two guilds.
  const second = users.map(({ user_id }) => ({ user_id, guild_id: snowflake() }));
  for (let at = 0; at < many; at += 20) await Promise.all(second.slice(at, at + 20).map(hold));
  let count = 0;
  const next = (): Sent => {
    const who = users[count++ % many]!;
    const everywhere = count % 2 === 0;
    const body = everywhere ? { user_id: who.user_id, scope: 'all_guilds' } : { ...who };
    return { path: '/gdpr/forget-user', key: `erase-${count}`, body };
  };
  const all = await untilKilled(next);
  await service.start();
  await repeat(all);
  for (const one of all) {
    const { data } = (await send(one)) as Answer<{ requests?: Json[] } & Json>;
    const requests = data.requests ?? [data];
    expect(requests).toHaveLength('scope' in one.body ? 2 : 1);
    for (const { request_id, certificate_salt } of requests) {
      expect(certificate_salt).toEqual(expect.any(String));
      expect((await bot.get(`/gdpr/forget-status/${String(request_id)}`)).data).toMatchObject({
        status: 'completed',
      });
    }
  }
  const erasures = await database.rows('SELECT 1 FROM deletion_requests');
  expect(erasures).toHaveLength(all.reduce((sum, { body }) => sum + ('scope' in body ? 2 : 1), 0));
});
