import { CategoriesService } from '@app/categories';
import { SubjectDigests } from '@app/crypto';
import { ExportService } from '@app/gdpr';
import { AnswerStream, JOB, type LetheHttpAdapter } from '@app/http';
import { Clock } from '@app/kernel';
import type { Bot } from '../support/bot';
import { engine } from '../support/database';
import { expectFailure } from '../support/expected';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { passes } from '../support/time';
import { until } from '../support/until';

const service = useServiceInProcess({ STREAMS_PER_BOT: '1' });
const HOUR_MS = 3_600_000;
const PORTION_LENGTH = 256 * 1024;

/**
 * What a bot has stored of a user fills several portions. Answers the export, and a function that erases the user, who consents
 * anew.
 */
async function streamed(): Promise<{ export: AnswerStream; erase: () => Promise<void> }> {
  const { bot, who } = await large();
  const held = service.app.get(SubjectDigests, { strict: false }).named(bot.id, who);
  const answer = await service.app.get(ExportService, { strict: false }).export(held, true, JOB);
  if (!(answer instanceof AnswerStream)) throw new Error('it is not streamed');
  const erase = async (): Promise<void> => {
    await bot.hasForgotten(who);
    await bot.hasConsent(who);
    // SQLite: the reads of one turn share a snapshot.
    await new Promise(setImmediate);
  };
  return { export: answer, erase };
}

async function large(): Promise<{ bot: Bot; who: SubjectIds }> {
  const bot = await service.registerBot();
  const who = subject();
  await bot.hasConsent(who);
  await bot.hasForgotten(who);
  await bot.hasConsent(who);
  const event = { ...who, event_type: 'data_submitted', details: { text: 'x'.repeat(8_000) } };
  await Promise.all(Array.from({ length: 100 }, () => bot.post('/audit/event', event)));
  return { bot, who };
}

const slots = () => (service.app.getHttpAdapter() as unknown as LetheHttpAdapter).slots;

/** Sends a request while the only place of its bot is taken. Answers when it waits, with a function that frees the place. */
async function waitsForItsPlace<T>(
  bot: Bot,
  send: () => Promise<T>,
): Promise<{ answer: Promise<T>; free: () => void }> {
  const other = { caller: bot.id, cut: () => undefined };
  await slots().take(other);
  const isTaking = jest.spyOn(slots(), 'take');
  const answer = send();
  await until(() => isTaking.mock.calls.length > 0);
  return { answer, free: () => slots().free(other) };
}

/** The list of all events would need the place itself. */
const exportsOf = async (bot: Bot, { user_id, guild_id }: SubjectIds): Promise<number> => {
  const query = `user_id=${user_id}&guild_id=${guild_id}&event_type=data_exported`;
  return (await bot.get<{ events: object[] }>(`/audit/events?${query}`)).data.events.length;
};

const WAIT_MS = 3_600_000;
beforeEach(() => (slots().waitMs = WAIT_MS));
afterEach(() => jest.restoreAllMocks());

describe('an export that is being streamed', () => {
  it('ends when an erasure has passed meanwhile, also when something is held again', async () => {
    const { export: answer, erase } = await streamed();
    let pieces = 0;
    const streaming = answer.writeTo(async () => {
      if (++pieces !== 10) return;
      passes(service, HOUR_MS, 'monotonicMs');
      await erase();
    });
    await expect(streaming).rejects.toMatchObject({ code: 'not_found' });
    expect(pieces).toBe(10);
  });

  it('sends nothing that was read after an erasure, however quickly this passed', async () => {
    const { export: answer, erase } = await streamed();
    jest.spyOn(service.app.get(Clock), 'monotonicMs').mockReturnValue(HOUR_MS);
    let length = 0;
    const streaming = answer.writeTo(async (piece) => {
      if (length === 0) await erase();
      length += piece.length;
    });
    await expect(streaming).rejects.toMatchObject({ code: 'not_found' });
    // The first portion was read before.
    expect(length).toBeLessThan(2 * PORTION_LENGTH);
  });
});

it('a full export leaves out a category that is deleted amid it, and is answered', async () => {
  const [bot, who] = [await service.registerBot(), subject()];
  await bot.hasConsent(who);
  for (const key of ['kept', 'lost']) {
    await bot.hasCategory(key);
    await bot.hasData(who, key, { value: 'x' });
  }
  const categories = service.app.get(CategoriesService, { strict: false });
  const find = categories.find.bind(categories);
  const found = jest.spyOn(categories, 'find');
  let isAsked = false;
  found.mockImplementation(async (tx, id, key) => {
    // On SQLite the deletion waits for the unit of the export.
    if (key === 'lost' && engine === 'sqlite') return null;
    // The deletion asks for it too.
    if (key === 'lost' && !isAsked) {
      isAsked = true;
      expect((await bot.delete('/data/categories/lost')).status).toBe(200);
    }
    return find(tx, id, key);
  });
  const { categories: told } = (await bot.export<{ categories: { key: string }[] }>(who, '&format=full'))
    .data;
  expect(told.map(({ key }) => key)).toEqual(['kept']);
});

describe.each([
  ['one guild', (bot: Bot, who: SubjectIds) => bot.export(who, '&format=full')],
  [
    'all guilds',
    (bot: Bot, who: SubjectIds) => bot.get(`/data/export/${who.user_id}?scope=all_guilds&format=full`),
  ],
])('an export of %s that waits for its place', (_, send) => {
  it('answers 404 and is not recorded when its user was erased meanwhile, without an error in the log', async () => {
    const { bot, who } = await large();
    const { answer, free } = await waitsForItsPlace(bot, () => send(bot, who));
    await bot.hasForgotten(who);
    service.logLines.length = 0;
    free();
    expectFailure(await answer, 404, 'not_found');
    expect(await exportsOf(bot, who)).toBe(0);
    expect(
      service.logLines.filter((line) => (JSON.parse(line) as { level: number }).level >= 50),
    ).toStrictEqual([]);
  });

  it('is not recorded when it is refused for want of a place', async () => {
    const { bot, who } = await large();
    slots().waitMs = 0;
    const { answer, free } = await waitsForItsPlace(bot, () => send(bot, who));
    expectFailure(await answer, 503, 'service_unavailable');
    free();
    expect(await exportsOf(bot, who)).toBe(0);
  });

  it('is recorded once when it gets its place', async () => {
    const { bot, who } = await large();
    const { answer, free } = await waitsForItsPlace(bot, () => send(bot, who));
    expect(await exportsOf(bot, who)).toBe(0);
    free();
    expect((await answer).status).toBe(200);
    expect(await exportsOf(bot, who)).toBe(1);
  });
});
