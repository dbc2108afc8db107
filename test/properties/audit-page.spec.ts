import { Signer } from '@app/crypto';
import type { AuditProof, KeySet } from '@lethe/sdk/evidence/web';
import {
  checkEvent,
  checkPage,
  type SealedLog,
  type ShownEvent,
} from '../../apps/console/src/pages/audit-check';
import type { Bot } from '../support/bot';
import { exported, payloadOf, seal } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess();
let bot: Bot;
let who: SubjectIds;
let gone: SubjectIds;
let keys: KeySet;

beforeAll(async () => {
  bot = await service.registerBot();
  await bot.hasCategory('profile');
  [who, gone] = [subject(), subject()];
  for (const each of [who, gone]) {
    await bot.hasConsent(each);
    await bot.hasData(each, 'profile', { value: 'x' });
    await seal(service, bot);
  }
  await bot.post('/audit/event', {
    ...who,
    event_type: 'data_deleted',
    details: { nested: [{ a: 'ü' }, null] },
  });
  await bot.hasForgotten(gone);
  await seal(service, bot);
  keys = (await (await fetch(`${service.url}/.well-known/lethe-keys.json`)).json()) as KeySet;
});

/** The lines behind a batch: the log does not change. */
const known = new Map<number, readonly string[]>();

type Shown = readonly ShownEvent[];
const shown = async (query = '', size = 100): Promise<Shown> =>
  (await bot.get<{ events: Shown }>(`/audit/events?page_size=${size}${query}`)).data.events;

/** The sealed log as the console reads it; `change` plays a service or a network that changes a line. */
function log(change: (line: string) => string = (line) => line): SealedLog {
  return {
    keys: () => Promise.resolve(keys),
    proof: async (id) => (await bot.get<AuditProof & Record<string, unknown>>(`/audit/proof/${id}`)).data,
    linesAfter: async function* (batch) {
      const lines = known.get(batch) ?? (await exported(bot, `?after=${batch}`));
      known.set(batch, lines);
      yield* lines.map(change);
    },
  };
}

describe('the check of a page of the audit log', () => {
  it('holds of every event as it is shown, also of erased users, in pages and with filters', async () => {
    const all = await shown();
    expect(all.filter(({ erased }) => erased === true).length).toBeGreaterThan(3);
    expect(await checkPage(bot.id, all, {}, log())).toMatchObject({ result: 'holds', count: all.length });
    for (let page = 1; page <= 3; page++)
      expect(await checkPage(bot.id, await shown(`&page=${page}`, 4), {}, log())).toMatchObject({
        result: 'holds',
      });
    const type = { event_type: 'data_submitted' };
    expect(await checkPage(bot.id, await shown('&event_type=data_submitted'), type, log())).toMatchObject({
      result: 'holds',
    });
    for (const each of [who, gone])
      expect(
        await checkPage(
          bot.id,
          await shown(`&user_id=${each.user_id}&guild_id=${each.guild_id}`),
          each,
          log(),
        ),
      ).toMatchObject({ result: 'holds' });
  });

  it.each(['id', 'user_id', 'guild_id', 'event_type', 'source', 'details', 'created_at', 'erased'])(
    'fails for an event that is shown with another %s than was sealed',
    async (field) => {
      const all = await shown();
      for (const [at, event] of all.entries()) {
        // The ids of an erased user are not shown as sealed: both are hidden.
        if (event.erased === true && field.endsWith('_id')) continue;
        const others: Record<string, unknown> = { details: { other: 1 }, erased: event.erased !== true };
        const other = all.with(at, { ...event, [field]: others[field] ?? `${event.id.slice(0, -2)}zz` });
        const found = await checkPage(bot.id, other, {}, log()).catch(() => ({ result: 'refused' }));
        expect([field, at, found]).toEqual([field, at, expect.not.objectContaining({ result: 'holds' })]);
      }
    },
  );

  it('fails for an event that is left out between the first and the last', async () => {
    const all = await shown();
    for (let at = 1; at < all.length - 1; at++) {
      const finding = await checkPage(bot.id, all.toSpliced(at, 1), {}, log());
      expect(finding).toEqual({ result: 'fails', why: 'missing', eventId: all[at]?.id });
    }
    const own = await shown(`&user_id=${who.user_id}`);
    const finding = await checkPage(bot.id, own.toSpliced(1, 1), { user_id: who.user_id }, log());
    expect(finding).toMatchObject({ result: 'fails', why: 'missing' });
  });

  it('fails for a log that is changed on its way, cut, or of another bot', async () => {
    const all = await shown();
    const changed = log((line) => line.replace('"data_submitted"', '"data_exported"'));
    expect(await checkPage(bot.id, all, {}, changed)).toMatchObject({ result: 'fails', why: 'signature' });
    const cut = log((line) => (line.includes('"type":"batch"') ? '' : line));
    expect((await checkPage(bot.id, all, {}, cut)).result).toBe('fails');
    expect(await checkPage('another', all, {}, log())).toMatchObject({ result: 'fails', why: 'unknown' });
    const foreign = { keys: keys.keys.map((key) => ({ ...key, x: 'A'.repeat(43) })) };
    const finding = await checkPage(bot.id, all, {}, { ...log(), keys: () => Promise.resolve(foreign) });
    expect(finding).toMatchObject({ result: 'fails', why: 'signature' });
  });
});

describe('the check of one event', () => {
  it('holds of its proof, and of no other event, bot, key or signature', async () => {
    const [event, other] = await shown(`&user_id=${who.user_id}`);
    const proof = await log().proof(event!.id);
    const { sealed_at: sealedAt } = payloadOf(proof.checkpoint);
    expect(await checkEvent(bot.id, event!, proof, keys)).toEqual({ result: 'holds', count: 1, sealedAt });
    expect(await checkEvent(bot.id, other!, proof, keys)).toMatchObject({ why: 'unknown' });
    expect(await checkEvent('another', event!, proof, keys)).toMatchObject({ why: 'unknown' });
    expect(await checkEvent(bot.id, { ...event!, details: {} }, proof, keys)).toMatchObject({
      why: 'differs',
    });
    const checkpoint = await service.app.get(Signer).sign(payloadOf(proof.checkpoint), 'lethe-other+jwt');
    expect(await checkEvent(bot.id, event!, { ...proof, checkpoint }, keys)).toMatchObject({
      why: 'signature',
    });
  });
});
