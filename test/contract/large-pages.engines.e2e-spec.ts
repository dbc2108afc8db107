import { type Bot, field } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { pagination } from '../support/expected';
import { useService } from '../support/shared-service';
import { subject } from '../support/snowflakes';

const service = useService();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot();
});

/** More than the 256 KiB of a page that is sent in one piece. */
const LARGE = 12;
const LENGTH = 25_000;
const DETAILS_LENGTH = 8_000;

/** The answer is exactly this list: in one piece with its length, or in pieces without. */
function expectPage(answer: Answer, name: string, items: readonly unknown[], size: 'one' | 'pieces'): void {
  const data = { [name]: items, pagination: pagination(1, 100, items.length) };
  expect(answer.text).toBe(JSON.stringify({ success: true, data }));
  expect(answer.header('content-length') === undefined ? 'pieces' : 'one').toBe(size);
}

const words = (length: number) => 'ä"\\ \u2028'.padEnd(length, 'x');

async function categories(count: number, length: number): Promise<unknown[]> {
  const declared: unknown[] = [];
  for (let at = 0; at < count; at++) {
    const fields = [0, 1, 2].map((each) => ({ ...field(`f${each}`), description: words(length / 3) }));
    const given = { label_de: 'Ä', label_en: 'A', description: at % 2 === 0 ? null : words(9) };
    const limit =
      at % 3 === 0 ? { labels: { fr: words(9) } } : { retention_days: 30, legal_basis: 'contract' };
    await bot.post('/data/register', { key: `c${at}`, ...given, ...limit, fields });
    declared.push((await bot.get(`/data/categories/c${at}`)).data);
  }
  return declared;
}

async function texts(count: number, length: number): Promise<unknown[]> {
  const registered: unknown[] = [];
  for (let at = 0; at < count; at++) {
    const notice: Json = at % 2 === 0 ? {} : { jurisdiction: words(9), storage_locations: [words(9)] };
    const named = {
      consent_version: String(100 + at),
      language: 'de',
      title: words(9),
      body: words(length / 2),
    };
    const more = { categories: [{ key: 'k', label: 'l', text: words(length / 4) }], accept_label: 'Ja' };
    registered.push((await bot.post('/consents/texts', { ...named, ...more, ...notice })).data);
  }
  return registered;
}

async function events(count: number, length: number): Promise<unknown[]> {
  const written: unknown[] = [];
  for (let at = 0; at < count; at++) {
    const details = { text: 'x'.repeat(length) };
    const body = { ...subject(), event_type: 'data_exported', details };
    written.unshift((await bot.post('/audit/event', body)).data);
  }
  return written;
}

describe.each<
  [string, string, string, (count: number, length: number) => Promise<unknown[]>, number, number]
>([
  ['GET /api/v1/data/categories', 'categories', '/data/categories', categories, LARGE, LENGTH],
  ['GET /api/v1/consents/texts', 'texts', '/consents/texts', texts, 2 * LARGE, LENGTH],
  ['GET /api/v1/audit/events', 'events', '/audit/events', events, 4 * LARGE, DETAILS_LENGTH],
])('%s', (_, name, path, arrange, count, length) => {
  it('answers a page of more than 256 KiB in pieces, with the same bytes as its single records', async () => {
    const items = await arrange(count, length);
    expectPage(await bot.get(`${path}?page_size=100`), name, items, 'pieces');
  });

  it('answers a small page in one piece with its length', async () => {
    const items = await arrange(3, 900);
    expectPage(await bot.get(`${path}?page_size=100`), name, items, 'one');
  });

  it('answers an empty page in one piece', async () => {
    expectPage(await bot.get(`${path}?page_size=100`), name, [], 'one');
  });
});

describe('GET /api/v1/consents/history', () => {
  it('answers a page of more than 256 KiB in pieces', async () => {
    const who = subject();
    const names = Array.from({ length: 50 }, (_, at) => `c${at}`.padEnd(100, 'x'));
    for (const name of names) await bot.post('/data/register', { bot_id: bot.id, categories: [{ name }] });
    for (let at = 0; at < 60; at++)
      await bot.post('/consents/request', { ...who, consent_version: String(at), categories: names });
    const query = `user_id=${who.user_id}&guild_id=${who.guild_id}&page_size=100`;
    const answer = await bot.get<{ entries: Json[] }>(`/consents/history?${query}`);
    const { entries } = answer.data;
    expect(entries.map(({ version }) => version)).toEqual(
      Array.from({ length: 60 }, (_, at) => String(59 - at)),
    );
    expectPage(answer, 'entries', entries, 'pieces');
  });
});
