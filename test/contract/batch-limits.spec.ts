import type { Bot } from '../support/bot';
import { type Answer, type Json } from '../support/client';
import { expectFailure, expectFaults } from '../support/expected';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';
import { type StoppedClocks, stopWindows } from '../support/time';

const LIMIT = 30;
const service = useServiceInProcess({
  RATE_LIMIT_TIERS: `free=${LIMIT},high=1000`,
  RATE_LIMIT_ANONYMOUS: '1000',
});
let bot: Bot;
let clocks: StoppedClocks;
beforeAll(() => void (clocks = stopWindows(service)));
afterAll(() => jest.restoreAllMocks());
beforeEach(async () => {
  bot = await service.registerBot();
});

const remaining = (answer: Answer<unknown>) => Number(answer.header('x-ratelimit-remaining'));
const who = subject();
const item = { ...who, category: 'profile', data: { value: 'x' } };
const submits = (count: number, more: Json = {}, headers: Record<string, string> = {}) =>
  bot.post('/data/submit/batch', { items: Array.from({ length: count }, () => item), ...more }, headers);
const statuses = (count: number) =>
  bot.post('/consents/status/batch', { items: Array.from({ length: count }, subject) });

describe('the rate limit', () => {
  it('counts each item of a batch of submits as a request, a malformed one too', async () => {
    expect(remaining(await submits(1))).toBe(29);
    expect(remaining(await submits(10))).toBe(19);
    expect(remaining(await submits(1, { items: [item, 1, {}, item] }))).toBe(15);
    expect(remaining(await submits(15))).toBe(0);
    expectFailure(await submits(1), 429, 'rate_limit_exceeded');
  });

  it('counts ten users of a batch of statuses as one request, and a part of ten too', async () => {
    expect(remaining(await statuses(1))).toBe(29);
    expect(remaining(await statuses(10))).toBe(28);
    expect(remaining(await statuses(11))).toBe(26);
    expect(remaining(await statuses(100))).toBe(16);
    expect(remaining(await statuses(100))).toBe(6);
    expectFailure(await statuses(100), 429, 'rate_limit_exceeded');
  });

  it('refuses a batch with 429 as a whole when fewer requests are left: nothing is done, and it counts as one', async () => {
    await bot.hasCategory('profile');
    await bot.hasConsent(who);
    expect(remaining(await submits(20))).toBe(7);
    const before = await bot.eventTypes(who);
    const refused = await submits(7);
    expectFailure(refused, 429, 'rate_limit_exceeded');
    expect(remaining(refused)).toBe(5);
    expect(refused.header('retry-after')).toBe('60');
    expect(refused.header('x-ratelimit-reset')).toBe(String(clocks.wallMs / 1000 + 60));
    expect(await bot.eventTypes(who)).toStrictEqual(before);
    const last = await submits(4);
    expect([last.status, remaining(last)]).toStrictEqual([200, 0]);
  });

  it('takes a batch of as many items as the tier allows, and answers 400 with details.limit to a larger one', async () => {
    const refused = await submits(LIMIT + 1);
    expectFaults(refused, 'items');
    expect([refused.error.details?.['limit'], remaining(refused)]).toStrictEqual([LIMIT, 29]);
    const other = await service.registerBot();
    [bot] = [other];
    expect(remaining(await submits(LIMIT))).toBe(0);
  });

  it('counts a batch that is malformed as a whole as one request', async () => {
    expect(remaining(await submits(1, { items: [] }))).toBe(29);
    expect(remaining(await submits(1, { items: Array(101).fill(item) }))).toBe(28);
    expect(remaining(await bot.post('/consents/status/batch', { items: [] }))).toBe(27);
  });

  it('counts a repeat that does nothing as one request, also of refused items, which fewer would not suffice to do', async () => {
    await bot.hasCategory('profile');
    await bot.hasConsent(who);
    const items = [
      ...Array.from({ length: 5 }, () => item),
      ...Array.from({ length: 14 }, () => ({ ...item, ...subject() })),
      1,
    ];
    const key = { 'idempotency-key': 'a' };
    const first = await submits(1, { items }, key);
    expect(remaining(first)).toBe(7);
    const replay = await submits(1, { items }, key);
    expect([replay.header('idempotent-replayed'), remaining(replay)]).toStrictEqual(['true', 6]);
    expect(replay.text).toBe(first.text);
  });
});
