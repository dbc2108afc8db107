import type { Bot } from '../support/bot';
import { expectFailure } from '../support/expected';
import { forgetInMemory } from '../support/opened-keys';
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

/** Writes a text that is not encrypted into a column of the bot, as somebody could who has the data and no key. */
function plant(table: string, column: string): Promise<void> {
  return service.database.run(`UPDATE ${table} SET ${column} = ? WHERE bot_id = ?`, PLANTED, bot.id);
}

describe('a stored text that is not encrypted', () => {
  it('is refused as the name of a guild', async () => {
    await bot.post('/servers/register', { guild_id: who.guild_id, name: 'Guild' });
    await plant('servers', 'text');
    const listed = await bot.get('/servers');
    expectFailure(listed, 500, 'internal_error');
    expect(listed.text).not.toContain('planted');
  });

  it('is refused as the ids of an erased user', async () => {
    await bot.hasConsent(who);
    const id = await bot.hasForgotten(who);
    await plant('deletion_requests', 'subject');
    for (const path of [`/gdpr/forget-status/${id}`, `/gdpr/forget-status/${id}/certificate`]) {
      const refused = await bot.get(path);
      expectFailure(refused, 500, 'internal_error');
      expect(refused.text).not.toContain('planted');
    }
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
