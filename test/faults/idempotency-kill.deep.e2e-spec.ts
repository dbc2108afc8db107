import { Bot, field } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { forEach, useCrashes } from '../support/crashes';
import { atDepth } from '../support/depth';
import { snowflake, subject } from '../support/snowflakes';
import { unlessCut } from '../support/unless-cut';

const ROUNDS = atDepth(3, 10);
const crashes = useCrashes();
let bot: Bot;
beforeEach(async () => {
  bot = await Bot.register(crashes.url);
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

/** Sends requests until the process is killed at the answer of this number, and starts it again. */
async function untilKilled(after: number, next: () => Sent): Promise<Sent[]> {
  const all: Sent[] = [];
  const act = async (): Promise<boolean> => {
    const one = next();
    all.push(one);
    const answer = await unlessCut(send(one));
    if (answer === undefined) return false;
    expect(answer.status).toBe(200);
    one.text = answer.text;
    return true;
  };
  await crashes.killDuring(act, { callers: 8, after });
  await crashes.start();
  return all;
}

/** Sends a request again: with an answer it must get the same one. Afterwards it has one. */
async function repeatOne(one: Sent): Promise<void> {
  const again = await send(one);
  expect([again.status, again.header('idempotent-replayed') ?? 'new']).toStrictEqual([
    200,
    one.text === undefined ? (again.header('idempotent-replayed') ?? 'new') : 'true',
  ]);
  if (one.text !== undefined) expect(again.text).toBe(one.text);
  one.text = again.text;
}

const SUBMITTED = `audit_events WHERE event_type = 'data_submitted' AND bot_id = ?`;

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
    const sent = await untilKilled(atDepth(25, 110) + 3 * round, next);
    all.push(...sent);
    await forEach(sent, repeatOne);
  }
  await forEach(all, repeatOne);
  expect(await crashes.count(SUBMITTED, bot.id)).toBe(all.length);
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
  const all = await untilKilled(atDepth(25, 110), next);
  await forEach(all, repeatOne);
  for (const one of all) {
    const { results } = (await send(one)).data as unknown as { results: { ok: boolean }[] };
    expect(results.filter(({ ok }) => ok)).toHaveLength(2 * people.length);
  }
  expect(await crashes.count(SUBMITTED, bot.id)).toBe(all.length * 2 * people.length);
});

it('after kill -9 every erasure is done once, with the salt of its certificate, and all guilds are answered', async () => {
  const many = atDepth(50, 200);
  const users = Array.from({ length: many }, () => subject());
  // Each user is in two guilds.
  const second = users.map(({ user_id }) => ({ user_id, guild_id: snowflake() }));
  await forEach([...users, ...second], (who) => bot.hasRequest(who));
  let count = 0;
  const next = (): Sent => {
    const who = users[count++ % many]!;
    const everywhere = count % 2 === 0;
    const body = everywhere ? { user_id: who.user_id, scope: 'all_guilds' } : { ...who };
    return { path: '/gdpr/forget-user', key: `erase-${count}`, body };
  };
  const all = await untilKilled(atDepth(25, 110), next);
  await forEach(all, repeatOne);
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
  const asked = all.reduce((sum, { body }) => sum + ('scope' in body ? 2 : 1), 0);
  expect(await crashes.count('deletion_requests WHERE bot_id = ?', bot.id)).toBe(asked);
});
