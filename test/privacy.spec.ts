import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Bot, field } from './support/bot';
import { useService } from './support/service';
import { subject, type SubjectIds } from './support/snowflakes';

const service = useService();
let bot: Bot;
let who: SubjectIds;
let marker: string;
let count = 0;
beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
  count += 1;
  marker = `marker-${count}-of-the-erased`;
  await bot.hasCategory('profile', [field('value'), field('extra', 'json')]);
});

/** The files of the database, by suffix, that still hold the marker. */
function filesWithMarker(): string[] {
  return readdirSync(service.directory).filter((name) =>
    readFileSync(join(service.directory, name)).includes(marker),
  );
}

async function stores(one: SubjectIds): Promise<void> {
  await bot.hasConsent(one);
  await bot.hasData(one, 'profile', { value: marker, extra: { deep: [marker] } });
  await bot.post('/audit/event', { ...one, event_type: 'data_exported', details: { text: marker } });
  await bot.hasData(one, 'profile', { value: `${marker} again` });
}

describe('the files of the database', () => {
  it('hold the marker before, which shows that it would be found', async () => {
    await stores(who);
    expect(filesWithMarker().length).toBeGreaterThan(0);
  });

  it('hold nothing of data and details when forget-user is answered, the write-ahead log included', async () => {
    await stores(who);
    await bot.hasForgotten(who);
    expect(filesWithMarker()).toStrictEqual([]);
  });

  it('hold nothing of a large value that filled many pages', async () => {
    await bot.hasConsent(who);
    for (let turn = 0; turn < 20; turn++)
      await bot.hasData(who, 'profile', { value: `${marker} `.repeat(1500) });
    await bot.hasForgotten(who);
    expect(filesWithMarker()).toStrictEqual([]);
  });

  it('hold nothing after the server was deleted', async () => {
    await bot.post('/servers/register', { guild_id: who.guild_id, name: marker });
    await stores(who);
    await bot.delete(`/servers/${who.guild_id}`);
    expect(filesWithMarker()).toStrictEqual([]);
  });

  it('hold nothing of a category that was deleted', async () => {
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: marker });
    await bot.delete('/data/categories/profile');
    expect(filesWithMarker()).toStrictEqual([]);
  });

  it('hold nothing of a bot that was deleted', async () => {
    await bot.put(`/bots/${bot.id}`, { name: marker });
    await stores(who);
    await bot.delete(`/bots/${bot.id}`);
    expect(filesWithMarker()).toStrictEqual([]);
  });

  it('hold nothing while others go on storing', async () => {
    const other = subject();
    await bot.hasConsent(other);
    await stores(who);
    const [forgotten] = await Promise.all([
      bot.hasForgotten(who),
      ...Array.from({ length: 20 }, () => bot.hasData(other, 'profile', { value: 'x'.repeat(1000) })),
    ]);
    expect(forgotten).toMatch(/-/);
    expect(filesWithMarker()).toStrictEqual([]);
  });

  it('are readable by their owner alone', () => {
    const names = readdirSync(service.directory).filter((name) => name.startsWith('lethe.db'));
    const open = names.filter((name) => (statSync(join(service.directory, name)).mode & 0o077) !== 0);
    expect(names.length).toBeGreaterThan(1);
    expect(open).toStrictEqual([]);
  });
});
