import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bot, field } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import type { Answer } from '../support/client';
import { newDatabase, type TestDatabase } from '../support/database';
import { stopDuring, watchedEnvironment } from '../support/loop-watch';
import { LETHE_MASTER_KEY } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';

/** A turn of a bot with the largest declarations takes 5 to 40 ms; the rest is for a busy machine. */
const STOP_MAX_MS = 150;
const GROWTH_MAX_MB = 160;
/** Requests at the same time. */
const AT_ONCE = 15;

const build = useBuild();
const directory = mkdtempSync(join(tmpdir(), 'lethe-greedy-'));
let database: TestDatabase;
let service: ChildService;
let bot: Bot;

const names = Array.from({ length: 100 }, (_, at) => `category_${at}`.padEnd(100, 'x'));
const categories = names.slice(0, 50);

beforeAll(async () => {
  database = await newDatabase(directory);
  const environment = { ...watchedEnvironment(directory), DATABASE_URL: database.url, LETHE_MASTER_KEY };
  service = await new ChildService(build.directory, join(directory, 'lethe.db'), environment).start();
  bot = await Bot.register(service.url);
  // Each declaration is as large as it may be.
  const fields = Array.from({ length: 6 }, (_, at) => ({
    ...field(`field_${at}`),
    description: 'x'.repeat(5_000),
  }));
  for (const name of names) await bot.hasCategory(name, fields);
});
afterAll(async () => {
  await service.end('SIGKILL');
  await database.drop();
  rmSync(directory, { recursive: true });
});

/** Sends a request several times at once, each about a subject of `those`, after one that warms the process up. */
async function attack(
  those: readonly SubjectIds[],
  request: (who: SubjectIds) => Promise<Answer>,
  status: number,
): Promise<void> {
  const [first = subject(), ...others] = those;
  await request(first);
  const { stopMs, growthMb } = await stopDuring(service, async () => {
    const answers = await Promise.all(others.map(request));
    expect(answers.map((answer) => answer.status)).toEqual(others.map(() => status));
  });
  expect(stopMs).toBeLessThan(STOP_MAX_MS);
  expect(growthMb).toBeLessThan(GROWTH_MAX_MB);
}

const subjects = () => Array.from({ length: AT_ONCE + 1 }, subject);

async function consenting(): Promise<SubjectIds[]> {
  const those = subjects();
  for (const who of those) await bot.hasConsent(who);
  return those;
}

describe('a bot with as many declarations as it may have, each as large as it may be', () => {
  it.each([
    ['pages of its categories', () => '/data/categories?page_size=100'],
    ['its record of processing', () => `/bots/${bot.id}/processing-record`],
  ])('stops no other bot by asking for %s', async (_, path) => {
    await attack(subjects(), () => bot.get(path()), 200);
  });

  it.each([
    ['a version', { consent_version: '1.0' }],
    ['the version that its declarations give', {}],
  ])('stops no other bot by requests that name 50 categories and %s', async (_, version) => {
    await attack(subjects(), (who) => bot.post('/consents/request', { ...who, ...version, categories }), 201);
  });

  it('stops no other bot by accepting, with receipts of all categories', async () => {
    const those = subjects();
    for (const who of those) await bot.hasRequest(who);
    await attack(those, (who) => bot.post('/consents/accept', { ...who, consent_version: '1.0' }), 200);
  });

  it('stops no other bot by withdrawing one of all categories', async () => {
    const [first] = categories;
    await attack(
      await consenting(),
      (who) => bot.post('/consents/revoke', { ...who, categories: [first] }),
      200,
    );
  });
});
