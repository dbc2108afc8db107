import { Clock, Degradations, DISK_LOW } from '@app/kernel';
import { ConsentCounting } from '@app/reports';
import { inBatches, UnitOfWork } from '@app/database';
import type { Bot } from '../support/bot';
import { expectSuccess } from '../support/expected';
import { manyConsents } from '../support/consent-acts';
import { leased, runNow } from '../support/jobs';
import { readsAndTurns } from '../support/turns';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject } from '../support/snowflakes';

interface Shown {
  readonly under_consent: readonly {
    readonly at: string;
    readonly subjects: number;
    readonly counted_at: string;
  }[];
}

const service = useServiceInProcess();
let bot: Bot;
let now: jest.SpyInstance<number>;
const isNow = (time: string, days = 0): void =>
  void now.mockReturnValue(Date.parse(time) + days * 86_400_000);

beforeEach(async () => {
  now = jest.spyOn(service.app.get(Clock), 'nowMs');
  isNow('2026-03-15T10:30:00.000Z');
  bot = await service.registerBot();
  await bot.hasCategory('profile');
});
afterEach(() => now.mockRestore());

const counted = (): Promise<void> => runNow(service, ConsentCounting);
/** One run for the bot: each look at a part of the consents, after `first`, and each turn of the event loop. */
async function countedInParts(
  first?: () => Promise<void>,
  stopping = new AbortController(),
): Promise<readonly string[]> {
  const lease = await leased(service, 'consent-counts');
  const run = () =>
    inBatches(
      service.app.get(ConsentCounting).batches(bot.id),
      lease,
      stopping.signal,
      () => undefined,
    ).catch((error: unknown) => expect(error).toEqual(new Error('injected')));
  const unitOfWork = service.app.get(UnitOfWork);
  const { found } = await readsAndTurns(unitOfWork, run, 'snapshot', first);
  await unitOfWork.write((tx) => lease.end(tx));
  return found;
}
async function shown(query = '?to=2026-03-20'): Promise<Shown['under_consent']> {
  const answer = await bot.get<Shown>(`/stats${query}`);
  expect(answer.status).toBe(200);
  return answer.data.under_consent;
}
/** The day and the number of each count. */
const numbers = async (query?: string) =>
  Object.fromEntries((await shown(query)).map(({ at, subjects }) => [at.slice(0, 10), subjects]));
const times = (count: number) => Array.from({ length: count }, () => subject());

describe('GET /api/v1/stats, users under consent', () => {
  it('are counted for a day as of its end, whatever was decided before the count', async () => {
    const [kept, late, renewed, revoked, again] = times(5) as [Sub, Sub, Sub, Sub, Sub];
    for (const who of [kept, renewed, revoked, again]) await bot.hasConsent(who);
    // The first moment of the next day is not of this one.
    isNow('2026-03-16T00:00:00.000Z');
    await bot.hasConsent(late);
    isNow('2026-03-16T00:20:00.000Z');
    await bot.hasConsent(renewed, '2.0');
    await bot.hasRevoked(revoked);
    await bot.hasRevoked(again);
    await bot.post('/consents/request', { ...again, consent_version: '3.0' });
    isNow('2026-03-16T00:40:00.000Z');
    await counted();
    expect(await shown()).toStrictEqual([
      { at: '2026-03-15T00:00:00.000Z', subjects: 4, counted_at: '2026-03-16T00:00:00.000Z' },
      { at: '2026-03-16T00:00:00.000Z', subjects: 3, counted_at: '2026-03-16T00:40:00.000Z' },
    ]);
  });

  it('are counted anew for the present day at every run, and stay for a day that has ended', async () => {
    await bot.hasConsent(subject());
    await counted();
    expect(await numbers()).toStrictEqual({ '2026-03-15': 1 });
    await bot.hasConsent(subject());
    await counted();
    expect(await numbers()).toStrictEqual({ '2026-03-15': 2 });
    await bot.hasConsent(subject());
    const unitOfWork = service.app.get(UnitOfWork);
    const { unitMaxMs } = unitOfWork;
    unitOfWork.unitMaxMs = 90_000;
    isNow('2026-03-16T00:01:29.999Z');
    await counted();
    // A unit of the day before can still end.
    expect((await shown())[0]).toMatchObject({ subjects: 2, counted_at: '2026-03-15T10:30:00.000Z' });
    isNow('2026-03-16T00:01:30.000Z');
    await counted();
    unitOfWork.unitMaxMs = unitMaxMs;
    await bot.hasConsent(subject());
    isNow('2026-03-16T09:00:00.000Z');
    await counted();
    expect(await numbers()).toStrictEqual({ '2026-03-15': 3, '2026-03-16': 4 });
  });

  it('are users in guilds: a user in two guilds is counted twice', async () => {
    const user_id = snowflake();
    for (const guild_id of [snowflake(), snowflake()]) await bot.hasConsent({ user_id, guild_id });
    await counted();
    expect(await numbers()).toStrictEqual({ '2026-03-15': 2 });
  });

  it('end with a revocation, an erasure and the deletion of a guild, and not with a request, a refusal or one category', async () => {
    await bot.hasCategory('notes');
    const guild_id = snowflake();
    await bot.post('/servers/register', { guild_id });
    const [revoked, erased, asked, partly] = times(4) as [Sub, Sub, Sub, Sub];
    for (const who of [revoked, erased, asked, partly, { user_id: snowflake(), guild_id }])
      await bot.hasConsent(who);
    await bot.post('/consents/request', { ...subject(), consent_version: '1.0' });
    await counted();
    expect(await numbers()).toStrictEqual({ '2026-03-15': 5 });
    await bot.hasRevoked(revoked);
    await bot.hasForgotten(erased);
    expect((await bot.delete(`/servers/${guild_id}`)).status).toBe(200);
    await bot.post('/consents/request', { ...asked, consent_version: '2.0' });
    await bot.post('/consents/revoke', { ...partly, categories: ['notes'] });
    await counted();
    expect(await numbers()).toStrictEqual({ '2026-03-15': 2 });
  });

  it('of a bot from before are counted from the day before the first run on, and a bot without consents has none', async () => {
    const who = subject();
    await bot.hasConsent(who);
    isNow('2026-03-19T12:00:00.000Z');
    await counted();
    expect(await numbers()).toStrictEqual({ '2026-03-18': 1, '2026-03-19': 1 });
    const other = await service.registerBot();
    await counted();
    expectSuccess(await other.get('/stats?to=2026-03-20'), 200, { buckets: [], under_consent: [] });
    // Once it has numbers, zero is one of them.
    await bot.hasForgotten(who);
    isNow('2026-03-20T12:00:00.000Z');
    await counted();
    expect(await numbers()).toStrictEqual({ '2026-03-18': 1, '2026-03-19': 0, '2026-03-20': 0 });
  });

  it('are answered for the days of the period, with hours too, and kept for 400 days', async () => {
    await bot.hasConsent(subject());
    await counted();
    expect(await numbers('?from=2026-03-15&to=2026-03-15&bucket=hour')).toStrictEqual({ '2026-03-15': 1 });
    expect(await numbers('?to=2026-03-14')).toStrictEqual({});
    isNow('2026-03-15T12:00:00.000Z', 400);
    await counted();
    const query = '?from=2026-03-15&to=2027-04-19';
    expect(Object.keys(await numbers(query))).toStrictEqual(['2026-03-15', '2027-04-18', '2027-04-19']);
    isNow('2026-03-15T12:00:00.000Z', 401);
    await counted();
    expect(Object.keys(await numbers(query))).toStrictEqual(['2027-04-18', '2027-04-19']);
  });

  it('are counted in parts, each in a turn of its own, and of many the present day has no number', async () => {
    await manyConsents(service.database, bot, 5_003);
    const parts = await countedInParts();
    // The day that has ended in six; five of the present one are enough to see that it has more.
    expect(parts.filter((one) => one === 'snapshot')).toHaveLength(6 + 5);
    expect(parts.filter((one, at) => one === 'snapshot' && parts[at - 1] === one)).toEqual([]);
    expect(await numbers()).toStrictEqual({ '2026-03-14': 5_003 });
  });

  it('are counted as of one moment, whatever is decided between two parts', async () => {
    await manyConsents(service.database, bot, 2_500);
    const revoked = times(20);
    for (const who of revoked) await bot.hasConsent(who);
    isNow('2026-03-16T00:30:00.000Z');
    let parts = 0;
    await countedInParts(async () => {
      if (++parts !== 2) return;
      for (const who of revoked) await bot.hasRevoked(who);
      for (const who of times(20)) await bot.hasConsent(who);
    });
    expect((await numbers())['2026-03-15']).toBe(2_520);
  });

  it.each<[string, (stopping: AbortController) => void]>([
    ['is stopped', (stopping) => stopping.abort()],
    [
      'fails',
      () => {
        throw new Error('injected');
      },
    ],
  ])(
    'have no number where the job %s between two parts, and the whole one after the next run',
    async (_, ends) => {
      await manyConsents(service.database, bot, 2_500);
      const stopping = new AbortController();
      let parts = 0;
      await countedInParts(async () => {
        if (++parts === 2) ends(stopping);
      }, stopping);
      expect(await numbers()).toStrictEqual({});
      await counted();
      expect(await numbers()).toStrictEqual({ '2026-03-14': 2_500, '2026-03-15': 2_500 });
    },
  );

  it('are not counted while the disk is almost full', async () => {
    await bot.hasConsent(subject());
    // The service itself looks at the disk every few seconds, and would end what a test has begun.
    const isLow = jest
      .spyOn(service.app.get(Degradations), 'has')
      .mockImplementation((what) => what === DISK_LOW);
    await counted();
    isLow.mockRestore();
    expect(await numbers()).toStrictEqual({});
  });

  it('of other bots are not answered', async () => {
    await bot.hasConsent(subject());
    await counted();
    const other = await service.registerBot();
    expect((await other.get<Shown>('/stats?to=2026-03-20')).data.under_consent).toStrictEqual([]);
  });
});

type Sub = ReturnType<typeof subject>;
