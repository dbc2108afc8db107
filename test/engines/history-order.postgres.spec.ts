import { ConsentHistoryPruning } from '@app/consent';
import { type Bot, field } from '../support/bot';
import { Service } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { passes } from '../support/time';

// Two processes on one database whose clocks differ: the order of a history is the order of its acts.

const HOUR_MS = 3_600_000;
interface Receipt {
  readonly payload: {
    readonly pii_processing: { readonly purposes: readonly { readonly retention_period: string | null }[] };
  };
}

const ahead = new Service();
let behind: Service;
let bot: Bot;
/** The bot at the process whose clock is an hour behind. */
let late: Bot;
let who: SubjectIds;

beforeAll(async () => {
  await ahead.start();
  behind = await new Service({ DATABASE_URL: ahead.database.url }).start();
  passes(behind, -HOUR_MS);
});
beforeEach(async () => {
  bot = await ahead.registerBot();
  late = bot.at(behind);
  who = subject();
});
afterAll(async () => {
  jest.restoreAllMocks();
  await behind.stop();
  await ahead.stop();
});

const declines = (by: Bot) =>
  by.post<{ declined_at: string }>('/consents/decline', { ...who, consent_version: '1.0' });
const declinedAt = async () => (await bot.status(who)).data['declined_at'];

/** The history, oldest first. */
async function history() {
  const path = `/consents/history?user_id=${who.user_id}&guild_id=${who.guild_id}`;
  const { data } = await bot.get<{ entries: Record<'id' | 'action' | 'created_at', string>[] }>(path);
  return data.entries.reverse();
}

async function expectsHistory(...actions: string[]): Promise<void> {
  const entries = await history();
  expect(entries.map(({ action }) => action)).toEqual(actions);
  for (const part of ['id', 'created_at'] as const)
    expect(entries.map((entry) => entry[part])).toEqual(entries.map((entry) => entry[part]).sort());
}

it('a refusal is the answer to a request of a clock that is ahead', async () => {
  await bot.hasRequest(who);
  const { data } = await declines(late);
  expect(await declinedAt()).toBe(data.declined_at);
  await expectsHistory('requested', 'declined');
});

it('a request follows a refusal of a clock that is ahead', async () => {
  await bot.hasRequest(who);
  await declines(bot);
  await late.hasRequest(who);
  expect(await declinedAt()).toBeNull();
  await expectsHistory('requested', 'declined', 'requested');
});

it('a receipt states no declaration that was made after the request, by a clock that is behind', async () => {
  const path = `/consents/receipt?user_id=${who.user_id}&guild_id=${who.guild_id}`;
  const periods = async () =>
    (await bot.get<Receipt>(path)).data.payload.pii_processing.purposes.map((one) => one.retention_period);
  await bot.hasCategory('profile', [field('value')], { retention_days: 30 });
  await bot.hasConsent(who);
  expect(await periods()).toEqual(['P30D']);
  expect((await late.put('/data/categories/profile', { retention_days: 3650 })).status).toBe(200);
  await late.hasCategory('later', [field('value')], { retention_days: 3650 });
  expect(await periods()).toEqual([null, null]);
});

it('a declaration follows no time of a wrong clock', async () => {
  await bot.hasRequest(who);
  await ahead.database.run(
    `UPDATE consent_history SET created_at = '2099-01-01T00:00:00.000Z' WHERE bot_id = ?`,
    bot.id,
  );
  await late.hasCategory('soon');
  const { data } = await bot.get('/data/categories/soon');
  expect(String(data['created_at']) < '2099').toBe(true);
});

it('the evidence of a consent in force is kept, and that of the withdrawn one before it is not', async () => {
  await bot.hasConsent(who, '1.0');
  await bot.hasRevoked(who);
  await late.hasConsent(who, '2.0');
  await expectsHistory('requested', 'accepted', 'revoked', 'requested', 'accepted');
  const pruning = ahead.app.get(ConsentHistoryPruning, { strict: false });
  expect(await pruning.endedEntries(bot.id, '9')).toBe(3);
});
