import { EVENT_TYPES } from '@app/audit';
import { BatchSealer } from '@app/sealing';
import { StatsRetention, StatsService } from '@app/reports';
import { Clock } from '@app/kernel';
import type { Bot } from '../support/bot';
import type { Json } from '../support/client';
import { expectFailure, expectFaults, expectSuccess } from '../support/expected';
import { runNow } from '../support/jobs';
import { seal, withoutSealing } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject } from '../support/snowflakes';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Half past ten, so that no test meets the end of an hour. */
const START = '2026-03-15T10:30:00.000Z';
/** Those of the modules of a team are counted too. */
const NONE = Object.fromEntries(EVENT_TYPES.map((type) => [type, 0]));
const NO_CALLS = { delivered: 0, failed: 0, exhausted: 0 };

interface Shown {
  readonly buckets: readonly {
    readonly at: string;
    readonly counts: Readonly<Record<string, number>>;
    readonly webhooks: object;
    readonly erasure_ms: { readonly p50: number; readonly p95: number; readonly max: number } | null;
  }[];
}

const service = useServiceInProcess();
let bot: Bot;
let now: jest.SpyInstance<number>;
const isNow = (time: string): void => void now.mockReturnValue(Date.parse(time));

beforeAll(() => withoutSealing(service));
beforeEach(async () => {
  now = jest.spyOn(service.app.get(Clock), 'nowMs');
  isNow(START);
  bot = await service.registerBot();
  await bot.hasCategory('profile');
});
afterEach(() => now.mockRestore());

const stats = (query = '', caller = bot) => caller.get<Shown>(`/stats${query}`);
const bucket = (at: string, counts: Json = {}, more: Json = {}): Json => ({
  at,
  counts: { ...NONE, ...counts },
  webhooks: NO_CALLS,
  erasure_ms: null,
  ...more,
});
/** Submits at these times. */
async function submits(...times: string[]): Promise<void> {
  const who = subject();
  await bot.hasConsent(who);
  for (const time of times) {
    isNow(time);
    await bot.hasData(who, 'profile', { value: time });
  }
  isNow(START);
}
const submitted = (shown: Shown): Json =>
  Object.fromEntries(shown.buckets.map(({ at, counts }) => [at, counts['data_submitted']]));

describe('GET /api/v1/stats', () => {
  it('answers 200 with every act of the day, sealed or not', async () => {
    expectSuccess(await stats(), 200, { buckets: [], under_consent: [] });
    const [who, other] = [subject(), subject()];
    for (const each of [who, other]) await bot.hasConsent(each);
    await bot.hasData(who, 'profile', { value: 'x' });
    await bot.export(who);
    await bot.hasRevoked(other);
    isNow('2026-03-15T10:30:00.007Z');
    await bot.hasForgotten(who);
    const counts = {
      ...{ consent_requested: 2, consent_accepted: 2, data_submitted: 1, data_exported: 1 },
      ...{ consent_revoked: 1, deletion_requested: 1, deletion_completed: 1 },
    };
    const erasure_ms = { p50: 0, p95: 0, max: 0 };
    const expected = {
      buckets: [bucket('2026-03-15T00:00:00.000Z', counts, { erasure_ms })],
      under_consent: [],
    };
    expectSuccess(await stats(), 200, expected);
    await seal(service, bot);
    expectSuccess(await stats(), 200, expected);
    await bot.hasConsent(subject());
    const { buckets } = (await stats()).data;
    expect(buckets[0]?.counts).toMatchObject({ ...counts, consent_requested: 3, consent_accepted: 3 });
  });

  it('leaves events out that the bot has posted, sealed or not', async () => {
    await bot.post('/audit/event', { ...subject(), event_type: 'data_exported' });
    expectSuccess(await stats(), 200, { buckets: [], under_consent: [] });
    await seal(service, bot);
    expectSuccess(await stats(), 200, { buckets: [], under_consent: [] });
  });

  it('answers hours and days, oldest first, without those in which nothing happened', async () => {
    const times = ['2026-03-12T23:59:59.999Z', '2026-03-13T00:00:00.000Z', '2026-03-13T05:10:00.000Z'];
    await submits(...times, '2026-03-13T05:59:59.999Z');
    const query = '?from=2026-03-12&to=2026-03-13';
    for (const sealed of [false, true]) {
      if (sealed) await seal(service, bot);
      expect(submitted((await stats(query)).data)).toStrictEqual({
        '2026-03-12T00:00:00.000Z': 1,
        '2026-03-13T00:00:00.000Z': 3,
      });
      expect(Object.entries(submitted((await stats(`${query}&bucket=hour`)).data))).toStrictEqual([
        ['2026-03-12T23:00:00.000Z', 1],
        ['2026-03-13T00:00:00.000Z', 1],
        ['2026-03-13T05:00:00.000Z', 2],
      ]);
    }
  });

  it('adds what is sealed in one hour to the numbers of its day', async () => {
    const who = subject();
    await bot.hasConsent(who);
    for (const time of ['10:40', '12:10', '12:20']) {
      isNow(`2026-03-15T${time}:00.000Z`);
      await bot.hasData(who, 'profile', { value: time });
      await seal(service, bot);
    }
    expect(submitted((await stats('?bucket=hour')).data)).toStrictEqual({
      '2026-03-15T10:00:00.000Z': 1,
      '2026-03-15T12:00:00.000Z': 2,
    });
  });

  it('answers the last 30 days by default, and takes from and to as whole days', async () => {
    const [first, before] = ['2026-02-14T00:00:00.000Z', '2026-02-13T23:59:59.999Z'];
    await submits(before, first, '2026-03-15T23:59:59.999Z', '2026-03-16T00:00:00.000Z');
    for (const sealed of [false, true]) {
      if (sealed) await seal(service, bot);
      expect(Object.keys(submitted((await stats()).data))).toStrictEqual([
        '2026-02-14T00:00:00.000Z',
        '2026-03-15T00:00:00.000Z',
      ]);
      const one = submitted((await stats('?from=2026-02-13&to=2026-02-13')).data);
      expect(one).toStrictEqual({ '2026-02-13T00:00:00.000Z': 1 });
      const until = submitted((await stats('?to=2026-02-14')).data);
      expect(Object.values(until)).toStrictEqual([1, 1]);
      const since = submitted((await stats('?from=2026-02-14')).data);
      expect(Object.keys(since)).toHaveLength(2);
      expect(Object.keys(submitted((await stats('?bucket=hour')).data))).toHaveLength(3);
    }
  });

  it.each([
    ['?from=2026-02-30', 'from'],
    ['?from=2026-2-3', 'from'],
    ['?from=2026-03-01T00:00:00Z', 'from'],
    ['?to=2026-03-01T00:00:00.000Z', 'to'],
    ['?to=', 'to'],
    ['?to=1234567890', 'to'],
    ['?to=2026-03-01&to=2026-03-02', 'to'],
    ['?from=2026-03-02&to=2026-03-01', 'from'],
    ['?from=2026-03-16', 'from'],
    ['?from=2025-01-01&to=2026-02-06', 'from'],
    ['?from=2025-02-07', 'from'],
    ['?from=2026-01-01&to=2026-02-01&bucket=hour', 'from'],
    ['?bucket=week', 'bucket'],
  ])('answers 400 to %s', async (query, field) => {
    expectFaults(await stats(query), field);
  });

  it.each([
    ['?from=2025-01-01&to=2026-02-05'],
    ['?from=2025-02-08'],
    ['?from=2026-01-01&to=2026-01-31&bucket=hour'],
    ['?to=0000-01-01'],
    ['?to=9999-12-31'],
    ['?from=9999-12-31&to=9999-12-31'],
  ])('answers 200 to %s', async (query) => {
    expectSuccess(await stats(query), 200, { buckets: [], under_consent: [] });
  });

  it('shows no bot the numbers of another one, and none after its deletion', async () => {
    await submits(START);
    await seal(service, bot);
    expectSuccess(await stats('', await service.registerBot()), 200, { buckets: [], under_consent: [] });
    const rows = () => service.database.rows('SELECT 1 FROM stats_counts WHERE bot_id = ?', bot.id);
    expect((await rows()).length).toBeGreaterThan(0);
    await bot.delete(`/bots/${bot.id}`);
    expect(await rows()).toHaveLength(0);
  });

  it('keeps its numbers through an erasure, which adds its own', async () => {
    const who = subject();
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'x' });
    await bot.hasForgotten(who);
    const before = (await stats()).data.buckets[0]?.counts;
    expect(before).toMatchObject({ data_submitted: 1, deletion_completed: 1 });
    await seal(service, bot);
    expect((await stats()).data.buckets[0]?.counts).toStrictEqual(before);
  });

  it('answers the durations of completed erasures, off by 10 % at most, and the longest one exactly', async () => {
    let time = Date.parse(START);
    for (const stepMs of [0, 1, 7, 60, 700]) {
      // The clock runs while an erasure is carried out.
      now.mockImplementation(() => (time += stepMs));
      for (let count = 0; count < 3; count++) {
        const who = subject();
        await bot.hasConsent(who);
        await bot.hasForgotten(who);
      }
    }
    isNow(START);
    const requests = await service.database.rows<{ created_at: string; completed_at: string }>(
      'SELECT created_at, completed_at FROM deletion_requests WHERE bot_id = ?',
      bot.id,
    );
    const took = requests
      .map(({ created_at, completed_at }) => Date.parse(completed_at) - Date.parse(created_at))
      .sort((one, other) => one - other);
    expect(took).toHaveLength(15);
    const shown = (await stats()).data.buckets[0]?.erasure_ms;
    expect(shown?.max).toBe(took[14]);
    expect(shown?.max).toBeGreaterThan(500);
    for (const [value, exact = NaN] of [
      [shown?.p50, took[7]],
      [shown?.p95, took[14]],
    ])
      expect(Math.abs((value ?? NaN) - exact)).toBeLessThanOrEqual(exact * 0.1);
  });
});

describe('a log that is not sealed', () => {
  let statsOf: StatsService;
  beforeEach(() => {
    statsOf = service.app.get(StatsService, { strict: false });
    statsOf.unsealedMax = 3;
  });
  afterEach(() => {
    statsOf.unsealedMax = 10_000;
    jest.restoreAllMocks();
  });

  it('is sealed by the call when more is unsealed than one answer counts', async () => {
    await submits(START, START, START);
    expect(submitted((await stats()).data)).toStrictEqual({ '2026-03-15T00:00:00.000Z': 3 });
    const heads = await service.database.rows('SELECT 1 FROM audit_heads WHERE bot_id = ?', bot.id);
    expect(heads).toHaveLength(1);
  });

  it('is 503 while it cannot be sealed, and no number is wrong', async () => {
    await submits(START, START);
    jest.spyOn(service.app.get(BatchSealer), 'sealNow').mockResolvedValue(false);
    expectFailure(await stats(), 503, 'service_unavailable');
    jest.restoreAllMocks();
    now = jest.spyOn(service.app.get(Clock), 'nowMs');
    isNow(START);
    expect(submitted((await stats()).data)).toStrictEqual({ '2026-03-15T00:00:00.000Z': 2 });
  });
});

describe('the numbers', () => {
  it('are kept for 400 days, to the day, and no longer', async () => {
    const days = [0, 1, 2].map((day) => new Date(Date.parse(START) + day * DAY_MS).toISOString());
    await submits(...days);
    await seal(service, bot);
    const left = async (nowIso: string): Promise<number[]> => {
      isNow(nowIso);
      await runNow(service, StatsRetention);
      isNow(START);
      const counts = await Promise.all(
        ['day', 'hour'].map(
          async (size) => (await stats(`?from=2026-03-15&to=2026-03-17&bucket=${size}`)).data.buckets.length,
        ),
      );
      return counts;
    };
    const after = (days_: number, hour: string): string =>
      new Date(Date.parse(`2026-03-15T${hour}Z`) + days_ * DAY_MS).toISOString();
    expect(await left(after(400, '23:59:59.999'))).toStrictEqual([3, 3]);
    expect(await left(after(401, '00:00:00.000'))).toStrictEqual([2, 2]);
    expect(await left(after(402, '23:00:00.000'))).toStrictEqual([1, 1]);
    expect(await left(after(900, '00:00:00.000'))).toStrictEqual([0, 0]);
    const rows = await service.database.rows('SELECT 1 FROM stats_counts WHERE bot_id = ?', bot.id);
    expect(rows).toHaveLength(0);
  });

  it('name no user and no guild', async () => {
    const who = { user_id: snowflake(), guild_id: snowflake() };
    await bot.hasConsent(who);
    await bot.hasForgotten(who);
    await seal(service, bot);
    const rows = await service.database.rows('SELECT * FROM stats_counts WHERE bot_id = ?', bot.id);
    const stored = service.stored(bot, who);
    for (const id of [...Object.values(who), ...Object.values(stored)])
      expect(JSON.stringify(rows)).not.toContain(id);
    expect(rows.length).toBeGreaterThan(0);
  });
});
