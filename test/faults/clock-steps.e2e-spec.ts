import { EvidenceRetentionJob, GuildDeletion } from '@app/gdpr';
import { ClockWatch } from '@app/database';
import { Degradations } from '@app/kernel';
import { Health } from '@app/runtime';
import { CategoryRetention, WithdrawnDataErasure } from '@app/user-data';
import { DeliveryLeases, DeliveryRetention, Dispatcher } from '@app/webhooks';
import { type Bot, field } from '../support/bot';
import { runNow } from '../support/jobs';
import { Receiver } from '../support/receiver';
import { Service, useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

// The clock of the machine is set while Lethe runs, or between two starts. The monotonic clock is not affected.

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

/** Every job that removes something by its age. */
const JOBS = [
  ...[CategoryRetention, WithdrawnDataErasure],
  ...[GuildDeletion, EvidenceRetentionJob, DeliveryRetention],
];

const wall = Date.now.bind(Date);
const monotonic = performance.now.bind(performance);

/** Sets the clock of the machine. */
function sets(aheadMs: number): void {
  jest.spyOn(Date, 'now').mockImplementation(() => wall() + aheadMs);
}

/** Lets time pass on both clocks, beside what {@link sets} has set. */
function passes(ms: number, aheadMs: number): void {
  sets(aheadMs + ms);
  jest.spyOn(performance, 'now').mockImplementation(() => monotonic() + ms);
}

afterEach(() => jest.restoreAllMocks());

async function sweep(of: Service): Promise<void> {
  for (const job of JOBS) await runNow(of, job);
}

/** One user for each thing that is removed by time. */
async function filled(of: Service): Promise<{ bot: Bot; left: () => Promise<unknown> }> {
  const bot = await of.registerBot();
  await bot.hasCategory('aged', [field('value')], { retention_days: 30 });
  await bot.hasCategory('kept');
  const [aged, withdrawn, leaving, forgotten] = [subject(), subject(), subject(), subject()];
  for (const who of [aged, withdrawn, leaving, forgotten]) {
    await bot.post('/servers/register', { guild_id: who.guild_id });
    await bot.hasConsent(who);
  }
  await bot.hasData(aged, 'aged', { value: 'x' });
  for (const who of [withdrawn, leaving]) await bot.hasData(who, 'kept', { value: 'x' });
  await bot.hasRevoked(withdrawn);
  await bot.delete(`/servers/${leaving.guild_id}?grace_days=7`);
  const request = await bot.hasForgotten(forgotten);
  const data = async (who: SubjectIds) => {
    const answer = await bot.export<{ data: object }>(who);
    return answer.status === 404 ? {} : answer.data.data;
  };
  const left = async () => ({
    aged: await data(aged),
    withdrawn: await data(withdrawn),
    leaving: await data(leaving),
    request: (await bot.get(`/gdpr/forget-status/${request}`)).status,
    history: (
      await of.database.rows(
        'SELECT action FROM consent_history WHERE user_id = ?',
        of.stored(bot, withdrawn).user_id,
      )
    ).length,
  });
  return { bot, left };
}

const ALL_LEFT = {
  aged: { aged: { value: 'x' } },
  withdrawn: { kept: { value: 'x' } },
  leaving: { kept: { value: 'x' } },
  request: 200,
  history: 3,
};
const NONE_LEFT = { aged: {}, withdrawn: {}, leaving: {}, request: 404, history: 0 };

const ready = ({ app }: Service) => {
  app.get(Health).isServing = true;
  return app.get(Health).ready();
};

describe('a clock that is set a year ahead', () => {
  const service = useServiceInProcess({ EVIDENCE_RETENTION_DAYS: '30', WEBHOOK_RETENTION_DAYS: '30' });

  it('erases nothing, neither then nor after it is set right again', async () => {
    const { left } = await filled(service);
    sets(YEAR_MS);
    await sweep(service);
    expect(await left()).toEqual(ALL_LEFT);
    passes(75_000, YEAR_MS);
    await sweep(service);
    jest.restoreAllMocks();
    await sweep(service);
    expect(await left()).toEqual(ALL_LEFT);
  });

  it('runs no job later than without it', async () => {
    sets(YEAR_MS);
    await sweep(service);
    jest.restoreAllMocks();
    // The rarest job has a day between two runs.
    const farthest = new Date(wall() + 25 * HOUR_MS).toISOString();
    expect(
      await service.database.rows('SELECT name FROM job_leases WHERE locked_until > ?', farthest),
    ).toEqual([]);
  });

  it('is believed after an hour, and the process is degraded until then', async () => {
    const own = await new Service({ EVIDENCE_RETENTION_DAYS: '30' }).start();
    const { left } = await filled(own);
    const looks = () => own.app.get(ClockWatch).look();
    sets(YEAR_MS);
    looks();
    expect(await ready(own)).toEqual({ status: 'degraded', conditions: ['clock_step'] });
    expect(own.logLines.join('')).toContain('525600 minutes ahead of the time that has passed');
    passes(HOUR_MS - 600_000, YEAR_MS);
    looks();
    await sweep(own);
    expect(await left()).toEqual(ALL_LEFT);
    passes(HOUR_MS + 60_000, YEAR_MS);
    looks();
    await sweep(own);
    expect(await left()).toEqual(NONE_LEFT);
    expect(own.app.get(Degradations).current).toEqual([]);
    jest.restoreAllMocks();
    await own.stop();
  });

  it('erases nothing for an hour after a start with it, and then what is due', async () => {
    const own = await new Service({ EVIDENCE_RETENTION_DAYS: '30' }).start();
    const { bot, left } = await filled(own);
    sets(YEAR_MS);
    await own.restart();
    await sweep(own);
    expect(await left()).toEqual(ALL_LEFT);
    expect(await bot.get('/servers')).toMatchObject({ status: 200 });
    passes(HOUR_MS + 60_000, YEAR_MS);
    await sweep(own);
    expect(await left()).toEqual(NONE_LEFT);
    jest.restoreAllMocks();
    await own.stop();
  });

  it('and is believed plans no retry that lasts after it is set right', async () => {
    const receiver = new Receiver();
    await receiver.start();
    receiver.status = 500;
    // Longer than the hour in which the clock that is right again is not believed.
    const own = await new Service({ WEBHOOK_RETRY_SCHEDULE: '5h' }).start();
    own.app.get(Dispatcher, { strict: false }).pollMs = 50;
    const bot = await own.registerBot({ webhook_url: receiver.url });
    await bot.hasCategory('kept');
    const looks = () => own.app.get(ClockWatch).look();
    sets(YEAR_MS);
    looks();
    passes(2 * HOUR_MS, YEAR_MS);
    const who = subject();
    await bot.hasConsent(who);
    await bot.hasForgotten(who);
    const call = async () =>
      (
        await own.database.rows<{ status: string; retries: number }>(
          'SELECT status, retries FROM webhook_deliveries',
        )
      )[0];
    await until(async () => (await call())?.retries === 1);
    receiver.status = 200;
    passes(3 * HOUR_MS, 0);
    looks();
    passes(5 * HOUR_MS, 0);
    await sweep(own);
    await until(async () => (await call())?.status === 'delivered');
    jest.restoreAllMocks();
    await own.stop();
    await receiver.stop();
  });

  it('and right again is not believed after an hour either', async () => {
    const own = await new Service({ EVIDENCE_RETENTION_DAYS: '30' }).start();
    const { left } = await filled(own);
    sets(YEAR_MS);
    await sweep(own);
    passes(2 * HOUR_MS, 0);
    await sweep(own);
    expect(await left()).toEqual(ALL_LEFT);
    jest.restoreAllMocks();
    await own.stop();
  });
});

/** The confirmed time is that of the last sign of life for an hour then, and leaps to that of the machine after it. */
describe('a start after Lethe was down for five days', () => {
  const DOWN_MS = 5 * 24 * HOUR_MS;
  const receiver = new Receiver();
  beforeAll(() => receiver.start());
  afterAll(() => receiver.stop());

  let own: Service;
  let bot: Bot;
  const who = subject();
  beforeEach(async () => {
    receiver.reset();
    own = await new Service().start();
    bot = await own.registerBot({ webhook_url: receiver.url });
    await bot.hasCategory('kept');
    await bot.hasConsent(who);
    sets(DOWN_MS);
    await own.restart();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await own.stop();
  });
  const outcome = async () =>
    (
      await own.database.rows<{ status: string; attempts: number }>(
        'SELECT status, attempts FROM webhook_deliveries',
      )
    )[0];

  it('sends the calls of the first hour again, by the time at which they were made', async () => {
    const since = new Date(Date.now() - HOUR_MS).toISOString();
    await bot.hasForgotten(who);
    await until(async () => (await outcome())?.status === 'delivered');
    expect((await bot.post('/webhooks/replay', { since })).data).toEqual({ queued: 1 });
    const later = new Date(Date.now() + HOUR_MS).toISOString();
    expect((await bot.post('/webhooks/replay', { since: later })).data).toEqual({ queued: 0 });
  });
});

describe('workers that were away for longer than a call lives', () => {
  const receiver = new Receiver();
  beforeAll(() => receiver.start());
  afterAll(() => receiver.stop());

  it('send the calls of a bot whose last call before had failed, and give none up', async () => {
    const own = await new Service().start();
    own.app.get(Dispatcher, { strict: false }).pollMs = 50;
    const away = jest.spyOn(own.app.get(DeliveryLeases, { strict: false }), 'leaseDue').mockResolvedValue([]);
    const bot = await own.registerBot({ webhook_url: receiver.url });
    await bot.hasCategory('kept');
    for (const who of [subject(), subject(), subject()]) {
      await bot.hasConsent(who);
      await bot.hasForgotten(who);
    }
    await own.database.run(
      `INSERT INTO webhook_health (bot_id, failures, last_outcome, last_failed_at) VALUES (?, 1, 'refused', ?)`,
      ...[bot.id, new Date().toISOString()],
    );
    passes(5 * 24 * HOUR_MS, 0);
    await runNow(own, DeliveryRetention);
    const statuses = async () =>
      (await own.database.rows<{ status: string }>('SELECT status FROM webhook_deliveries')).map(
        ({ status }) => status,
      );
    expect(await statuses()).toEqual(['pending', 'pending', 'pending']);
    away.mockRestore();
    await until(async () => (await statuses()).every((status) => status === 'delivered'));
    jest.restoreAllMocks();
    await own.stop();
  });
});

/** The times of a subject in the order of its acts. */
async function timesOf(bot: Bot, who: SubjectIds): Promise<string[]> {
  const query = `user_id=${who.user_id}&guild_id=${who.guild_id}&page_size=100`;
  const { events } = (await bot.get<{ events: { created_at: string }[] }>(`/audit/events?${query}`)).data;
  return events.map((event) => event.created_at).reverse();
}

interface ConsentTimes {
  readonly requested_at: string;
  readonly accepted_at: string;
  readonly revoked_at: string;
}

/** Requests, accepts, submits and revokes; `between` is called before each step. */
async function lives(bot: Bot, between: (step: number) => Promise<void> | void): Promise<SubjectIds> {
  const who = subject();
  const steps = [
    () => bot.hasRequest(who),
    () => bot.post('/consents/accept', { ...who, consent_version: '1.0' }),
    () => bot.hasData(who, 'kept', { value: 'x' }),
    () => bot.hasData(who, 'kept', { value: 'y' }),
    () => bot.hasRevoked(who),
  ];
  for (const [step, act] of steps.entries()) {
    await between(step);
    await act();
  }
  return who;
}

describe('a clock that is set back', () => {
  const service = useServiceInProcess();
  let bot: Bot;
  beforeEach(async () => {
    bot = await service.registerBot();
    await bot.hasCategory('kept');
  });

  async function expectsOrder(who: SubjectIds): Promise<void> {
    const [consent] = await service.database.rows<ConsentTimes>(
      'SELECT requested_at, accepted_at, revoked_at FROM consents WHERE bot_id = ? AND user_id = ?',
      ...[bot.id, service.stored(bot, who).user_id],
    );
    const { requested_at: requested, accepted_at: accepted, revoked_at: revoked } = consent!;
    expect([requested, accepted, revoked]).toEqual([requested, accepted, revoked].sort());
    const [value] = await service.database.rows<{ created_at: string; updated_at: string }>(
      'SELECT created_at, updated_at FROM user_data WHERE bot_id = ?',
      bot.id,
    );
    expect(value!.updated_at >= value!.created_at).toBe(true);
  }

  it('by an hour puts no act before an earlier one', async () => {
    const who = await lives(bot, (step) => sets(step * -HOUR_MS));
    await expectsOrder(who);
    const times = await timesOf(bot, who);
    expect(times).toEqual([...times].sort());
  });

  it('by an hour between two starts puts no act before an earlier one', async () => {
    const who = await lives(bot, async (step) => {
      sets(step * -HOUR_MS);
      if (step > 0) await service.restart();
    });
    await expectsOrder(who);
    const times = await timesOf(bot, who);
    expect(times).toEqual([...times].sort());
  });

  it('after a year ahead keeps the times of each record in order', async () => {
    await expectsOrder(await lives(bot, (step) => sets(step % 2 === 0 ? YEAR_MS : 0)));
  });

  it.each([
    ['back by an hour', -HOUR_MS],
    ['ahead by a year', YEAR_MS],
  ])('and %s answers X-RateLimit-Reset within the next minute of that clock', async (_, aheadMs) => {
    const resets: number[] = [];
    for (const ms of [0, aheadMs, 0]) {
      // The clock is stopped during the request, so that the test knows the time of its answer.
      const atMs = wall() + ms;
      jest.spyOn(Date, 'now').mockReturnValue(atMs);
      const answer = await bot.get('/servers');
      resets.push(Number(answer.header('x-ratelimit-reset')) - atMs / 1000);
    }
    for (const seconds of resets) {
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(61);
    }
  });
});
