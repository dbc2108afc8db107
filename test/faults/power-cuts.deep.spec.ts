import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keysPath } from '@app/database';
import { Bot, field } from '../support/bot';
import { useBuild } from '../support/build';
import { chance } from '../support/chance';
import { answered, Crashes } from '../support/crashes';
import { workThrough } from '../support/crowd';
import { atDepth, isFull } from '../support/depth';
import { describeIoFaults } from '../support/io-faults';
import { IoJournal } from '../support/io-journal';
import { Life } from '../support/lives';
import { subject } from '../support/snowflakes';

const CALLERS = 8;
/** The acts of one user in a round. */
const ACTS = 10;
/** The share of users from an earlier round. */
const KNOWN = 0.3;
/** The acknowledged acts of a round, in turn. */
const ACKNOWLEDGED = [40, 3, 250, 120, 15, 333, 1];
/** In every second round the first start is killed too, before one of its statements: a start has about 180. */
const STATEMENTS = [120, 25, 60, 170, 5, 90, 145, 12];
/** The log is verified in one of so many rounds, and after the last. */
const VERIFIED_EVERY = 20;
/** A stored key behind its id, as in every row of the file of the keys. */
const STORED_KEY = /([\w-]{12})v2\.[\w-]{8}\.[\w-]{134}/g;
/** The rounds of kills by day: an even number. */
const KILLS = 2;
const MINUTES_MS = 3_600_000;

const build = useBuild();
const inTurn = (some: readonly number[], nth: number): number => some[nth % some.length] ?? 1;

/** An installation whose process is ended again and again under a mixed load. */
class Rounds {
  readonly counts = { rounds: 0, acknowledged: 0, compared: 0, erased: 0 };
  readonly differences: string[] = [];
  private readonly crashes = new Crashes(build);
  private readonly lives: Life[] = [];
  private journal: IoJournal | undefined;

  constructor(private readonly kind: 'kill' | 'cut') {}

  /** The ids of the answered erasures. */
  private get answered(): Set<string> {
    return new Set(this.lives.flatMap(({ erasures }) => erasures));
  }

  /** Plays so many rounds; until the end of the last one an erasure is answered. */
  async play(rounds: number): Promise<void> {
    const bot = await this.begin();
    await bot.hasCategory('profile', [field('turn', 'number')]);
    for (let round = 1; round <= rounds; round++) {
      const isLast = round === rounds;
      await this.load(bot, round, isLast);
      if (round % VERIFIED_EVERY === 0 || isLast) await this.verify();
      this.counts.rounds = round;
    }
  }

  /** Counts the stored keys of one user before an erasure, and after it when all is lost that was not synced. */
  async cutAfterErasure(): Promise<{ before: number; after: number }> {
    const bot = await this.begin();
    const who = subject();
    await bot.hasConsent(who);
    const before = this.stored().size;
    await bot.hasForgotten(who);
    await this.crashes.kill();
    this.journal?.cut(0);
    return { before, after: this.stored().size };
  }

  async stop(): Promise<void> {
    const found = `${this.differences.length} untrue answers`;
    if (isFull) process.stderr.write(`${this.kind}: ${JSON.stringify(this.counts)}, ${found}\n`);
    await this.crashes.remove();
  }

  private async begin(): Promise<Bot> {
    const { root, directory, settings } = await this.crashes.open();
    if (this.kind === 'cut') this.journal = new IoJournal(root, directory);
    Object.assign(settings, this.journal?.environment);
    return Bot.register((await this.crashes.start()).url);
  }

  /** Kills the process under load, and starts it again. */
  private async load(bot: Bot, round: number, isLast: boolean): Promise<void> {
    const known = [...this.lives];
    const another = (): Life => {
      const [old] = chance() < KNOWN ? known.splice(chance() * known.length, 1) : [];
      if (old === undefined) this.lives.push(new Life(bot));
      return old ?? this.lives.at(-1)!;
    };
    // Power cuts begin with the numbers to which the kills of the day do not come.
    const turn = this.kind === 'cut' ? KILLS + round : round;
    const acting = Array.from({ length: CALLERS }, () => ({ life: another(), acts: 0 }));
    let atEnd: ReadonlySet<string> = new Set();
    const sent = await this.crashes.killed({
      callers: CALLERS,
      next: (caller) => {
        const one = acting[caller]!;
        if (one.acts++ === ACTS) Object.assign(one, { life: another(), acts: 1 });
        return one.life;
      },
      send: (life) => life.act(),
      after: inTurn(ACKNOWLEDGED, turn),
      once: () => !isLast || this.answered.size > 0,
      meanwhile: async () => {
        this.journal?.cut();
        atEnd = this.stored();
        if (round % 2 === 1) return;
        await this.crashes.killStart(inTurn(STATEMENTS, turn / 2));
        this.journal?.cut();
      },
    });
    this.counts.acknowledged += answered(sent).length;
    await this.compare(isLast ? this.lives : [...new Set(sent.map(({ given }) => given))]);
    await this.requireErasedKeysGone(atEnd);
  }

  private async compare(lives: readonly Life[]): Promise<void> {
    await workThrough(lives, async (life) => this.differences.push(...(await life.differences())));
    this.counts.compared += lives.length;
  }

  /** The ids of the keys in the bytes of the files. */
  private stored(): Set<string> {
    const files = ['', '-wal']
      .map((suffix) => keysPath(this.crashes.path) + suffix)
      .filter((file) => existsSync(file));
    return new Set(
      files.flatMap((file) =>
        [...readFileSync(file, 'latin1').matchAll(STORED_KEY)].map(([, id]) => id ?? ''),
      ),
    );
  }

  /** `atEnd` are the keys in the files when the process ended. */
  private async requireErasedKeysGone(atEnd: ReadonlySet<string>): Promise<void> {
    const ledger = await this.crashes.database.rows<{ request_id: string; id: string | null }>(
      'SELECT request_id, key_id AS id FROM keys.erasure_ledger',
    );
    const living = await this.crashes.database.rows<{ id: string }>('SELECT id FROM keys.subject_keys');
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
    const { path } = this.crashes;
    for (const file of [path, keysPath(path)]) this.crashes.requireWhole(file);
    expect(await this.crashes.admin('audit:verify')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Every log is what was sealed.'),
    });
  }
}

let rounds: Rounds | undefined;
afterEach(async () => {
  await rounds?.stop();
  rounds = undefined;
});

async function expectTrueAnswers(kind: 'kill' | 'cut', count: number): Promise<void> {
  rounds = new Rounds(kind);
  await rounds.play(count);
  expect(rounds.differences).toStrictEqual([]);
  expect(rounds.counts.erased).toBeGreaterThan(0);
}

describe('kill -9 at any moment', () => {
  it(
    'loses nothing that was answered, brings no one back who was erased, and leaves the log verifiable',
    () => expectTrueAnswers('kill', atDepth(KILLS, 20)),
    MINUTES_MS,
  );
});

/** What the journal says of a file of which it has one write, made so far. @returns the error, if it finds one */
function found(at: number, written: number, made: number): string | undefined {
  const [directory, record] = [mkdtempSync(join(tmpdir(), 'lethe-journal-')), Buffer.alloc(24)];
  try {
    const journal = new IoJournal(directory, directory);
    record.writeUInt32LE(1, 0);
    record.writeBigUInt64LE(BigInt(at), 8);
    record.writeBigUInt64LE(BigInt(written), 16);
    writeFileSync(join(directory, 'io.journal'), Buffer.concat([record, Buffer.alloc(written, 'x')]));
    const content = Buffer.concat([Buffer.alloc(at), Buffer.alloc(made, 'x')]);
    writeFileSync(join(directory, 'lethe.db'), made === 0 ? '' : content);
    journal.cut(0);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

describeIoFaults('the journal of what a process has written', () => {
  it.each([
    ['whole', 56, 4_096, 4_096],
    ['not at all', 56, 4_096, 0],
    ['up to the end of its first page', 56, 4_096, 4_040],
    ['up to the end of its second page', 56, 9_000, 8_136],
  ])('knows a last write that a kill has left: made %s', (_, at, written, made) => {
    expect(found(at, written, made)).toBeUndefined();
  });

  it('refuses a file to which no write leads', () => {
    expect(found(56, 4_096, 4_000)).toBe('the journal does not lead to the present lethe.db');
  });
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
