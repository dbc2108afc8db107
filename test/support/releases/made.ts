import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditProof } from '@lethe/sdk/evidence';
import { Bot } from '../bot';
import { newDatabase, type TestDatabase } from '../database';
import { adminHere } from '../here';
import { Receiver } from '../receiver';
import { seal, withoutSealing } from '../sealing';
import { Service } from '../service';
import { type FilledBot, fillLast, fillRelease } from './content';
import { Fixture, FIXTURE_MASTER_KEY } from './fixture';
import type { KeptBot } from './manifest';
import { answersOf, eventIdsOf, FIXTURE_SETTINGS, opened, pathsOf, proofOf } from './opened';

/** Proofs that are kept of each log. */
const PROOFS = 6;

/** Writes the fixture of the present code, with the answers of the service that opens it. */
export async function makeFixture(release: string): Promise<Fixture> {
  const fixture = new Fixture(release);
  const directory = mkdtempSync(join(tmpdir(), 'lethe-release-'));
  const database = await newDatabase(directory);
  const receiver = await new Receiver().start();
  try {
    const bots = await filled(database, receiver);
    await fixture.write(database, join(directory, 'lethe.db'));
    await writeAnswers(fixture, bots, new Date().toISOString());
    return fixture;
  } finally {
    await receiver.stop();
    await database.drop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function filled(database: TestDatabase, receiver: Receiver): Promise<FilledBot[]> {
  const run = async <T>(schedule: string, work: (service: Service) => Promise<T>): Promise<T> => {
    const settings = { ...FIXTURE_SETTINGS, DATABASE_URL: database.url, WEBHOOK_RETRY_SCHEDULE: schedule };
    const service = await new Service(settings, database).start();
    try {
      await withoutSealing(service);
      return await work(service);
    } finally {
      await service.app.close();
      rmSync(service.directory, { recursive: true, force: true });
    }
  };
  const bots = await run('1s', async (service) => {
    const made = await fillRelease(service, receiver);
    for (const { bot } of made) await seal(service, bot);
    return made;
  });
  await run('1h', (service) => fillLast(service, receiver, bots));
  const suspend = ['bots:suspend', '--bot', bots.at(-1)?.bot.id ?? ''];
  const environment = { DATABASE_URL: database.url, LETHE_MASTER_KEY: FIXTURE_MASTER_KEY };
  const { code, output } = await adminHere(suspend, environment);
  if (code !== 0) throw new Error(`could not be suspended: ${output}`);
  await database.disconnect();
  return bots;
}

/** Opens a copy as every later test does, so that those find it as it is. */
async function writeAnswers(fixture: Fixture, bots: readonly FilledBot[], madeAt: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'lethe-release-'));
  const copy = await fixture.restore(directory);
  try {
    const kept = await opened(copy, madeAt, async (service) => {
      const found: KeptBot[] = [];
      for (const filledBot of bots) found.push(await keptOf(filledBot, service));
      return found;
    });
    fixture.writeManifest({ release: fixture.release, made_at: madeAt, bots: kept });
  } finally {
    await copy.drop();
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Listed {
  readonly data: { readonly checkpoints: readonly { readonly checkpoint: string }[] };
}

async function keptOf(
  { bot: { id, platformBotId, name, key, webhookSecret }, subjects, noted }: FilledBot,
  service: Service,
): Promise<KeptBot> {
  const registered = {
    id,
    platform_bot_id: platformBotId,
    name,
    api_key: key,
    api_key_prefix: '',
    webhook_secret: webhookSecret,
  };
  const bot = new Bot(service.url, registered);
  const requests = noted.erased.map(({ request_id }) => request_id);
  const answers = await answersOf(bot, pathsOf(bot, subjects, requests));
  const proofs: AuditProof[] = [];
  for (const event of (await eventIdsOf(bot)).slice(0, PROOFS)) proofs.push(await proofOf(bot, event));
  // Those of the fixture: what was exported meanwhile has sealed the rest in the copy.
  const listed = answers.find(({ path }) => path === '/audit/checkpoints')?.body as unknown as Listed;
  const checkpoints = listed.data.checkpoints.map(({ checkpoint }) => checkpoint);
  return { registered, answers, proofs, checkpoints, ...noted };
}
