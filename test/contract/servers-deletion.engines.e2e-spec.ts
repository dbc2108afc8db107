import { type Tx, UnitOfWork } from '@app/database';
import { ErasureService, GuildDeletion } from '@app/gdpr';
import { Clock, daysAfter } from '@app/kernel';
import type { Bot } from '../support/bot';
import {
  A_TIME,
  expectFailure,
  expectFaults,
  expectSameRefusal,
  expectSuccess,
  server,
} from '../support/expected';
import { leased, runNow, sweepOnce } from '../support/jobs';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';

const NEVER = new AbortController().signal;
const service = useServiceInProcess();
let bot: Bot;
let guildId: string;
let people: SubjectIds[];

beforeEach(async () => {
  bot = await service.registerBot();
  await bot.hasCategory('profile');
  guildId = snowflake();
  await bot.post('/servers/register', { guild_id: guildId });
  people = [];
});
afterEach(() => jest.restoreAllMocks());

async function inhabited(count = 2): Promise<void> {
  people = Array.from({ length: count }, () => ({ ...subject(), guild_id: guildId }));
  for (const who of people) {
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'x' });
  }
}

/** Sets the played time to a number of days and milliseconds after an answered time. */
function after(iso: string, days: number, ms = 0): void {
  jest.spyOn(service.app.get(Clock), 'nowMs').mockReturnValue(Date.parse(daysAfter(iso, days)) + ms);
}

const remove = (query = '') => bot.delete<{ scheduled_for: string }>(`/servers/${guildId}${query}`);
const cancel = (guild = guildId) => bot.post(`/servers/${guild}/cancel-deletion`, {});
const sweep = () => runNow(service, GuildDeletion);

async function scheduled(days: number): Promise<string> {
  return (await remove(`?grace_days=${days}`)).data.scheduled_for;
}

async function shown(): Promise<unknown> {
  const { servers } = (await bot.get<{ servers: { deletion_scheduled_for: string | null }[] }>('/servers'))
    .data;
  return servers[0]?.deletion_scheduled_for;
}

/** The number of users that are not erased. */
async function left(): Promise<number> {
  const answers = await Promise.all(people.map((who) => bot.export(who)));
  return answers.filter(({ status }) => status === 200).length;
}

describe('DELETE /api/v1/servers/{guild_id}?grace_days', () => {
  it('answers when it will be erased; until then everything works as before', async () => {
    await inhabited();
    const [clock, week] = [service.app.get(Clock), 7 * 86_400_000];
    const from = clock.nowMs() + week;
    const answer = await remove('?grace_days=7');
    expectSuccess(answer, 200, { guild_id: guildId, deleted: false, erased_users: 0, scheduled_for: A_TIME });
    const at = answer.data.scheduled_for;
    expect(Date.parse(at)).toBeGreaterThanOrEqual(from);
    expect(Date.parse(at)).toBeLessThanOrEqual(week + clock.nowMs());
    expect((await bot.get('/servers')).data).toMatchObject({
      servers: [{ ...server(guildId), deletion_scheduled_for: at }],
    });
    after(at, 0, -1);
    await sweep();
    expect(await left()).toBe(2);
    await bot.hasData(people[0]!, 'profile', { value: 'y' });
  });

  it('erases the guild at that time as the call does, with webhook, evidence and registration', async () => {
    await inhabited();
    const elsewhere = { ...people[0]!, guild_id: snowflake() };
    await bot.hasConsent(elsewhere);
    after(await scheduled(7), 0);
    await sweep();
    expect(await left()).toBe(0);
    expect((await bot.get('/servers')).data).toMatchObject({ servers: [] });
    expect(await bot.eventTypes(people[0]!)).toContain('deletion_completed');
    expect((await bot.export(elsewhere)).status).toBe(200);
  });

  it.each([
    ['absent', ''],
    ['0', '?grace_days=0'],
  ])('erases at once where it is %s, also what is scheduled', async (_, query) => {
    await inhabited();
    await scheduled(30);
    expectSuccess(await remove(query), 200, { guild_id: guildId, deleted: true, erased_users: 2 });
    expect(await left()).toBe(0);
  });

  it('replaces the time when it is asked again', async () => {
    await inhabited();
    await scheduled(90);
    const sooner = await scheduled(1);
    expect(await shown()).toBe(sooner);
    const later = await scheduled(20);
    after(later, 0, -1);
    await sweep();
    expect(await left()).toBe(2);
    after(later, 0);
    await sweep();
    expect(await left()).toBe(0);
  });

  it.each(['-1', '91', '1.5', 'x', '', '1&grace_days=2'])(
    'answers 400 naming grace_days for %s',
    async (days) => {
      expectFaults(await remove(`?grace_days=${days}`), 'grace_days');
      expect(await shown()).toBeNull();
    },
  );

  it('answers the identical 404 for a guild of another bot and for none', async () => {
    const other = await service.registerBot();
    const refused = await other.delete(`/servers/${guildId}?grace_days=3`);
    expectFailure(refused, 404, 'not_found');
    expectSameRefusal(refused, await other.delete(`/servers/${snowflake()}?grace_days=3`));
    expect(await shown()).toBeNull();
  });
});

describe('POST /api/v1/servers/{guild_id}/cancel-deletion', () => {
  it('answers 200 with the server, of which nothing is erased then', async () => {
    await inhabited();
    const at = await scheduled(7);
    expectSuccess(await cancel(), 200, server(guildId));
    after(at, 30);
    await sweep();
    expect(await left()).toBe(2);
    expect(await shown()).toBeNull();
  });

  it('answers 409 nothing_scheduled where none is, also the second time', async () => {
    expectFailure(await cancel(), 409, 'conflict', { reason: 'nothing_scheduled' });
    await scheduled(7);
    await cancel();
    expectFailure(await cancel(), 409, 'conflict', { reason: 'nothing_scheduled' });
  });

  it('answers the identical 404 for a guild of another bot and for none', async () => {
    await scheduled(7);
    const other = await service.registerBot();
    const refused = await other.post(`/servers/${guildId}/cancel-deletion`, {});
    expectFailure(refused, 404, 'not_found');
    expectSameRefusal(refused, await other.post(`/servers/${snowflake()}/cancel-deletion`, {}));
    expect(await shown()).not.toBeNull();
  });

  it('answers 400 naming guild_id when it is no PlatformId', async () => {
    expectFaults(await cancel('123'), 'guild_id');
  });

  it('answers 409 deletion_in_progress once it has begun, and so does a further schedule', async () => {
    await inhabited(1);
    const at = await scheduled(1);
    const erasing = failing();
    after(at, 0);
    await sweep();
    expect(erasing).toHaveBeenCalled();
    expectFailure(await cancel(), 409, 'conflict', { reason: 'deletion_in_progress' });
    expectFailure(await remove('?grace_days=5'), 409, 'conflict', { reason: 'deletion_in_progress' });
  });
});

describe('registering a guild whose deletion is scheduled', () => {
  it('calls it off: the bot is there', async () => {
    await inhabited();
    const at = await scheduled(7);
    const answer = await bot.post('/servers/register', { guild_id: guildId, name: 'Back' });
    expectSuccess(answer, 201, server(guildId, 'Back'));
    after(at, 30);
    await sweep();
    expect(await left()).toBe(2);
  });

  it('does not once it has begun, and says so', async () => {
    await inhabited(1);
    const at = await scheduled(1);
    failing();
    after(at, 0);
    await sweep();
    const answer = await bot.post('/servers/register', { guild_id: guildId });
    expectSuccess(answer, 201, { ...server(guildId), deletion_scheduled_for: at });
    jest.restoreAllMocks();
    after(at, 1);
    await sweep();
    expect(await left()).toBe(0);
  });
});

/** Makes erasures fail from the `nth` on. */
function failing(nth = 1): jest.SpyInstance {
  const erasures = service.app.get(ErasureService, { strict: false });
  const erase = erasures.eraseIfHeld.bind(erasures);
  let calls = 0;
  return jest
    .spyOn(erasures, 'eraseIfHeld')
    .mockImplementation((...given) =>
      ++calls >= nth ? Promise.reject(new Error('injected')) : erase(...given),
    );
}

describe('the job', () => {
  it('continues at its next run with a guild that failed half-way, and meanwhile with the other guilds', async () => {
    await inhabited(3);
    const at = await scheduled(1);
    const [stuck, here] = [guildId, people];
    guildId = snowflake();
    await bot.post('/servers/register', { guild_id: guildId });
    await scheduled(1);
    failing(2);
    after(at, 1);
    await sweep();
    expect((await bot.get('/servers')).data).toMatchObject({ servers: [{ guild_id: stuck }] });
    people = here;
    expect(await left()).toBe(2);
    jest.restoreAllMocks();
    after(at, 1);
    await sweep();
    expect(await left()).toBe(0);
    expect((await bot.get('/servers')).data).toMatchObject({ servers: [] });
  });

  it('and a call beside it erase each user once', async () => {
    await inhabited(20);
    after(await scheduled(1), 0);
    await Promise.all([sweep(), remove()]);
    expect(await left()).toBe(0);
    for (const who of people) {
      const types = await bot.eventTypes(who);
      expect(types.filter((type) => type === 'deletion_completed')).toHaveLength(1);
    }
  });

  it.each([
    ['the next ones', false],
    ['those that it has anew, which it keeps', true],
  ])('gives other bots a turn between some users of a guild and %s', async (_, isAnew) => {
    await inhabited(40);
    // The job itself, which may be due as well, has to wait.
    const lease = await leased(service, 'guild-deletions');
    after(await scheduled(1), 0);
    const batches = service.app.get(GuildDeletion, { strict: false }).batches(bot.id, NEVER);
    const unit = async (step: IteratorResult<unknown>) =>
      batches.next(await service.app.get(UnitOfWork).write(step.value as (tx: Tx) => Promise<number>));
    try {
      let step = await unit(await batches.next(0));
      expect(await left()).toBe(8);
      if (isAnew) {
        await remove();
        await bot.post('/servers/register', { guild_id: guildId });
        for (const who of people) await bot.hasConsent(who);
      }
      while (step.done !== true) step = await unit(step);
    } finally {
      await service.app.get(UnitOfWork).write((tx) => lease.end(tx));
    }
    expect(await left()).toBe(isAnew ? 40 : 0);
  });

  it('stops between two users at a shutdown, and the next run continues', async () => {
    await inhabited(40);
    // The job itself, which may be due as well, has to wait.
    const lease = await leased(service, 'guild-deletions');
    after(await scheduled(1), 0);
    const erasures = service.app.get(ErasureService, { strict: false });
    const erase = erasures.eraseIfHeld.bind(erasures);
    const stopping = new AbortController();
    const erasing = jest.spyOn(erasures, 'eraseIfHeld').mockImplementation((...given) => {
      stopping.abort();
      return erase(...given);
    });
    await sweepOnce(service, GuildDeletion, lease, stopping.signal);
    await service.app.get(UnitOfWork).write((tx) => lease.end(tx));
    erasing.mockRestore();
    expect(await left()).toBe(8);
    await sweep();
    expect(await left()).toBe(0);
  });
});
