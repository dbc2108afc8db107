import { ApiKeyTimes } from '@app/bots';
import { databaseUnavailable, UnitOfWork } from '@app/database';
import { ErasureService, ErasureWatch } from '@app/gdpr';
import { Clock } from '@app/kernel';
import { Health } from '@app/runtime';
import { SubjectDataHolders } from '@app/crypto';
import type { Bot } from '../support/bot';
import { consentActs } from '../support/consent-acts';
import { engine } from '../support/database';
import { expectFailure } from '../support/expected';
import { withoutJobs } from '../support/jobs';
import { forms, get, send } from '../support/privacy-page';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject } from '../support/snowflakes';
import { passes } from '../support/time';
import { until } from '../support/until';

const service = useServiceInProcess();
let bot: Bot;

beforeAll(() => withoutJobs(service));
beforeEach(async () => {
  bot = await service.registerBot();
});
afterEach(() => jest.restoreAllMocks());

const PARTLY = expect.stringContaining('part of it is done') as string;

/** The database refuses the units of a request after the `nth`. */
function unavailableAfter(nth: number): void {
  const unitOfWork = service.app.get(UnitOfWork);
  const write = unitOfWork.write.bind(unitOfWork);
  let left = nth;
  jest
    .spyOn(unitOfWork, 'write')
    .mockImplementation((work) => (left-- > 0 ? write(work) : Promise.reject(databaseUnavailable())));
}

async function guildOf(users: number): Promise<string> {
  const guildId = snowflake();
  await bot.post('/servers/register', { guild_id: guildId });
  const consents = consentActs(service.app);
  for (let user = 0; user < users; user++)
    await consents.request(bot.id, { user_id: snowflake(), guild_id: guildId, consent_version: '1' });
  return guildId;
}

describe('a request that the database left half-way says so, and continues when it is repeated', () => {
  it('DELETE /servers/{guild_id}', async () => {
    const guildId = await guildOf(40);
    // The guild, its users, then the units of the first 32 of them. On SQLite those that destroy keys are not counted.
    unavailableAfter(2 + 32 * (engine === 'sqlite' ? 1 : 2));
    const answer = await bot.delete(`/servers/${guildId}`);
    jest.restoreAllMocks();
    expectFailure(answer, 503, 'service_unavailable');
    expect(answer.error.message).toEqual(PARTLY);
    expect((await bot.delete(`/servers/${guildId}`)).data).toMatchObject({ erased_users: 8 });
  });

  it('DELETE /servers/{guild_id}, of which only the erasure of a user is on record', async () => {
    const guildId = await guildOf(1);
    const counts = jest.spyOn(service.app.get(SubjectDataHolders, { strict: false }), 'count');
    counts.mockRejectedValue(databaseUnavailable());
    const answer = await bot.delete(`/servers/${guildId}`);
    counts.mockRestore();
    expectFailure(answer, 503, 'service_unavailable');
    expect(answer.error.message).toEqual(PARTLY);
    await service.app.get(ErasureService, { strict: false }).finishLeft();
    expect((await bot.get<{ servers: unknown[] }>('/servers')).data.servers).toHaveLength(1);
    expect((await bot.delete(`/servers/${guildId}`)).data).toMatchObject({ deleted: true });
  });

  it('DELETE /data/categories/{key}', async () => {
    await bot.hasCategory('profile');
    for (let user = 0; user < 501; user++) {
      const stored = service.stored(bot, subject());
      await service.database.run(
        `INSERT INTO user_data (bot_id, user_id, guild_id, category_key, value, created_at, updated_at)
         VALUES (?, ?, ?, 'profile', '{}', '2020', '2020')`,
        ...[bot.id, stored.user_id, stored.guild_id],
      );
    }
    unavailableAfter(1);
    const answer = await bot.delete('/data/categories/profile');
    jest.restoreAllMocks();
    expectFailure(answer, 503, 'service_unavailable');
    expect(answer.error.message).toEqual(PARTLY);
    expect((await bot.delete('/data/categories/profile')).status).toBe(200);
  });

  it('DELETE /bots/{id}, which continues by itself', async () => {
    unavailableAfter(1);
    const times = service.app.get(ApiKeyTimes, { strict: false });
    const steps: string[] = [];
    let pass: () => void = () => undefined;
    const passed = new Promise<void>((resolve) => (pass = resolve));
    const pause = jest.spyOn(times, 'pause').mockImplementation(() => passed);
    const answering = bot.delete(`/bots/${bot.id}`).finally(() => steps.push('answered'));
    if (engine === 'postgres') {
      // Also then the answer waits until no process trusts the keys.
      await until(() => pause.mock.calls.length > 0);
      expect(pause.mock.lastCall?.[0]).toBeGreaterThan(times.believedMs);
      expectFailure(await bot.get('/servers'), 401, 'unauthorized');
      steps.push('trusted no more');
      pass();
    }
    const answer = await answering;
    jest.restoreAllMocks();
    expectFailure(answer, 503, 'service_unavailable');
    expect(answer.error.message).toContain('rows are still being deleted');
    expectFailure(await bot.get('/servers'), 401, 'unauthorized');
    expect(steps).toStrictEqual(engine === 'postgres' ? ['trusted no more', 'answered'] : ['answered']);
  });
});

describe('an erasure that does not end', () => {
  const SAID = 'An erasure is unfinished after more than a minute';
  const lines = () => service.logLines.filter((line) => line.includes(SAID)).length;

  /** So long after the request, however slow the test is. */
  async function state(requestedMs: number, seconds: number): Promise<unknown> {
    jest
      .spyOn(service.app.get(Clock, { strict: false }), 'nowMs')
      .mockReturnValue(requestedMs + seconds * 1_000);
    // The reading is held for a few seconds of this clock.
    passes(service, seconds * 1_000, 'monotonicMs');
    await service.app.get(ErasureWatch, { strict: false }).look();
    return service.app.get(Health).ready();
  }

  it('is named by readiness and once by the log from one minute on, until it has ended', async () => {
    service.app.get(Health).isServing = true;
    const who = subject();
    await bot.hasConsent(who);
    const counts = jest.spyOn(service.app.get(SubjectDataHolders, { strict: false }), 'count');
    counts.mockRejectedValue(databaseUnavailable());
    const answer = await bot.post('/gdpr/forget-user', who);
    expect(answer.error.details).toMatchObject({ status: 'processing' });
    const [request] = await service.database.rows<{ created_at: string }>(
      'SELECT created_at FROM deletion_requests WHERE bot_id = ?',
      bot.id,
    );
    const at = Date.parse(request!.created_at);

    expect([await state(at, 50), lines()]).toEqual([{ status: 'ok' }, 0]);
    const unfinished = { status: 'degraded', conditions: ['erasure_unfinished'] };
    for (const seconds of [70, 130, 3_600])
      expect([await state(at, seconds), lines()]).toEqual([unfinished, 1]);

    counts.mockRestore();
    await service.app.get(ErasureService, { strict: false }).finishLeft();
    expect([await state(at, 3_700), lines()]).toEqual([{ status: 'ok' }, 1]);
  });

  it.each([
    ['de', 'Deine Löschung ist vermerkt'],
    ['en', 'Your erasure is on record'],
  ])('is on record with its number, as the page of the user says: %s', async (language, title) => {
    const who = subject();
    await bot.hasConsent(who);
    const { url } = (await bot.post<{ url: string }>('/privacy-links', who)).data;
    const [form] = forms(await get(`${url}/forget?lang=${language}`), 'forget');
    jest
      .spyOn(service.app.get(SubjectDataHolders, { strict: false }), 'count')
      .mockRejectedValue(databaseUnavailable());
    const { status, text } = await send(url, 'forget', form!);
    jest.restoreAllMocks();
    const [request] = await service.database.rows<{ id: string; status: string }>(
      'SELECT id, status FROM deletion_requests WHERE bot_id = ?',
      bot.id,
    );
    expect(request?.status).toBe('processing');
    expect(status).toBe(503);
    expect(text).toContain(`<html lang="${language}">`);
    for (const said of [title, request?.id]) expect(text).toContain(said);
    await service.app.get(ErasureService, { strict: false }).finishLeft();
  });
});
