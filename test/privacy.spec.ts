import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { useMarked } from './support/marked';
import { useService } from './support/service';
import { subject } from './support/snowflakes';

const service = useService();
const marked = useMarked(service);

/** The files of the database, by suffix, that still hold the marker. */
function filesWithMarker(): string[] {
  return readdirSync(service.directory).filter((name) =>
    readFileSync(join(service.directory, name)).includes(marked.marker),
  );
}

describe('the files of the database', () => {
  it('hold the marker before, which shows that it would be found', async () => {
    await marked.stores(marked.who);
    expect(filesWithMarker().length).toBeGreaterThan(0);
  });

  it('hold nothing of data and details when forget-user is answered, the write-ahead log included', async () => {
    await marked.stores(marked.who);
    await marked.bot.hasForgotten(marked.who);
    expect(filesWithMarker()).toStrictEqual([]);
  });

  it('hold nothing of a large value that filled many pages', async () => {
    await marked.bot.hasConsent(marked.who);
    for (let turn = 0; turn < 20; turn++)
      await marked.bot.hasData(marked.who, 'profile', { value: `${marked.marker} `.repeat(1500) });
    await marked.bot.hasForgotten(marked.who);
    expect(filesWithMarker()).toStrictEqual([]);
  });

  it('hold nothing after the server was deleted', async () => {
    await marked.bot.post('/servers/register', { guild_id: marked.who.guild_id, name: marked.marker });
    await marked.stores(marked.who);
    await marked.bot.delete(`/servers/${marked.who.guild_id}`);
    expect(filesWithMarker()).toStrictEqual([]);
  });

  it('hold nothing of a category that was deleted', async () => {
    await marked.bot.hasConsent(marked.who);
    await marked.bot.hasData(marked.who, 'profile', { value: marked.marker });
    await marked.bot.delete('/data/categories/profile');
    expect(filesWithMarker()).toStrictEqual([]);
  });

  it('hold nothing of a bot that was deleted', async () => {
    await marked.bot.put(`/bots/${marked.bot.id}`, { name: marked.marker });
    await marked.stores(marked.who);
    await marked.bot.delete(`/bots/${marked.bot.id}`);
    expect(filesWithMarker()).toStrictEqual([]);
  });

  it('hold nothing while others go on storing', async () => {
    const other = subject();
    await marked.bot.hasConsent(other);
    await marked.stores(marked.who);
    const [forgotten] = await Promise.all([
      marked.bot.hasForgotten(marked.who),
      ...Array.from({ length: 20 }, () => marked.bot.hasData(other, 'profile', { value: 'x'.repeat(1000) })),
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
