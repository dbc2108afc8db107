import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bot, field } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { type Json, PREFIX } from '../support/client';
import { newDatabase, type TestDatabase } from '../support/database';
import { LETHE_MASTER_KEY } from '../support/service';
import { snowflake, type SubjectIds } from '../support/snowflakes';

const BATCH_BODY_LIMIT_BYTES = 4_194_304;

const build = useBuild();
const directory = mkdtempSync(join(tmpdir(), 'lethe-batches-'));
let database: TestDatabase;
let service: ChildService;
let bot: Bot;
let people: SubjectIds[];

beforeAll(async () => {
  database = await newDatabase(directory);
  const limits = {
    RATE_LIMIT_TIERS: 'free=1000000',
    BATCH_BODY_LIMIT_BYTES: String(BATCH_BODY_LIMIT_BYTES),
  };
  const environment = {
    ...{ ...limits, DATABASE_URL: database.url, LETHE_MASTER_KEY },
  };
  service = await new ChildService(build.directory, join(directory, 'lethe.db'), environment).start();
  bot = await Bot.register(service.url);
  await bot.hasCategory('profile', [field('text'), field('tree', 'json')]);
  const guild_id = snowflake();
  people = Array.from({ length: 100 }, () => ({ user_id: snowflake(), guild_id }));
  for (const who of people) await bot.hasConsent(who);
});
afterAll(async () => {
  await service.end('SIGKILL');
  await database.drop();
  rmSync(directory, { recursive: true });
});

const MIB = 1_048_576;
const itemsOf = (data: (at: number) => Json, count = 100): string =>
  JSON.stringify({
    items: people.slice(0, count).map((who, at) => ({ ...who, category: 'profile', data: data(at) })),
  });
const filled = (text: string, length: number): string => text.repeat(Math.floor(length / text.length));
const names = (length: number): string => {
  let text = '';
  for (let at = 0; text.length < length; at++) text += `,"${at.toString(36)}":1`;
  return text;
};

/** Bodies that cost the most, of the longest that is taken by default where nothing else is said. */
const BODIES: Readonly<Record<string, () => string>> = {
  '100 items of 32 KiB of text': () => itemsOf((at) => ({ text: String(at).padEnd(32_600, 'x') })),
  '100 items of small lists': () =>
    itemsOf(() => ({ tree: JSON.parse(`[${filled('[],', MIB / 110)}0]`) as unknown })),
  '16 items of 63 KiB of small lists': () =>
    itemsOf(() => ({ tree: JSON.parse(`[${filled('[],', 63_000)}0]`) as unknown }), 16),
  '4 items with as many names as fit': () =>
    `{"items":[${Array(4)
      .fill(`{"a":1${names(MIB / 4 - 100)}}`)
      .join(',')}]}`,
  'values of null under as many names as fit': () =>
    itemsOf(
      () =>
        JSON.parse(
          `{"a":null${names(MIB / 4.2)
            .replaceAll(':1', ':null')
            .slice(0, 240_000)
            .replace(/,"[^,]*$/, '')}}`,
        ) as Json,
      4,
    ),
  'as many items as fit': () => `{"items":[${filled('1,', MIB - 100)}1]}`,
  'a nest as deep as fits in each item': () =>
    `{"items":[${Array(4)
      .fill(filled('[', MIB / 9) + filled(']', MIB / 9))
      .join(',')}]}`,
  'a nest as deep as fits beside the items': () =>
    `{"a":${filled('[', MIB / 2 - 50)}${filled(']', MIB / 2 - 50)},"items":[]}`,
};

const send = (path: string, raw: string) =>
  bot.send('POST', PREFIX + path, { headers: { 'content-type': 'application/json' }, raw });

describe('a batch of submits that costs as much as one can', () => {
  it.each(Object.entries(BODIES))('is answered with %s', async (_, body) => {
    const raw = body();
    expect(raw.length).toBeLessThanOrEqual(BATCH_BODY_LIMIT_BYTES);
    const answer = await send('/data/submit/batch', raw);
    expect([_, answer.status]).toEqual([_, 0]);
  });
});
