import { ERASED_ID, ERASED_IDS } from '@app/crypto';
import { ErasureService } from '@app/gdpr';
import type { Bot } from '../support/bot';
import { expectFailure } from '../support/expected';
import { forgetInMemory } from '../support/opened-keys';
import { get } from '../support/privacy-page';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess();
const PLANTED = '["planted","planted","planted"]';
const NO_URL = 'http://127.0.0.1:8088/closed';
let bot: Bot;
let who: SubjectIds;

beforeEach(async () => {
  bot = await service.registerBot({ webhook_url: NO_URL });
  who = subject();
});

/** Writes a text that is not encrypted into a column of the bot, or of one row, as somebody could who has the data and no key. */
function plant(table: string, column: string, id?: string): Promise<void> {
  const ofRow = id === undefined ? '' : ' AND id = ?';
  const values = [PLANTED, bot.id, ...(id === undefined ? [] : [id])];
  return service.database.run(`UPDATE ${table} SET ${column} = ? WHERE bot_id = ?${ofRow}`, ...values);
}

const logged = (words: string): boolean => service.logLines.some((line) => line.includes(words));

describe('a stored text that is not encrypted', () => {
  it('as the name of a guild is logged and hides no other guild, and a registration mends it', async () => {
    const [damaged, whole] = [who.guild_id, subject().guild_id];
    const register = (guild_id: string, name?: string) => bot.post('/servers/register', { guild_id, name });
    const { id } = (await register(damaged, 'Guild')).data as { id: string };
    const other = (await register(whole, 'Other')).data;
    await plant('servers', 'text', id);
    const listed = await bot.get<{ servers: object[] }>('/servers');
    expect(listed.data.servers).toEqual([
      expect.objectContaining({ id, guild_id: ERASED_ID, name: null, unreadable: true }),
      other,
    ]);
    expect(listed.text).not.toContain('planted');
    expect(logged(`The id and name of the server ${id} cannot be decrypted`)).toBe(true);

    await bot.hasConsent(who);
    const { url } = (await bot.post('/privacy-links', who)).data as { url: string };
    expect((await get(url)).status).toBe(200);

    await bot.delete(`/servers/${damaged}?grace_days=7`);
    const cancelled = await bot.post(`/servers/${damaged}/cancel-deletion`, {});
    expect(cancelled.data).toMatchObject({ id, guild_id: damaged, name: null, unreadable: true });
    const { unreadable, ...mended } = (await register(damaged)).data;
    expect([unreadable, mended]).toEqual([undefined, expect.objectContaining({ id, guild_id: damaged })]);
    expect((await bot.get('/servers')).data).toMatchObject({ servers: [mended, other] });
  });

  it('as the ids of an erased user is logged and hides no other user: the ids are zeros', async () => {
    const holder = { key: 'database', kind: 'pull', label_de: 'x', label_en: 'x', covers: ['x'] };
    await bot.post('/holders', holder);
    const other = subject();
    for (const one of [who, other]) await bot.hasConsent(one);
    const [id, whole] = [await bot.hasForgotten(who), await bot.hasForgotten(other)];
    await plant('deletion_requests', 'subject', id);
    const status = await bot.get(`/gdpr/forget-status/${id}`);
    expect(status.data).toMatchObject({ request_id: id, status: 'completed', ...ERASED_IDS });
    expect(status.text).not.toContain('planted');
    expect(logged(`The ids of the erasure request ${id} cannot be decrypted`)).toBe(true);
    expectFailure(await bot.get(`/gdpr/forget-status/${id}/certificate`), 409, 'conflict');
    const { tasks } = (await bot.get<{ tasks: { task_id: string }[] }>('/holders/database/tasks')).data;
    expect(tasks).toMatchObject([
      { task_id: id, ...ERASED_IDS },
      { task_id: whole, ...other },
    ]);
  });

  it('as the ids of a user whose erasure was left holds up neither this erasure nor another', async () => {
    const other = subject();
    for (const one of [who, other]) await bot.hasConsent(one);
    const ids = [await bot.hasForgotten(who), await bot.hasForgotten(other)];
    await service.database.run(
      `UPDATE deletion_requests SET status = 'processing', completed_at = NULL WHERE bot_id = ?`,
      bot.id,
    );
    await plant('deletion_requests', 'subject', ids[0]);
    await service.app.get(ErasureService, { strict: false }).finishLeft();
    for (const id of ids)
      expect((await bot.get(`/gdpr/forget-status/${id}`)).data).toMatchObject({ status: 'completed' });
  });

  it.each([null, 'of a user'])('is not shown as the body of a webhook call: %s', async (of) => {
    if (of === null) await bot.post('/webhooks/test', {});
    else {
      await bot.hasConsent(who);
      await bot.post('/consents/revoke', who);
    }
    const listed = await bot.get<{ deliveries: { id: string }[] }>('/webhooks/deliveries');
    await plant('webhook_deliveries', 'payload');
    const paths = ['', ...listed.data.deliveries.map(({ id }) => `/${id}`)];
    expect(paths).toHaveLength(2);
    for (const path of paths)
      expect((await bot.get(`/webhooks/deliveries${path}`)).text).not.toContain('planted');
  });
});

describe('an export', () => {
  it('fails and names the categories where a value has another key than the user, or the key is lost', async () => {
    for (const key of ['colour', 'profile', 'size']) await bot.hasCategory(key);
    const other = subject();
    for (const one of [who, other]) {
      await bot.hasConsent(one);
      for (const key of ['colour', 'profile', 'size']) await bot.hasData(one, key, { value: key });
    }
    const [mine, theirs] = [service.stored(bot, who), service.stored(bot, other)];
    await service.database.run(
      `UPDATE user_data SET value = (SELECT value FROM user_data other WHERE other.bot_id = user_data.bot_id
         AND other.user_id = ? AND other.category_key = user_data.category_key)
       WHERE bot_id = ? AND user_id = ? AND category_key <> 'profile'`,
      ...[theirs.user_id, bot.id, mine.user_id],
    );
    const exports = () => [bot.export(who), bot.get(`/data/export/${who.user_id}?scope=all_guilds`)];
    for (const refused of await Promise.all(exports()))
      expectFailure(refused, 500, 'internal_error', { categories: ['colour', 'size'] });
    const merged = { ...who, category: 'size', data: { value: 'y' }, mode: 'merge' };
    expectFailure(await bot.post('/data/submit', merged), 500, 'internal_error');

    const [held] = await service.database.rows<{ key_id: string }>(
      'SELECT key_id FROM subjects WHERE bot_id = ? AND user_id = ?',
      ...[bot.id, mine.user_id],
    );
    await service.database.run('DELETE FROM keys.subject_keys WHERE id = ?', held?.key_id ?? '');
    forgetInMemory(service, held?.key_id ?? '');
    for (const refused of await Promise.all(exports()))
      expectFailure(refused, 500, 'internal_error', { categories: ['colour', 'profile', 'size'] });
    for (const key of ['colour', 'profile', 'size']) await bot.hasData(who, key, { value: 'anew' });
    expect((await bot.export(who)).status).toBe(200);
  });
});
