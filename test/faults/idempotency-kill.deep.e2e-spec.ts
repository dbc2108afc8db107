import { Bot, field } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { type Sent, useCrashes } from '../support/crashes';
import { workThrough } from '../support/crowd';
import { atDepth } from '../support/depth';
import { snowflake, subject } from '../support/snowflakes';

const ROUNDS = atDepth(1, 10);
const crashes = useCrashes();
let bot: Bot;
beforeEach(async () => {
  bot = await Bot.register(crashes.url);
});

interface Given {
  readonly path: string;
  readonly body: Json;
  readonly key: string;
}

const send = ({ path, body, key }: Given): Promise<Answer> =>
  bot.post(path, body, { 'idempotency-key': key });

const untilKilled = (after: number, next: () => Given): Promise<Sent<Given>[]> =>
  crashes.killed({ callers: 8, next, send, after });

/** Sends a request again: with an answer it must get the same one. Afterwards it has one. */
async function repeatOne(one: Sent<Given>): Promise<void> {
  const again = await send(one.given);
  const replayed = again.header('idempotent-replayed');
  expect([again.status, replayed]).toStrictEqual([200, one.answer === undefined ? replayed : 'true']);
  if (one.answer !== undefined) expect(again.text).toBe(one.answer.text);
  one.answer = again;
}

const SUBMITTED = `audit_events WHERE event_type = 'data_submitted' AND bot_id = ?`;

it('after kill -9 every submit is done once: repeats of answered ones are replayed, others are done', async () => {
  const who = subject();
  await bot.hasCategory('profile');
  await bot.hasConsent(who);
  const all: Sent<Given>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    let count = 0;
    const next = (): Given => {
      const key = `${round}-${++count}`;
      return { path: '/data/submit', key, body: { ...who, category: 'profile', data: { value: key } } };
    };
    const sent = await untilKilled(atDepth(16, 110) + 3 * round, next);
    all.push(...sent);
    await workThrough(sent, repeatOne);
  }
  await workThrough(all, repeatOne);
  expect(await crashes.count(SUBMITTED, bot.id)).toBe(all.length);
});

it('after kill -9 every item of a batch is done once, also of a batch that was cut in the middle', async () => {
  const guild_id = snowflake();
  const people = Array.from({ length: 6 }, () => ({ user_id: snowflake(), guild_id }));
  await bot.hasCategory('profile', [field('value'), field('more', 'json')]);
  await Promise.all(people.map((who) => bot.hasConsent(who)));
  let count = 0;
  // Each user twice: a batch takes two units at least, and is killed between them too.
  const next = (): Given => {
    const value = `batch-${++count}`;
    const items = people.flatMap((who) => [
      { ...who, category: 'profile', data: { value } },
      { ...who, category: 'profile', data: { more: [value] }, mode: 'merge' },
    ]);
    return { path: '/data/submit/batch', key: value, body: { items } };
  };
  const all = await untilKilled(atDepth(16, 110), next);
  await workThrough(all, repeatOne);
  for (const { given } of all) {
    const { results } = (await send(given)).data as unknown as { results: { ok: boolean }[] };
    expect(results.filter(({ ok }) => ok)).toHaveLength(2 * people.length);
  }
  expect(await crashes.count(SUBMITTED, bot.id)).toBe(all.length * 2 * people.length);
});

it('after kill -9 every erasure is done once, with the salt of its certificate, and all guilds are answered', async () => {
  const many = atDepth(40, 200);
  const users = Array.from({ length: many }, () => subject());
  // Each user is in two guilds.
  const second = users.map(({ user_id }) => ({ user_id, guild_id: snowflake() }));
  await workThrough([...users, ...second], (who) => bot.hasRequest(who));
  let count = 0;
  const next = (): Given => {
    const who = users[count++ % many]!;
    const everywhere = count % 2 === 0;
    const body = everywhere ? { user_id: who.user_id, scope: 'all_guilds' } : { ...who };
    return { path: '/gdpr/forget-user', key: `erase-${count}`, body };
  };
  const all = await untilKilled(atDepth(16, 110), next);
  await workThrough(all, repeatOne);
  for (const { given } of all) {
    const { data } = (await send(given)) as Answer<{ requests?: Json[] } & Json>;
    const requests = data.requests ?? [data];
    expect(requests).toHaveLength('scope' in given.body ? 2 : 1);
    for (const { request_id, certificate_salt } of requests) {
      expect(certificate_salt).toEqual(expect.any(String));
      expect((await bot.get(`/gdpr/forget-status/${String(request_id)}`)).data).toMatchObject({
        status: 'completed',
      });
    }
  }
  const asked = all.reduce((sum, { given }) => sum + ('scope' in given.body ? 2 : 1), 0);
  expect(await crashes.count('deletion_requests WHERE bot_id = ?', bot.id)).toBe(asked);
});
