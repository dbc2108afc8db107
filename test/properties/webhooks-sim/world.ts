import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiKey, Bot, WebhookSecrets } from '@app/bots';
import { Acts, Answers } from '@app/acts';
import { InstallationKeys, KeyCache, Keyring, SubjectDigests, SubjectKeys, subjectOf } from '@app/crypto';
import {
  DatabaseModule,
  databaseUnavailable,
  JobLeases,
  JobRunner,
  Signals,
  type SqlValue,
  type Tx,
  UnitOfWork,
} from '@app/database';
import { DeletionRequest } from '@app/gdpr';
import { type Config, createLogger, DomainEvents, readConfig } from '@app/kernel';
import { SharedModule } from '@app/runtime';
import {
  Attempt,
  Delivery,
  DeliveryLeases,
  DeliveryResults,
  DeliveryRetention,
  DeliveryTexts,
  Dispatcher,
  Outbox,
  ReceiverHealth,
  RetrySchedule,
  UrlChange,
} from '@app/webhooks';
import { NestFactory } from '@nestjs/core';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { PlayedInternet, PlayedSender } from './played-internet';
import { SeededRandom } from './seeded-random';
import { PlayedAlarm, Timeline } from './timeline';

const entities = [Bot, ApiKey, DeletionRequest, Delivery, Attempt, ReceiverHealth, UrlChange];

const WEBHOOK_KEY = generateKeyPairSync('ed25519').privateKey;

class Everything {}

/** A UnitOfWork that can die: after that, open units are lost and no new unit begins. */
class MortalUnitOfWork extends UnitOfWork {
  readonly engine = 'sqlite';
  isDead = false;
  /** Simulates a full disk: no write succeeds. */
  isRefusing = false;
  /** What the next write ends as, in place of its work. */
  nextWrite: Promise<never> | undefined;

  constructor(
    private readonly world: World,
    private readonly real: UnitOfWork,
  ) {
    super();
  }

  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const { nextWrite } = this;
    this.nextWrite = undefined;
    if (nextWrite !== undefined) return nextWrite;
    if (this.isRefusing) return Promise.reject(databaseUnavailable());
    return this.alive(() => this.real.write(work));
  }

  read<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.alive(() => this.real.read(work));
  }

  get<Row>(sql: string, ...values: readonly string[]): Promise<Row | undefined> {
    return this.alive(() => this.real.get<Row>(sql, ...values));
  }

  snapshot<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.read(work);
  }

  async vacuum(): Promise<undefined> {}
  async scrubKeys(): Promise<void> {}
  async ping(): Promise<void> {}

  private alive<T>(begin: () => Promise<T>): Promise<T> {
    if (this.isDead) return new Promise(() => undefined);
    const { world } = this;
    world.unitsBegun++;
    const unit = begin().finally(() => world.units.delete(unit));
    world.units.add(unit);
    return unit;
  }
}

/** One process of the service, with its webhook part only. */
export class Process {
  readonly sender: PlayedSender;
  readonly dispatcher: Dispatcher;
  readonly outbox: Outbox;
  readonly secrets: WebhookSecrets;
  /** One run of {@link DeliveryRetention}. */
  readonly retain: () => Promise<void>;
  readonly unitOfWork: MortalUnitOfWork;
  private readonly alarm: PlayedAlarm;

  constructor(readonly world: World) {
    const { config, timeline, random, internet } = world;
    this.unitOfWork = new MortalUnitOfWork(world, world.real);
    this.alarm = new PlayedAlarm(timeline);
    this.sender = new PlayedSender(internet);
    this.secrets = new WebhookSecrets(this.unitOfWork, world.keyring, world.acts, timeline, random);
    const schedule = new RetrySchedule(config.webhookRetrySchedule, random);
    const leases = new DeliveryLeases(
      this.unitOfWork,
      this.secrets,
      timeline,
      random,
      world.texts,
      world.events,
      schedule,
      config,
    );
    const results = new DeliveryResults(this.unitOfWork, schedule, timeline, world.texts, world.events);
    const signer = { webhookKey: () => Promise.resolve(WEBHOOK_KEY) };
    this.dispatcher = new Dispatcher(leases, results, this.sender, this.alarm, timeline, config, signer);
    this.outbox = new Outbox(this.dispatcher, schedule, world.texts, timeline, random);
    const jobs = new JobRunner(this.unitOfWork, new JobLeases(this.unitOfWork, timeline, random));
    const retention = new DeliveryRetention(this.unitOfWork, timeline, config, schedule, world.events);
    this.retain = () => jobs.run(retention, 'now');
    this.dispatcher.onApplicationBootstrap();
  }

  /** Plays kill -9: uncommitted units are lost. */
  kill(): void {
    this.unitOfWork.isDead = true;
    this.sender.isCut = true;
    this.alarm.clear();
  }
}

/** A database file, a clock, random numbers, and all receivers: the environment of the tested processes. */
export class World {
  readonly timeline = new Timeline();
  readonly random: SeededRandom;
  readonly internet = new PlayedInternet(this.timeline);
  readonly keyring: Keyring;
  readonly config: Config;
  real: UnitOfWork;
  texts: DeliveryTexts;
  acts: Acts;
  events: DomainEvents;
  private digests: SubjectDigests;
  unitsBegun = 0;
  /** Running units. */
  readonly units = new Set<Promise<unknown>>();
  private readonly directory = mkdtempSync(join(tmpdir(), 'lethe-sim-'));
  private close: () => Promise<void>;

  constructor(seed: number, environment: Record<string, string> = {}) {
    this.random = new SeededRandom(seed, this.timeline);
    this.keyring = new Keyring([Buffer.alloc(32, 7)], this.random);
    this.config = readConfig({ DATABASE_URL: `sqlite:${join(this.directory, 'lethe.db')}`, ...environment });
  }

  async open(): Promise<this> {
    const database = DatabaseModule.forRoot();
    const imports = [SharedModule.forRoot(this.config, createLogger('silent')), database];
    const module = { module: Everything, imports: [...imports, DatabaseModule.forFeature(entities)] };
    const app = await NestFactory.createApplicationContext(module, { logger: false });
    this.real = app.get(UnitOfWork);
    this.events = app.get(DomainEvents, { strict: false });
    const keys = await InstallationKeys.open(this.real, this.keyring, this.timeline, this.random);
    this.digests = new SubjectDigests(keys);
    const subjectKeys = new SubjectKeys(
      this.real,
      this.keyring,
      this.digests,
      app.get(Signals, { strict: false }),
      this.random,
      new KeyCache(),
    );
    this.texts = new DeliveryTexts(subjectKeys, keys);
    this.acts = new Acts(this.real, new Answers(subjectKeys, this.timeline, keys), this.timeline);
    // Power cuts are not played here.
    await app.get<DataSource>(getDataSourceToken()).query('PRAGMA synchronous = OFF');
    this.close = () => app.close();
    return this;
  }

  async end(): Promise<void> {
    await this.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Plays time with all its consequences. */
  async play(ms: number): Promise<void> {
    await this.timeline.play(ms, () => this.settle());
  }

  /** Waits until all running work waits for the clock. */
  async settle(): Promise<void> {
    for (let before = -1; before !== this.unitsBegun || this.units.size > 0;) {
      before = this.unitsBegun;
      await Promise.allSettled(this.units);
      // What follows a unit has its turns too.
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async registerBot(url: string | null): Promise<string> {
    const id = this.random.uuid();
    const { real, keyring, acts, timeline, random } = this;
    const { encrypted } = new WebhookSecrets(real, keyring, acts, timeline, random).issue(id);
    const now = this.timeline.nowIso();
    const platformId = String(100_000_000_000_000_000n + BigInt(this.random.below(2 ** 31)));
    await this.run(
      `INSERT INTO bots (id, platform_bot_id, name, webhook_url, webhook_secret, created_at, updated_at)
       VALUES (?, ?, 'Played', ?, ?, ?, ?)`,
      ...[id, platformId, url, encrypted, now, now],
    );
    return id;
  }

  /** Queues a completed erasure of the bot; answers the id of its delivery. */
  async forget(process: Process, botId: string): Promise<string> {
    const requestId = this.random.uuid();
    const now = this.timeline.nowIso();
    const subject = subjectOf(this.digests.named(botId, { guild_id: '1', user_id: '2' }));
    return process.unitOfWork.write(async (tx) => {
      await tx.run(
        `INSERT INTO deletion_requests (bot_id, id, guild_id, user_id, status, webhook_sent, created_at, completed_at)
         VALUES (?, ?, ?, ?, 'completed', 0, ?, ?)`,
        ...[botId, requestId, subject.guildId, subject.userId, now, now],
      );
      const payload = JSON.stringify({ event: 'user_forgotten', request_id: requestId, notice: 'x' });
      return process.outbox.queue(tx, { botId, event: 'user_forgotten', requestId, payload, subject });
    });
  }

  run(sql: string, ...values: readonly SqlValue[]): Promise<number> {
    return this.real.write((tx) => tx.run(sql, ...values));
  }

  all<Row>(sql: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.real.read((tx) => tx.all<Row>(sql, ...values));
  }

  /** The number of deliveries in each status. */
  async statuses(): Promise<Record<string, number>> {
    const rows = await this.all<{ status: string; n: number }>(
      'SELECT status, COUNT(*) AS n FROM webhook_deliveries GROUP BY status',
    );
    return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
  }
}
