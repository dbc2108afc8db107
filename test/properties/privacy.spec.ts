import { readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SqliteDatabase } from '@app/database';
import { useMarked } from '../support/marked';
import { useReceiver } from '../support/receiver';
import { Service, useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';
import { filesWith, type Traces, tracesOf } from '../support/traces';

const service = useServiceInProcess();
const receiver = useReceiver();
const marked = useMarked(service);

/** The files of the database that hold any of the needles. */
const holding = (...needles: readonly (Buffer | string)[]): string[] =>
  filesWith(service.directory, needles).map((path) => basename(path));

/** The present rows of the subject. */
const traces = (): Promise<Traces> => tracesOf(service, marked.bot.id, marked.who);

describe('the files of the database', () => {
  it('hold the marker where it is nothing about a user, which shows that it would be found', async () => {
    await marked.bot.put(`/bots/${marked.bot.id}`, { name: marked.marker });
    expect(holding(marked.marker)).not.toStrictEqual([]);
  });

  it('hold values and details in no plain text, neither before an erasure nor after it', async () => {
    await marked.stores(marked.who);
    expect(holding(marked.marker)).toStrictEqual([]);
    await marked.bot.hasForgotten(marked.who);
    expect(holding(marked.marker)).toStrictEqual([]);
  });

  it('and the log hold no key in any spelling, neither before an erasure nor after it', async () => {
    await marked.stores(marked.who);
    const { key } = await traces();
    expect(key).toHaveLength(16);
    expect(holding(...key)).toStrictEqual([]);
    await marked.bot.hasForgotten(marked.who);
    expect(holding(...key)).toStrictEqual([]);
    const log = Buffer.from(service.logLines.join('\n'));
    expect(key.filter((spelling) => log.includes(spelling))).toStrictEqual([]);
  });

  it('hold no key, not even encrypted, when forget-user is answered', async () => {
    await marked.stores(marked.who);
    const { wrapped } = await traces();
    expect(holding(...wrapped)).toStrictEqual(['keys.db-wal']);
    await marked.bot.hasForgotten(marked.who);
    expect(holding(...wrapped)).toStrictEqual([]);
    await expect(traces()).rejects.toThrow('no key');
  });

  it('hold no key after the server was deleted', async () => {
    await marked.bot.post('/servers/register', { guild_id: marked.who.guild_id, name: marked.marker });
    await marked.stores(marked.who);
    const { wrapped } = await traces();
    await marked.bot.delete(`/servers/${marked.who.guild_id}`);
    expect(holding(marked.marker, ...wrapped)).toStrictEqual([]);
  });

  it('hold no key of a bot that was deleted', async () => {
    await marked.stores(marked.who);
    const { wrapped } = await traces();
    expect(holding(...wrapped)).not.toStrictEqual([]);
    await marked.bot.delete(`/bots/${marked.bot.id}`);
    expect(holding(...wrapped)).toStrictEqual([]);
  });

  it('hold no key while others go on storing', async () => {
    const other = subject();
    await marked.bot.hasConsent(other);
    await marked.stores(marked.who);
    const { wrapped } = await traces();
    const [forgotten] = await Promise.all([
      marked.bot.hasForgotten(marked.who),
      ...Array.from({ length: 20 }, () => marked.bot.hasData(other, 'profile', { value: 'x'.repeat(1000) })),
    ]);
    expect(forgotten).toMatch(/-/);
    expect(holding(marked.marker, ...wrapped)).toStrictEqual([]);
  });

  it('hold no id of a user or guild, neither before an erasure nor after it, though the bot is sent the ids', async () => {
    receiver.status = 500;
    const { bot, who } = marked;
    const ids = [who.user_id, who.guild_id];
    await bot.put(`/bots/${bot.id}`, { webhook_url: receiver.url });
    await bot.post('/servers/register', { guild_id: who.guild_id, name: 'A guild' });
    await marked.stores(who);
    await bot.hasRevoked(who);
    const [revoked] = await receiver.received(1);
    expect(revoked?.body).toMatchObject(who);
    const stored = Object.values(service.stored(bot, who));
    for (const digest of stored) expect(holding(digest)).not.toStrictEqual([]);
    expect(holding(...ids)).toStrictEqual([]);
    await bot.hasForgotten(who);
    const calls = await receiver.received(2);
    expect(calls.at(-1)?.body).toMatchObject(who);
    expect(holding(...ids)).toStrictEqual([]);
  });

  describe('once the write-ahead log is folded, as after every end of the service,', () => {
    const folded = (): Promise<void> => service.restart();

    it('hold no text of an erased subject but the details of events', async () => {
      await marked.stores(marked.who);
      const all: Buffer[] = [];
      for (let turn = 0; turn < 5; turn++) {
        // A value that fills many pages.
        await marked.bot.hasData(marked.who, 'profile', { value: `${marked.marker} `.repeat(1500) });
        all.push(...(await traces()).sealed);
      }
      expect(holding(...all)).toContain('lethe.db-wal');
      await marked.bot.hasForgotten(marked.who);
      await folded();
      expect(holding(marked.marker, ...all)).toStrictEqual([]);
    });

    it('hold no text of a subject whose server was deleted', async () => {
      await marked.bot.post('/servers/register', { guild_id: marked.who.guild_id, name: marked.marker });
      await marked.stores(marked.who);
      const { sealed } = await traces();
      await marked.bot.delete(`/servers/${marked.who.guild_id}`);
      await folded();
      expect(holding(marked.marker, ...sealed)).toStrictEqual([]);
    });

    it('hold no value of a category that was deleted', async () => {
      await marked.bot.hasConsent(marked.who);
      await marked.bot.hasData(marked.who, 'profile', { value: marked.marker.repeat(20) });
      const [{ value }] = (await service.database.rows<{ value: string }>(
        'SELECT value FROM user_data WHERE bot_id = ?',
        marked.bot.id,
      )) as [{ value: string }];
      expect(holding(value.slice(-40))).not.toStrictEqual([]);
      await marked.bot.delete('/data/categories/profile');
      await folded();
      expect(holding(value.slice(-40))).toStrictEqual([]);
    });

    it('hold nothing of a bot that was deleted', async () => {
      await marked.bot.put(`/bots/${marked.bot.id}`, { name: marked.marker });
      await marked.stores(marked.who);
      const { sealed, details } = await traces();
      expect(holding(...details)).not.toStrictEqual([]);
      await marked.bot.delete(`/bots/${marked.bot.id}`);
      await folded();
      expect(holding(marked.marker, ...sealed, ...details)).toStrictEqual([]);
    });
  });

  it('are readable by their owner alone', () => {
    const names = readdirSync(service.directory).filter((name) => /^(lethe|keys)\.db/.test(name));
    const open = names.filter((name) => (statSync(join(service.directory, name)).mode & 0o077) !== 0);
    expect(names).toEqual(expect.arrayContaining(['lethe.db', 'lethe.db-wal', 'keys.db', 'keys.db-wal']));
    expect(open).toStrictEqual([]);
  });
});

describe('a backup of the data from before an erasure, put back beside the present keys', () => {
  it('brings nothing readable back', async () => {
    const restored = await new Service().start();
    await marked.begin(restored);
    const { bot, who, marker } = marked;
    await marked.stores(who);
    const other = subject();
    await bot.hasConsent(other);
    await bot.hasData(other, 'profile', { value: 'of another' });
    const backup = join(restored.directory, 'backup');
    const source = new SqliteDatabase(restored.databasePath, { readonly: true });
    source.prepare('VACUUM INTO ?').run(backup);
    source.close();

    await bot.hasForgotten(who);
    await restored.app.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(restored.databasePath + suffix, { force: true });
    new SqliteDatabase(backup).prepare('VACUUM INTO ?').run(restored.databasePath);
    await restored.start();

    const found = await bot.export<{ data: object }>(who, '&format=full');
    expect(found.text).not.toContain(marker);
    if (found.status === 200) expect(found.data.data).toStrictEqual({});
    const { events } = (
      await bot.get<{ events: { details: unknown }[] }>(`/audit/events?user_id=${who.user_id}&page_size=100`)
    ).data;
    expect(events.length).toBeGreaterThan(3);
    expect(JSON.stringify(events)).not.toContain(marker);
    expect((await bot.export<{ data: object }>(other)).data.data).toStrictEqual({
      profile: { value: 'of another' },
    });
    await restored.stop();
  });
});
