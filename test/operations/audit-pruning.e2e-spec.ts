import { type KeySet, verifyAuditExport } from '@lethe/sdk/evidence';
import { DAY_MS, firstIdAt } from '@app/kernel';
import { AuditPruning, AuditVerifier } from '@app/sealing';
import type { Bot } from '../support/bot';
import { sumOf } from '../support/jobs';
import { contradicting, exported, seal, verified, withoutSealing } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { ago } from '../support/time';
import { nextMillisecond } from '../support/until';

const service = useServiceInProcess();
let bot: Bot;
beforeAll(() => withoutSealing(service));
beforeEach(async () => {
  bot = await service.registerBot();
});
afterEach(() => jest.restoreAllMocks());

const write = (who: SubjectIds = subject()) =>
  bot.post('/audit/event', { ...who, event_type: 'data_deleted', details: { a: 1 } });

/** A log of several batches, with an erased user in the first of them; answers a time between the second and the third. */
async function grown(): Promise<string> {
  const gone = subject();
  for (let count = 0; count < 3; count++) await write(gone);
  await write();
  await seal(service, bot);
  await bot.hasForgotten(gone);
  await seal(service, bot);
  await nextMillisecond();
  const between = new Date().toISOString();
  await nextMillisecond();
  await write();
  await seal(service, bot);
  await write();
  return between;
}

const prune = (beforeIso: string): Promise<number> =>
  sumOf(service, service.app.get(AuditPruning).pruneBefore(bot.id, beforeIso));

const total = async (query = '') =>
  (await bot.get<{ pagination: { total_count: number } }>(`/audit/events${query}`)).data.pagination
    .total_count;

describe('AuditPruning', () => {
  it('removes what is older, and no batch that holds anything younger', async () => {
    const between = await grown();
    expect(await service.app.get(AuditPruning).expiredEvents(bot.id, between)).toBe(6);
    expect(await prune('2000-01-01T00:00:00.000Z')).toBe(0);
    expect(await prune(between)).toBe(6);
    expect(await total()).toBe(2);
    expect(await prune(between)).toBe(0);
  });

  it('keeps a batch with all its events where the last one is younger', async () => {
    await write();
    await nextMillisecond();
    const between = new Date().toISOString();
    await nextMillisecond();
    await write();
    await seal(service, bot);
    expect(await service.app.get(AuditPruning).expiredEvents(bot.id, between)).toBe(0);
    expect(await prune(between)).toBe(0);
    expect(await total()).toBe(2);
  });

  it('keeps what was written in the hour after a long stop, in which ids are as old as the stop', async () => {
    await write();
    const old = firstIdAt(ago(60 * DAY_MS));
    await service.database.run('UPDATE audit_events SET id = ? WHERE bot_id = ?', old, bot.id);
    await seal(service, bot);
    expect(await service.app.get(AuditPruning).expiredEvents(bot.id, ago(30 * DAY_MS))).toBe(0);
    expect(await prune(ago(30 * DAY_MS))).toBe(0);
    expect(await total()).toBe(1);
  });

  it('leaves a log that verifies, here and away from the service, from its signed statement on', async () => {
    await prune(await grown());
    expect(await verified(service, bot)).toMatchObject({ batches: 1, events: 1, unsealed: 1, found: [] });
    const keySet = (await (await fetch(`${service.url}/.well-known/lethe-keys.json`)).json()) as KeySet;
    expect(await verifyAuditExport(await exported(bot), keySet)).toMatchObject({ events: 2 });
    const listed = await bot.get<{ checkpoints: { number: number }[]; pruning: string }>(
      '/audit/checkpoints',
    );
    expect(listed.data.checkpoints.map(({ number }) => number)).toStrictEqual([4, 3]);
    expect(listed.data.pruning).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  it('beside a verification has no batch verified, or fault reported, twice', async () => {
    const between = await grown();
    await service.database.run(
      `UPDATE audit_events SET event_type = 'data_submitted' WHERE bot_id = ? AND seq =
         (SELECT last_seq FROM audit_batches WHERE bot_id = ? AND number = 3)`,
      ...[bot.id, bot.id],
    );
    const verifier = service.app.get<unknown, { step: (walk: object) => Promise<boolean> }>(AuditVerifier);
    const step = verifier.step.bind(verifier);
    jest.spyOn(verifier, 'step').mockImplementation(async (walk) => {
      const hasMore = await step(walk);
      if ((walk as { batches: number }).batches === 3) await prune(between);
      return hasMore;
    });
    const { batches, events, found } = await verified(service, bot);
    expect([batches, events]).toStrictEqual([3, 7]);
    expect(found.filter(({ batch }) => batch === 3)).toHaveLength(1);
  });

  it('leaves what a checkpoint of the last batch that went is compared with, here and away from the service', async () => {
    const between = await grown();
    interface Listed {
      readonly checkpoints: readonly { readonly number: number; readonly checkpoint: string }[];
    }
    const { checkpoints } = (await bot.get<Listed>('/audit/checkpoints')).data;
    const kept = checkpoints.find(({ number }) => number === 2)?.checkpoint ?? '';
    const rival = await contradicting(service, kept);
    await prune(between);
    expect((await verified(service, bot, [kept])).found).toStrictEqual([]);
    expect((await verified(service, bot, [rival])).found).toMatchObject([{ batch: 2, fault: 'batch' }]);
    const keySet = (await (await fetch(`${service.url}/.well-known/lethe-keys.json`)).json()) as KeySet;
    const lines = await exported(bot);
    await expect(verifyAuditExport(lines, keySet, [kept])).resolves.toMatchObject({ events: 2 });
    await expect(verifyAuditExport(lines, keySet, [rival])).rejects.toThrow(
      'is not the one of the checkpoint',
    );
  });

  it('keeps the totals exact, by guild and type and of erased users too', async () => {
    const between = await grown();
    const who = subject();
    await write(who);
    await prune(between);
    expect(await total()).toBe(3);
    expect(await total('?event_type=data_deleted')).toBe(3);
    expect(await total('?event_type=deletion_completed')).toBe(0);
    expect(await total(`?guild_id=${who.guild_id}`)).toBe(1);
    expect((await verified(service, bot)).found).toStrictEqual([]);
  });

  it('lets the log go on behind what was sealed, also where every event was removed', async () => {
    await grown();
    await seal(service, bot);
    await prune('2999-01-01T00:00:00.000Z');
    expect(await total()).toBe(0);
    await write();
    await seal(service, bot);
    expect(await verified(service, bot)).toMatchObject({ batches: 1, events: 1, unsealed: 0, found: [] });
    const keySet = (await (await fetch(`${service.url}/.well-known/lethe-keys.json`)).json()) as KeySet;
    expect(await verifyAuditExport(await exported(bot), keySet)).toMatchObject({ batches: 1, events: 1 });
  });

  it('leaves a log that lacks its first batch, after one try in a run', async () => {
    const between = await grown();
    await service.database.run('DELETE FROM audit_batches WHERE bot_id = ? AND number = 1', bot.id);
    const units = service.app.get(AuditPruning).pruneBefore(bot.id, between);
    expect(await units.next(0)).toMatchObject({ done: false });
    // The answer of that unit: it has removed nothing.
    expect(await units.next(0)).toMatchObject({ done: true });
    expect(await prune(between)).toBe(0);
    expect(await total()).toBe(8);
  });

  it('cannot be forged without the key', async () => {
    const between = await grown();
    await service.database.run('DELETE FROM audit_batches WHERE bot_id = ? AND number <= 2', bot.id);
    await service.database.run(
      'DELETE FROM audit_events WHERE bot_id = ? AND created_at < ?',
      bot.id,
      between,
    );
    await service.database.run('UPDATE audit_heads SET pruned_number = 2 WHERE bot_id = ?', bot.id);
    expect((await verified(service, bot)).found).toContainEqual(expect.objectContaining({ fault: 'head' }));
  });
});
