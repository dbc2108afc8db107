import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bot } from './bot';
import { madeBuild } from './build';
import { ChildService } from './child-service';
import { Client, type Json } from './client';
import type { SubjectDigests } from '@app/crypto';
import { engine, newDatabase, type TestDatabase } from './database';
import { digestsOf, type StoredIds, storedIds } from './digests';
import type { SubjectIds } from './snowflakes';

const LETHE_MASTER_KEY = Buffer.alloc(32, 'test').toString('base64');

interface Running {
  readonly url: string;
  readonly database: TestDatabase;
  readonly digests: SubjectDigests;
}

/** The services of this Jest worker, by engine; they end with the worker. */
const { sharedServices } = Object.assign(globalThis, {
  sharedServices:
    (globalThis as { sharedServices?: Map<string, Promise<Running>> }).sharedServices ??
    new Map<string, Promise<Running>>(),
});

/** A service in its own process, shared by suites: each test registers its own bots. */
export class SharedService {
  url: string;
  /** Also holds the rows of other suites. */
  database: TestDatabase;
  /** A client without an API key. */
  anonymous: Client;
  private digests: SubjectDigests;

  async connect(): Promise<void> {
    let running = sharedServices.get(engine);
    if (running === undefined) sharedServices.set(engine, (running = start()));
    ({ url: this.url, database: this.database, digests: this.digests } = await running);
    this.anonymous = new Client(this.url);
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** The ids of a subject as the service stores them. */
  stored({ id }: Pick<Bot, 'id'>, who: SubjectIds): StoredIds {
    return storedIds(this.digests, id, who);
  }

  registerBot(given: Json = {}): Promise<Bot> {
    return Bot.register(this.url, given);
  }
}

/** The service for suites that only use HTTP. The first of them starts it. */
export function useService(): SharedService {
  const service = new SharedService();
  beforeAll(() => service.connect());
  afterAll(() => service.database.disconnect());
  return service;
}

async function start(): Promise<Running> {
  const directory = mkdtempSync(join(tmpdir(), 'lethe-shared-'));
  const [build, database] = await Promise.all([madeBuild(), newDatabase(directory)]);
  const environment = { ...database.settings, ...(engine === 'postgres' && { LETHE_MASTER_KEY }) };
  const child = await new ChildService(build, join(directory, 'lethe.db'), environment).start();
  child.release();
  return { url: child.url, database, digests: await digestsOf(database, environment) };
}
