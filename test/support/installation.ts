import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bot } from './bot';
import type { Build } from './build';
import { type Moment, runScript, type ScriptRun } from './child-script';
import { ChildService } from './child-service';
import type { Json } from './client';
import { newDatabase, type TestDatabase } from './database';
import { adminHere, ServiceHere } from './here';
import { SavedDatabase } from './saved-database';
import { until } from './until';

type Settings = Readonly<Record<string, string>>;

const LETHE_MASTER_KEY = Buffer.alloc(32, 'test').toString('base64');
const UNSEALED = `SELECT 1 FROM audit_events
  WHERE seq > COALESCE((SELECT last_seq FROM audit_heads WHERE bot_id = audit_events.bot_id), 0)`;

export interface InstallationOptions {
  /** Of a suite that starts processes. */
  readonly build?: Build;
  /** A master key, if no others are given. */
  readonly settings?: Settings;
  readonly makeDirectory?: () => string;
  readonly makeDatabase?: (directory: string) => Promise<TestDatabase>;
}

/** A database in a directory of its own, and all that works on it: the service, here or as processes, and commands. */
export class Installation {
  /** Holds the directory of the data, and what is kept beside it. */
  root: string;
  database: TestDatabase;
  /** In this process: it starts fast, ends in order, and cannot be killed. */
  service: ServiceHere;
  /** The file to which processes write that have it as their standard output. */
  log: number;
  readonly settings: Record<string, string>;
  private readonly processes: ChildService[] = [];
  private readonly services: ServiceHere[] = [];

  constructor(private readonly options: InstallationOptions = {}) {
    this.settings = { ...(options.settings ?? { LETHE_MASTER_KEY }) };
  }

  get directory(): string {
    return join(this.root, 'data');
  }

  /** The file of the database, on SQLite. */
  get path(): string {
    return join(this.directory, 'lethe.db');
  }

  get logged(): string {
    return readFileSync(join(this.root, 'log'), 'utf8');
  }

  get environment(): Record<string, string> {
    return { ...this.database.settings, ...this.settings };
  }

  async open(): Promise<this> {
    const { makeDirectory = temporaryDirectory, makeDatabase = newDatabase } = this.options;
    this.root = makeDirectory();
    this.log = openSync(join(this.root, 'log'), 'w');
    mkdirSync(this.directory, { mode: 0o700 });
    this.database = await makeDatabase(this.directory);
    this.service = this.here();
    return this;
  }

  /** Ends all that works on it. */
  async end(): Promise<void> {
    await Promise.all(this.processes.splice(0).map((child) => child.end('SIGKILL')));
    await Promise.all(this.services.map((service) => service.end()));
  }

  /** Ends all that works on it, and removes it. */
  async remove(): Promise<void> {
    await this.end();
    await this.database.drop();
    closeSync(this.log);
    rmSync(this.root, { recursive: true, force: true });
  }

  /** Another service in this process. */
  here(settings: Settings = {}): ServiceHere {
    const service = new ServiceHere(this.database, { ...this.environment, ...settings });
    this.services.push(service);
    return service;
  }

  /** The service as a process of its own, which can be killed. */
  child(
    settings: Settings = {},
    stdout?: 'ignore' | 'pipe' | number,
    kind: 'api' | 'worker' = 'api',
  ): ChildService {
    const environment = { ...this.environment, ...settings };
    const child = new ChildService(this.build.directory, this.path, environment, kind, stdout);
    this.processes.push(child);
    return child;
  }

  /** Runs a command in this process. */
  admin(...args: readonly string[]): Promise<ScriptRun> {
    return adminHere(args, this.environment);
  }

  /** Runs a command in a process of its own, which `kill` ends. */
  adminApart(args: readonly string[], kill?: Moment): Promise<ScriptRun> {
    return runScript(this.build, 'admin', args, this.environment, kill);
  }

  /** A bot with a category, of the service here, which is started for it. */
  async withBot(given?: Json): Promise<Bot> {
    const bot = await Bot.register((await this.service.start()).url, given);
    await bot.hasCategory('profile');
    return bot;
  }

  /** Resolves when every event is in a batch, and the verifier looks at it. */
  sealed(): Promise<void> {
    return until(async () => (await this.database.rows(UNSEALED)).length === 0);
  }

  private get build(): Build {
    if (this.options.build === undefined) throw new Error('the installation was made without a build');
    return this.options.build;
  }
}

const temporaryDirectory = (): string => mkdtempSync(join(tmpdir(), 'lethe-test-'));

/** An installation for each test of the calling file or `describe`. */
export function useInstallation(options?: InstallationOptions): Installation {
  const installation = new Installation(options);
  beforeEach(() => installation.open().then(() => undefined));
  afterEach(() => installation.remove());
  return installation;
}

/** One for all of them. */
export const useOneInstallation = (options?: InstallationOptions): Installation =>
  lasting(new Installation(options));

/** Opens it before the tests of the calling file or `describe`, and removes it after them. */
export function lasting<One extends Installation>(installation: One): One {
  beforeAll(() => installation.open().then(() => undefined));
  afterAll(() => installation.remove());
  return installation;
}

/** Fills the installation once, and begins each test of the calling file or `describe` with a copy that nothing works on. */
export function filledOnce(installation: Installation, fill: () => Promise<void>): void {
  lasting(installation);
  let saved: SavedDatabase;
  beforeAll(async () => {
    await fill();
    await installation.end();
    saved = await SavedDatabase.of(installation.database, installation.path);
  });
  beforeEach(async () => {
    const { root, directory } = installation;
    for (const name of readdirSync(root))
      if (name !== 'log') rmSync(join(root, name), { recursive: true, force: true });
    mkdirSync(directory, { mode: 0o700 });
    await saved.restore();
  });
  afterEach(() => installation.end());
  afterAll(() => saved.drop());
}
