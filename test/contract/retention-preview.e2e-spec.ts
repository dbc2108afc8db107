import { Clock } from '@app/kernel';
import { DueCounts } from '@app/user-data';
import type { Bot } from '../support/bot';
import type { Answer } from '../support/client';
import { A_TIME, expectFailure, expectFaults, expectSuccess } from '../support/expected';
import { UNKNOWN_UUID } from '../support/inputs';
import { fillRecords } from '../support/previewed-records';
import { seal } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

const DAY_MS = 86_400_000;
const service = useServiceInProcess({ EVIDENCE_RETENTION_DAYS: '30', BACKUP_RETENTION_DAYS: '0' });
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot();
});

const preview = (query = '', caller = bot): Promise<Answer> =>
  caller.get(`/bots/${bot.id}/retention-preview${query}`);
const NOTHING = { ledger_entries: 0, deletion_requests: 0, consent_entries: 0, audit_events: 0 };

describe('GET /api/v1/bots/{bot_id}/retention-preview', () => {
  it('answers 200 with what the jobs would erase now, and erases nothing', async () => {
    await bot.hasCategory('aging', undefined, { retention_days: 5 });
    await bot.hasCategory('kept');
    for (let n = 0; n < 3; n++) {
      const who = subject();
      await bot.hasConsent(who);
      await bot.hasData(who, 'aging', { value: 'x' });
      await bot.hasData(who, 'kept', { value: 'x' });
    }
    expectSuccess(await preview(), 200, {
      ...{ generated_at: A_TIME, at: A_TIME, due: [] },
      guilds: { scheduled: 0, due: 0 },
      evidence: NOTHING,
    });
    const old = '2020-01-01T00:00:00.000Z';
    const sql = `UPDATE user_data SET updated_at = ?, retention_from = ? WHERE bot_id = ? AND category_key = 'aging'`;
    await service.database.run(sql, old, old, bot.id);
    const due = [{ category: 'aging', reason: 'retention', values: 3 }];
    expect((await preview()).data).toMatchObject({ due });
    expect((await preview()).data).toMatchObject({ due });
  });

  it('answers with in_days what would be erased by then: values and guilds', async () => {
    await bot.hasCategory('aging', undefined, { retention_days: 5 });
    const who = subject();
    await bot.hasConsent(who);
    await bot.hasData(who, 'aging', { value: 'x' });
    await bot.hasRevoked(who);
    await bot.post('/servers/register', { guild_id: who.guild_id });
    await bot.delete(`/servers/${who.guild_id}?grace_days=20`);
    const after = async (days: number) => (await preview(`?in_days=${days}`)).data;
    const aged = { category: 'aging', reason: 'retention', values: 1 };
    expect(await after(4)).toMatchObject({ due: [], guilds: { scheduled: 1, due: 0 } });
    expect(await after(6)).toMatchObject({ due: [aged], guilds: { scheduled: 1, due: 0 } });
    expect(await after(31)).toMatchObject({
      due: [aged, { ...aged, reason: 'consent_revoked' }],
      guilds: { scheduled: 1, due: 1 },
    });
    const { generated_at: now, at } = (await after(31)) as unknown as Record<'generated_at' | 'at', string>;
    expect(Date.parse(at) - Date.parse(now)).toBe(31 * DAY_MS);
  });

  it('answers with in_days what would be erased of the evidence by then', async () => {
    const who = subject();
    await bot.hasConsent(who);
    await bot.hasRevoked(who);
    await bot.hasForgotten(subject());
    const rows = (from: string) => service.database.rows(`SELECT 1 FROM ${from} WHERE bot_id = ?`, bot.id);
    await seal(service, bot);
    const events = (await rows('audit_events')).length;
    expect(events).toBeGreaterThan(4);
    const after = async (days: number) =>
      (await bot.get<{ evidence: unknown }>(`/bots/${bot.id}/retention-preview?in_days=${days}`)).data
        .evidence;
    expect(await after(0)).toStrictEqual(NOTHING);
    expect(await after(29)).toStrictEqual(NOTHING);
    const expired = { ledger_entries: 1, deletion_requests: 1, consent_entries: 3, audit_events: events };
    expect(await after(31)).toStrictEqual(expired);
  });

  it.each([499, 500, 501, 1_203])('counts %i records of each kind as one statement would', async (size) => {
    await bot.hasCategory('aging', undefined, { retention_days: 5 });
    const expected = await fillRecords(service.database, bot.id, 'aging', size);
    expect((await preview('?in_days=366')).data).toMatchObject(expected);
  });

  it('takes the moment for which it counts when its turn has come', async () => {
    const other = await service.registerBot();
    const counts = service.app.get(DueCounts, { strict: false });
    const count = counts.of.bind(counts);
    const clock = service.app.get(Clock);
    const begun = new Promise<() => void>((resolve) =>
      jest.spyOn(counts, 'of').mockImplementationOnce(async (...given) => {
        await new Promise<void>((goOn) => resolve(goOn));
        return count(...given);
      }),
    );
    const first = preview();
    const goOn = await begun;
    const ask = () => other.get<{ generated_at: string }>(`/bots/${other.id}/retention-preview`);
    const asked = [ask(), ask()];
    // One of them waits for its turn, and the other one is refused at once.
    expect((await Promise.race(asked)).status).toBe(409);
    const waited = clock.confirmedIso();
    await until(async () => clock.confirmedIso() > waited);
    goOn();
    await first;
    const answer = (await Promise.all(asked)).find(({ status }) => status === 200);
    expect(String(answer?.data.generated_at) > waited).toBe(true);
  });

  it.each(['-1', '367', '1.5', '', 'x'])('answers 400 for in_days %j', async (days) => {
    expectFaults(await preview(`?in_days=${days}`), 'in_days');
  });

  it('counts nothing of another bot, and answers 404 for it', async () => {
    const other = await service.registerBot();
    expectFailure(await preview('', other), 404, 'not_found');
    expectFailure(await bot.get(`/bots/${UNKNOWN_UUID}/retention-preview`), 404, 'not_found');
  });

  it('answers 409 report_in_progress while a report of the same bot is made, and not to another bot', async () => {
    const other = await service.registerBot();
    const counts = service.app.get(DueCounts, { strict: false });
    const count = counts.of.bind(counts);
    const begun = new Promise<() => void>((resolve) =>
      jest.spyOn(counts, 'of').mockImplementationOnce(async (...given) => {
        await new Promise<void>((goOn) => resolve(goOn));
        return count(...given);
      }),
    );
    const first = preview();
    const goOn = await begun;
    expectFailure(await preview(), 409, 'conflict', { reason: 'report_in_progress' });
    const scope = '/audit/breach-scope?from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z';
    expectFailure(await bot.get(scope), 409, 'conflict', { reason: 'report_in_progress' });
    const theirs = other.get(`/bots/${other.id}/retention-preview`);
    goOn();
    expect([(await first).status, (await theirs).status]).toStrictEqual([200, 200]);
    expect((await preview()).status).toBe(200);
  });
});
