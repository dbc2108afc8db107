import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { SubjectDigests } from '@app/crypto';
import { ApiKeyTimes } from '@app/bots';
import { UnitOfWork } from '@app/database';
import { ErasureReplay } from '@app/gdpr';
import { LetheHttpAdapter } from '@app/http';
import { createLogger, NestLogger, PrometheusMetrics, readConfig } from '@app/kernel';
import { Health } from '@app/runtime';
import { Dispatcher } from '@app/webhooks';
import { AppModule } from '../../apps/api/src/app.module';
import { configureApp } from '../../apps/api/src/configure-app';
import { FURTHER_MODULES } from '../../modules';
import { Bot } from './bot';
import { storedIds, type StoredIds } from './digests';
import type { SubjectIds } from './snowflakes';
import { Client, Json } from './client';
import { engine, newDatabase, type TestDatabase } from './database';
import { freePort } from './free-port';
import { endPeriods } from './jobs';
import { PATIENT, PATIENT_SERVER } from './patient';

/** Limits that only tests of the limiter reach. */
const UNLIMITED = {
  RATE_LIMIT_TIERS: 'free=1000000',
  RATE_LIMIT_ANONYMOUS: '1000000',
  RATE_LIMIT_CONSOLE: '1000000',
};

/** How long a service in tests trusts a key; a deletion on PostgreSQL waits as long. */
const BELIEVED_MS = 50;

/** No unit is ended, no call is sent twice and no number of the metrics is missing because a process stops for seconds. */
const STOPPED_MAX_MS = 600_000;

export const LETHE_MASTER_KEY = Buffer.alloc(32, 'test').toString('base64');

/** The whole service in this process, with its own database and port. */
export class Service {
  readonly databasePath: string;
  /** On SQLite the key file is beside the database file. */
  database: TestDatabase;
  /** Every line of the log, at the lowest level. */
  readonly logLines: string[] = [];
  app: NestExpressApplication;
  url: string;
  port = 0;
  /** A client without an API key. */
  anonymous: Client;
  /**
   * Whether jobs run at their times. Without it those that are due at the start run before `start` resolves, and later each
   * only when a test runs it: none takes up the rows that a test looks at.
   */
  hasPeriods = false;

  /** Uses the `database` of another service, if given; that service removes it. */
  constructor(
    private readonly environment: Readonly<Record<string, string>> = {},
    database?: TestDatabase,
    readonly directory = mkdtempSync(join(tmpdir(), 'lethe-test-')),
  ) {
    this.databasePath = join(directory, 'lethe.db');
    if (database !== undefined) this.database = database;
  }

  async start(): Promise<this> {
    this.database ??= await newDatabase(this.directory);
    const database = { ...this.database.settings, ...(engine === 'postgres' && { LETHE_MASTER_KEY }) };
    const config = readConfig({
      NODE_ENV: 'test',
      ...PATIENT,
      ...UNLIMITED,
      ...database,
      ...this.environment,
    });
    const logger = createLogger('trace', { write: (line: string) => void this.logLines.push(line) });
    this.app = await NestFactory.create<NestExpressApplication>(
      AppModule.forRoot(config, logger, FURTHER_MODULES),
      new LetheHttpAdapter(config),
      { logger: new NestLogger(logger), abortOnError: false },
    );
    configureApp(this.app);
    // As in every process, between creation and listening.
    await this.app.init();
    this.app.get(ApiKeyTimes, { strict: false }).believedMs = BELIEVED_MS;
    this.app.get(PrometheusMetrics, { strict: false }).readingMaxMs = STOPPED_MAX_MS;
    this.app.get(Health, { strict: false }).answerMaxMs = STOPPED_MAX_MS;
    this.app.get(Dispatcher, { strict: false }).beginMaxMs = STOPPED_MAX_MS;
    this.app.get(UnitOfWork, { strict: false }).unitMaxMs = STOPPED_MAX_MS;
    await this.app.get(ErasureReplay, { strict: false }).run();
    // A port that is still free when the service starts again.
    this.port ||= await freePort();
    await this.app.listen(this.port, '127.0.0.1');
    Object.assign(this.app.getHttpServer(), PATIENT_SERVER);
    if (!this.hasPeriods) await endPeriods(this);
    this.url = `http://127.0.0.1:${this.port}`;
    this.anonymous = new Client(this.url);
    return this;
  }

  /** Ends the application in order and starts another one on the same database and port. */
  async restart(): Promise<void> {
    await this.app.close();
    await this.start();
  }

  async stop(): Promise<void> {
    await this.app.close();
    await this.remove();
  }

  /** Removes the files of a closed service. */
  async remove(): Promise<void> {
    await this.database.drop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** The ids of a subject as the service stores them. */
  stored({ id }: Pick<Bot, 'id'>, who: SubjectIds): StoredIds {
    return storedIds(this.app.get(SubjectDigests, { strict: false }), id, who);
  }

  registerBot(given: Json = {}): Promise<Bot> {
    return Bot.register(this.url, given);
  }
}

/**
 * Starts one service before the tests of the calling file or `describe`, and stops it after them: for tests that change
 * settings, providers or the time. Other tests use the service of `shared-service.ts`.
 */
export function useServiceInProcess(environment: Record<string, string> = {}): Service {
  const service = new Service(environment);
  beforeAll(() => service.start());
  afterAll(() => service.stop());
  return service;
}
