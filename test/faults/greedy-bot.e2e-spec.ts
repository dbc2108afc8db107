import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bot, field } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import type { Answer } from '../support/client';
import { newDatabase, type TestDatabase } from '../support/database';
import { LETHE_MASTER_KEY } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';

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
  const environment = { DATABASE_URL: database.url, LETHE_MASTER_KEY };
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

/** Sends a request several times at once, each about another subject, which is arranged before. */
async function attack(
  request: (who: SubjectIds) => Promise<Answer>,
  status: number,
  arrange: (who: SubjectIds) => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  let those: readonly SubjectIds[];
  const arranged = async (): Promise<void> => {
    those = Array.from({ length: AT_ONCE }, subject);
    for (const who of those) await arrange(who);
  };
  const send = async (): Promise<void> => {
    const answers = await Promise.all(those.map(request));
    expect(answers.map((answer) => answer.status)).toEqual(those.map(() => status));
  };
  await arranged();
  await send();
}

describe('a bot with as many declarations as it may have, each as large as it may be', () => {
  it.each([
    ['pages of its categories', () => '/data/categories?page_size=100'],
    ['its record of processing', () => `/bots/${bot.id}/processing-record`],
  ])('is answered, many times at once, with %s', async (_, path) => {
    await attack(() => bot.get(path()), 200);
  });

  it.each([
    ['a version', { consent_version: '1.0' }],
    ['the version that its declarations give', {}],
  ])('is answered, many times at once, to requests that name 50 categories and %s', async (_, version) => {
    await attack((who) => bot.post('/consents/request', { ...who, ...version, categories }), 201);
  });

  it('is answered, many times at once, to acceptances with receipts of all categories', async () => {
    const accept = (who: SubjectIds) => bot.post('/consents/accept', { ...who, consent_version: '1.0' });
    await attack(accept, 200, (who) => bot.hasRequest(who));
  });

  it('is answered, many times at once, to withdrawals of one of all categories', async () => {
    const [first] = categories;
    const withdraw = (who: SubjectIds) => bot.post('/consents/revoke', { ...who, categories: [first] });
    await attack(withdraw, 200, (who) => bot.hasConsent(who));
  });
});
