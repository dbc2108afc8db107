import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteDatabase as Database } from '@app/database';
import { Lethe } from '@lethe/sdk';
import { holders, runHolder } from '@lethe/sdk/holders';
import { forms, get, send } from '../support/privacy-page';
import { useService } from '../support/shared-service';
import { subject } from '../support/snowflakes';

// The holder of the SDK with a database file of the bot, and the service: from a copy that asks to the copy that has the answer.

const service = useService();
const place = mkdtempSync(join(tmpdir(), 'lethe-export-life-'));
afterAll(() => rmSync(place, { recursive: true }));

interface Full {
  readonly bot: { readonly name: string };
  readonly holders: readonly object[];
}

it('a signed answer of runHolder is in the next full export and in both copies of the privacy page, under the name of the bot', async () => {
  const bot = await service.registerBot({ name: 'Quizmaster' });
  const who = subject();
  await bot.hasConsent(who);
  const database = new Database(join(place, 'bot.db'));
  database.exec('CREATE TABLE messages (author_id TEXT, guild_id TEXT, text TEXT, token TEXT)');
  const insert = database.prepare('INSERT INTO messages VALUES (?, ?, ?, ?)');
  insert.run(who.user_id, who.guild_id, 'said by the user', 'secret of the bot');
  insert.run(subject().user_id, who.guild_id, 'said by someone else', null);

  const errors: unknown[] = [];
  const lethe = new Lethe({ url: service.url, key: bot.key });
  const loop = runHolder(lethe, {
    ...{ key: 'database', label_de: 'Datenbank des Bots', label_en: 'Database of the bot' },
    stores: holders.sql(database, {
      ...{ table: 'messages', user: 'author_id', guild: 'guild_id', without: ['token'] },
    }),
    privateKey: generateKeyPairSync('ed25519').privateKey,
    timers: { set: () => undefined, clear: () => undefined },
    onError: (error) => errors.push(error),
  });
  await loop.once();
  expect((await lethe.holders.get('database')).public_key).toMatch(/^[\w-]{43}$/);

  const full = async (): Promise<Full> => (await bot.export<Full>(who, '&format=full')).data;
  const named = { key: 'database', label_en: 'Database of the bot', covers: ['messages'] };
  expect(await full()).toMatchObject({ holders: [{ ...named, state: 'asked', data: null }] });
  expect(await loop.once()).toMatchObject({ answered: 1, failed: 0 });
  const messages = [{ author_id: who.user_id, guild_id: who.guild_id, text: 'said by the user' }];
  const stated = [{ ...named, state: 'stated', data: { messages } }];
  expect(await full()).toMatchObject({ bot: { name: 'Quizmaster' }, holders: stated });

  const { url } = await lethe.privacy.link({ ...who, language: 'en' });
  const page = await get(url);
  const copies = await Promise.all(forms(page, 'export').map((form) => send(url, 'export', form)));
  expect(copies.length).toBe(2);
  for (const { status, text } of copies) {
    expect(status).toBe(200);
    for (const said of ['Quizmaster', 'Database of the bot', 'said by the user'])
      expect(text).toContain(said);
    for (const other of ['someone else', 'secret of the bot']) expect(text).not.toContain(other);
  }
  const [read] = copies.filter(({ text }) => text.startsWith('<'));
  expect(read?.text).toContain('What the bot states from its own stores');
  const [json] = copies.filter(({ text }) => text.startsWith('{'));
  expect(JSON.parse(json?.text ?? '{}')).toMatchObject({ holders: stated });

  expect(database.prepare('SELECT count(*) FROM messages').pluck().get()).toBe(2);
  expect(errors).toEqual([]);
  await loop.stop();
  database.close();
});
