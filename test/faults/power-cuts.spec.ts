import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { keysPath, SqliteDatabase } from '@app/database';
import { Bot, field } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { sqliteFile } from '../support/database';
import { atDepth, isFull } from '../support/depth';
import { directoryOnDisk } from '../support/disk';
import { adminHere } from '../support/here';
import { describeIoFaults } from '../support/io-faults';
import { IoJournal } from '../support/io-journal';
import { Life } from '../support/lives';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

const LETHE_MASTER_KEY = Buffer.alloc(32, 'cut').toString('base64');
const CLIENTS = 8;
/** The acts of one user in a round. */
const ACTS = 10;
/** The share of users from an earlier round. */
const KNOWN = 0.3;
/** The time of a load, and the time after which a start is ended. */
const LOAD_MS = [30, 900] as const;
const START_MS = [0, 800] as const;
/** The share of rounds in which the first start is ended too. */
const STARTS_ENDED = 0.2;
/** The log is verified in one of so many rounds, and after the last. */
const VERIFIED_EVERY = 20;
/** A stored key behind its id, as in every row of the file of the keys. */
const STORED_KEY = /([\w-]{12})v2\.[\w-]{8}\.[\w-]{134}/g;
const MINUTES_MS = 3_600_000;

const build = useBuild();

/** An installation whose process is ended again and again under a mixed load. */
class Rounds {
  readonly counts = { rounds: 0, acknowledged: 0, compared: 0, erased: 0 };
  readonly differences: string[] = [];
  private readonly root = directoryOnDisk();
  private readonly path = join(this.root, 'data', 'lethe.db');
  private readonly environment = { DATABASE_URL: `sqlite:${this.path}`, LETHE_MASTER_KEY };
  private readonly keys = sqliteFile(keysPath(this.path));
  private readonly lives: Life[] = [];
  private readonly journal: IoJournal | undefined;
  private readonly service: ChildService;

  constructor(private readonly kind: 'kill' | 'cut') {
    mkdirSync(join(this.root, 'data'));
    if (kind === 'cut') this.journal = new IoJournal(this.root, join(this.root, 'data'));
    const environment = { ...this.environment, ...this.journal?.environment };
    this.service = new ChildService(build.directory, this.path, environment);
  }

  /** The ids of the answered erasures. */
  private get answered(): Set<string> {
    return new Set(this.lives.flatMap(({ erasures }) => erasures));
  }

  /** Plays so many rounds, and more until an erasure was answered. */
  async play(rounds: number): Promise<void> {
    const bot = await Bot.register((await this.service.start()).url);
    await bot.hasCategory('profile', [field('turn', 'number')]);
    for (let round = 1, last = false; !last; round++) {
      const touched = await this.load(bot);
      // A busy machine may answer no erasure in a few short rounds: more rounds follow.
      last = round >= rounds && this.answered.size > 0;
      const atEnd = this.stored();
      if (Math.random() < STARTS_ENDED) await this.endedStart();
      await this.service.start();
      await this.compare(last ? this.lives : touched);
      await this.requireErasedKeysGone(atEnd);
      if (round % VERIFIED_EVERY === 0 || last) await this.verify();
      this.counts.rounds = round;
    }
  }

  /** Counts the stored keys of one user before an erasure, and after it when all is lost that was not synced. */
  async cutAfterErasure(): Promise<{ before: number; after: number }> {
    const bot = await Bot.register((await this.service.start()).url);
    const who = subject();
    await bot.hasConsent(who);
    const before = this.stored().size;
    await bot.hasForgotten(who);
    await this.service.end('SIGKILL');
    this.journal?.cut(0);
    return { before, after: this.stored().size };
  }

  async stop(): Promise<void> {
    await this.service.end('SIGKILL');
    const found = `${this.differences.length} untrue answers`;
    if (isFull) process.stderr.write(`${this.kind}: ${JSON.stringify(this.counts)}, ${found}\n`);
    rmSync(this.root, { recursive: true, force: true });
  }

  /** Ends the process under load; answers the users who have acted. */
  private async load(bot: Bot): Promise<Life[]> {
    const known = [...this.lives];
    const touched: Life[] = [];
    const next = (): Life => {
      const [old] = Math.random() < KNOWN ? known.splice(Math.random() * known.length, 1) : [];
      const life = old ?? new Life(bot);
      if (old === undefined) this.lives.push(life);
      touched.push(life);
      return life;
    };
    const client = async (): Promise<void> => {
      for (;;) {
        const life = next();
        for (let act = 0; act < ACTS; act++) {
          if (!(await life.act())) return;
          this.counts.acknowledged++;
        }
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    await momentWithin(LOAD_MS);
    await this.end();
    await Promise.all(clients);
    return touched;
  }

  private async end(): Promise<void> {
    await this.service.end('SIGKILL');
    this.journal?.cut();
  }

  private async endedStart(): Promise<void> {
    const started = this.service.start().catch(() => undefined);
    await momentWithin(START_MS);
    await this.end();
    await started;
  }

  private async compare(lives: readonly Life[]): Promise<void> {
    const left = [...lives];
    const caller = async (): Promise<void> => {
      for (let life = left.pop(); life !== undefined; life = left.pop())
        this.differences.push(...(await life.differences()));
    };
    await Promise.all(Array.from({ length: CLIENTS }, caller));
    this.counts.compared += lives.length;
  }

  /** The ids of the keys in the bytes of the files. */
  private stored(): Set<string> {
    const files = ['', '-wal']
      .map((suffix) => keysPath(this.path) + suffix)
      .filter((file) => existsSync(file));
    return new Set(
      files.flatMap((file) =>
        [...readFileSync(file, 'latin1').matchAll(STORED_KEY)].map(([, id]) => id ?? ''),
      ),
    );
  }

  /** `atEnd` are the keys in the files when the process ended. */
  private async requireErasedKeysGone(atEnd: ReadonlySet<string>): Promise<void> {
    const ledger = await this.keys.rows<{ request_id: string; id: string | null }>(
      'SELECT request_id, key_id AS id FROM erasure_ledger',
    );
    const living = await this.keys.rows<{ id: string }>('SELECT id FROM subject_keys');
    const present = this.stored();
    const { answered } = this;
    this.counts.erased = answered.size;
    for (const { request_id: request, id } of ledger) {
      if (id !== null && present.has(id)) this.differences.push(`the erased key ${id} is stored`);
      if (id !== null && atEnd.has(id) && answered.has(request))
        this.differences.push(`the erased key ${id} was stored when the process ended`);
      answered.delete(request);
    }
    this.differences.push(...[...answered].map((request) => `the erasure ${request} is not in the ledger`));
    for (const { id } of living)
      if (!present.has(id)) this.differences.push(`the key ${id} is not found in the bytes`);
  }

  private async verify(): Promise<void> {
    for (const path of [this.path, keysPath(this.path)]) {
      const file = new SqliteDatabase(path, { readonly: true });
      expect(file.pragma('integrity_check', { simple: true })).toBe('ok');
      file.close();
    }
    expect(await adminHere(['audit:verify'], this.environment)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Every log is what was sealed.'),
    });
  }
}

/** Resolves at a random moment. */
function momentWithin([min, max]: readonly [number, number]): Promise<void> {
  const endMs = performance.now() + min + Math.random() * (max - min);
  return until(() => performance.now() >= endMs, 1);
}

let rounds: Rounds;
afterEach(() => rounds.stop());

async function expectTrueAnswers(kind: 'kill' | 'cut', count: number): Promise<void> {
  rounds = new Rounds(kind);
  await rounds.play(count);
  expect(rounds.differences).toStrictEqual([]);
  expect(rounds.counts.erased).toBeGreaterThan(0);
}

describe('kill -9 at any moment', () => {
  it(
    'loses nothing that was answered, brings no one back who was erased, and leaves the log verifiable',
    () => expectTrueAnswers('kill', atDepth(2, 20)),
    MINUTES_MS,
  );
});

describeIoFaults('a power cut, which loses some of what was not synced,', () => {
  it('leaves no key of an erasure that was answered, in any byte before the next start', async () => {
    rounds = new Rounds('cut');
    expect(await rounds.cutAfterErasure()).toStrictEqual({ before: 1, after: 0 });
  });

  it(
    'at any moment loses nothing that was answered, brings no one back who was erased, and leaves the log verifiable',
    () => expectTrueAnswers('cut', atDepth(3, 10)),
    MINUTES_MS,
  );
});
