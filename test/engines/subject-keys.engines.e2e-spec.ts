import { HeldSubjects, Keyring, SubjectDigests, SubjectKeys } from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import type { Bot } from '../support/bot';
import { get } from '../support/privacy-page';
import { useServiceInProcess } from '../support/service';
import { BOT_WIDE, snowflake, subject } from '../support/snowflakes';
import { SqlLog } from '../support/sql-log';
import { readsAndTurns } from '../support/turns';

const service = useServiceInProcess();
const unitOfWork = (): UnitOfWork => service.app.get(UnitOfWork);
afterEach(() => jest.restoreAllMocks());

/** Rows of a user in guilds that no request has named, so that their keys count as lost. */
async function isHeldIn(bot: Bot, userId: string, count: number): Promise<string[]> {
  const guilds = Array.from({ length: count }, (_, n) => `guild${String(n).padStart(6, '0')}`);
  const { user_id: user } = service.stored(bot, { user_id: userId, guild_id: BOT_WIDE });
  await unitOfWork().write(async (tx) => {
    for (const guild of guilds)
      await tx.run(
        'INSERT INTO subjects (bot_id, guild_id, user_id, key_id) VALUES (?, ?, ?, ?)',
        ...[bot.id, guild, user, `${bot.id.slice(-12)}${guild}`],
      );
  });
  return guilds;
}

describe('a user in many guilds', () => {
  it('has a page that reads some of them, and finds the one that a form names among all', async () => {
    const bot = await service.registerBot();
    const [userId, guild_id] = [snowflake(), '9'.repeat(18)];
    await bot.hasConsent({ user_id: userId, guild_id });
    const lost = await isHeldIn(bot, userId, 500);
    const { url } = (
      await bot.post<{ url: string }>('/privacy-links', { user_id: userId, scope: 'all_guilds' })
    ).data;
    const log = new SqlLog().open();
    expect((await get(url)).text).toContain('There are still more servers');
    log.close();
    expect(log.runsOf(/^SELECT guild_id, key_id, sealed/)).toBe(1);
    const held = service.app.get(HeldSubjects);
    expect(await held.inGuildNamed(bot.id, userId, guild_id)).toMatchObject({ ids: { guild_id } });
    expect(await held.inGuildNamed(bot.id, userId, lost[499]!)).toMatchObject({ guildId: lost[499] });
    const { guild_id: digest } = service.stored(bot, { user_id: userId, guild_id });
    for (const other of [digest, snowflake(), ''])
      expect(await held.inGuildNamed(bot.id, userId, other)).toBeUndefined();
  });

  it('is listed with all of them, in reads between which other work runs', async () => {
    const bot = await service.registerBot();
    const userId = snowflake();
    await bot.hasConsent({ user_id: userId, guild_id: '1'.repeat(18) });
    const { guild_id: named } = service.stored(bot, { user_id: userId, guild_id: '1'.repeat(18) });
    const guilds = await isHeldIn(bot, userId, 500);
    const { answer: subjects, found } = await readsAndTurns(unitOfWork(), () =>
      service.app.get(HeldSubjects).inAllGuilds(bot.id, userId),
    );
    expect(subjects.map(({ guildId }) => guildId).sort()).toStrictEqual([...guilds, named].sort());
    expect(new Set(subjects.map(({ ids }) => ids.user_id))).toStrictEqual(new Set([userId]));
    expect(subjects.at(-1)?.ids.guild_id).toBe('1'.repeat(18));
    expect(found).toStrictEqual(['read', 'turn', 'read', 'turn', 'read', 'turn']);
  });
});

describe('the keys of some subjects of a bot', () => {
  it('are destroyed by as many statements as one key, and those of other bots are kept', async () => {
    const [bot, other] = [await service.registerBot(), await service.registerBot()];
    const destroys = async (): Promise<readonly number[]> =>
      unitOfWork().write(async (tx: Tx) => {
        const statements = [jest.spyOn(tx, 'all'), jest.spyOn(tx, 'get'), jest.spyOn(tx, 'run')];
        const destroyed = await service.app.get(SubjectKeys, { strict: false }).destroySome(tx, bot.id);
        return [destroyed, statements.reduce((sum, { mock }) => sum + mock.calls.length, 0)];
      });
    const who = subject();
    await other.hasConsent(who);
    for (const count of [1, 5]) {
      for (let n = 0; n < count; n++) await bot.hasConsent(subject());
      expect(await destroys()).toStrictEqual([count, 2]);
    }
    const left = await service.database.rows<{ bot_id: string; id: string | null }>(
      `SELECT bot_id, stored.id FROM subjects LEFT JOIN keys.subject_keys stored ON stored.id = key_id
       WHERE bot_id IN (?, ?)`,
      ...[bot.id, other.id],
    );
    expect(left).toStrictEqual([{ bot_id: other.id, id: expect.any(String) as unknown }]);
    expect(await other.eventTypes(who)).toContain('consent_accepted');
  });
});

describe('a key that is decrypted', () => {
  const keys = () => service.app.get(SubjectKeys, { strict: false });

  it('is not cached when its subject is erased between its reading and its decryption', async () => {
    const bot = await service.registerBot();
    const who = subject();
    await bot.hasConsent(who);
    const given = service.app.get(SubjectDigests, { strict: false }).named(bot.id, who);
    const { id } = (await keys().find(given))!;
    const get = unitOfWork().get.bind(unitOfWork());
    jest.spyOn(unitOfWork(), 'get').mockImplementationOnce(async <Row>(...query: Parameters<typeof get>) => {
      const found = await get<Row>(...query);
      await bot.hasForgotten(who);
      return found;
    });
    expect((await keys().find(given))?.id).toBe(id);
    expect(keys()['opened'].get(id)).toBeUndefined();
  });

  it('leaves no bytes of the stored text, also where it is one of another subject', async () => {
    const [one, other] = [subject(), subject()];
    const bot = await service.registerBot();
    await bot.hasConsent(one);
    const named = (who: typeof one) => service.app.get(SubjectDigests, { strict: false }).named(bot.id, who);
    const { id } = (await keys().find(named(one)))!;
    const [stored] = await service.database.rows<{ id: string; sealed: string }>(
      'SELECT id, sealed FROM keys.subject_keys WHERE id = ?',
      id,
    );
    keys()['opened'].drop(id);
    const open = jest.spyOn(service.app.get(Keyring), 'open');
    expect(() => keys().open(named(other), stored!)).toThrow();
    expect(keys().open(named(one), stored!).ids).toStrictEqual(one);
    const plain = open.mock.results.map(({ value }) => (value as Buffer).toString('hex'));
    expect(plain).toStrictEqual(['00'.repeat(72), '00'.repeat(72)]);
  });
});
