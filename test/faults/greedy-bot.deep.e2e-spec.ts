import { OutgoingMessage } from 'node:http';
import { type SharedWork, UnitOfWork } from '@app/database';
import type { LetheHttpAdapter } from '@app/http';
import { Turns } from '@app/kernel';
import { type Bot, field } from '../support/bot';
import type { Answer } from '../support/client';
import { engine } from '../support/database';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { looksTake } from '../support/time';

/** Requests at the same time. */
const AT_ONCE = 15;
/** The first piece of a page, and all other pieces, in characters; the declaration that fills a piece is beyond it. */
const FIRST_MAX = 256 * 1024;
const PIECE_MAX = 32 * 1024;
const DECLARATION_MAX = 33_000;
/** The declarations in one receipt, whose other parts are short. */
const RECEIPT_MAX = 256 * 1024 + 64 * 1024;
/** More than the units of one commit may take, in milliseconds. */
const LOOK_MS = 21;
/** Another bot calls in each turn of this number. */
const CALLED_EVERY = 20;

const service = useServiceInProcess();
let bot: Bot;
let innocent: Bot;

const names = Array.from({ length: 100 }, (_, at) => `category_${at}`.padEnd(100, 'x'));
const categories = names.slice(0, 50);

beforeAll(async () => {
  // The answers beyond those that are open at once wait for the others, however slow the machine is.
  (service.app.getHttpAdapter() as unknown as LetheHttpAdapter).slots.waitMs = 3_600_000;
  bot = await service.registerBot();
  innocent = await service.registerBot();
  // Each declaration is as large as it may be.
  const fields = Array.from({ length: 6 }, (_, at) => ({
    ...field(`field_${at}`),
    description: 'x'.repeat(5_000),
  }));
  for (const name of names) await bot.hasCategory(name, fields);
});
afterEach(() => jest.restoreAllMocks());

const callOfOther = async (): Promise<number> => (await innocent.status(subject())).status;

describe('a bot with as many declarations as it may have, each as large as it may be', () => {
  /** What answers write to their connections in the turns of the event loop. */
  function watchWrites(): { most: number; turns: number; lengths: number[]; others: number[] } {
    const seen = { most: 0, turns: 0, lengths: [] as number[], others: [] as number[] };
    let inTurn = 0;
    const write = Reflect.get(OutgoingMessage.prototype, 'write') as (...given: unknown[]) => boolean;
    jest.spyOn(OutgoingMessage.prototype, 'write').mockImplementation(function (
      this: OutgoingMessage,
      ...given: unknown[]
    ) {
      const { length } = String(given[0]);
      // The beginning of the envelope is sent with the first piece.
      if (length > 100) {
        seen.most = Math.max(seen.most, ++inTurn);
        seen.lengths.push(length);
      }
      return write.apply(this, given);
    });
    const next = Reflect.get(Turns.prototype, 'next');
    jest.spyOn(Turns.prototype, 'next').mockImplementation(async function (this: Turns) {
      if (seen.turns++ % CALLED_EVERY === 0) seen.others.push(await callOfOther());
      await next.call(this);
      inTurn = 0;
    });
    return seen;
  }

  // A piece of the record is read in one turn and sent in another.
  it.each([
    ['pages of its categories', () => '/data/categories?page_size=100', FIRST_MAX, 1],
    ['its record of processing', () => `/bots/${bot.id}/processing-record`, PIECE_MAX, 2],
  ])('stops no other bot by asking for %s: one short piece in a turn', async (_, path, max, turns) => {
    const seen = watchWrites();
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => bot.get(path())));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(seen.lengths.length).toBeGreaterThan(AT_ONCE);
    expect(seen.turns).toBeGreaterThanOrEqual(turns * seen.lengths.length);
    // On PostgreSQL the turn of the event loop ends with the statement that reads the piece.
    if (engine === 'sqlite') expect(seen.most).toBe(1);
    expect(Math.max(...seen.lengths)).toBeLessThan(max + DECLARATION_MAX);
    expect(seen.others.length).toBeGreaterThan(1);
    expect(new Set(seen.others)).toEqual(new Set([200]));
  });

  /** The same work, whose units go on after `released`. */
  function heldBack(
    work: SharedWork<unknown, unknown>,
    released: () => Promise<unknown>,
  ): SharedWork<unknown, unknown> {
    return (tx, inputs) => released().then(() => work(tx, inputs));
  }

  /**
   * Sends a request several times at once, each about another subject. They go on only once another bot is
   * answered. On SQLite each look at the clock finds that the units of a commit have lasted too long.
   */
  async function attack(
    request: (who: SubjectIds) => Promise<Answer>,
    status: number,
    arrange: (who: SubjectIds) => Promise<unknown> = () => Promise.resolve(),
  ): Promise<void> {
    const those = Array.from({ length: AT_ONCE }, subject);
    for (const who of those) await arrange(who);
    const unitOfWork = service.app.get(UnitOfWork);
    const share = unitOfWork.share.bind(unitOfWork);
    let other: Promise<number> | undefined;
    const held = new Map<unknown, unknown>();
    jest.spyOn(unitOfWork, 'share').mockImplementation((act, input) => {
      // A unit of SQLite waits for its statements only.
      if (engine === 'sqlite') return (other ??= callOfOther()).then(() => share(act, input));
      // One for all callers, who can share a unit.
      const known = held.get(act) ?? heldBack(act, () => (other ??= callOfOther()));
      held.set(act, known);
      return share(known as typeof act, input);
    });
    const committed: number[] = [];
    if (engine === 'sqlite') {
      looksTake(LOOK_MS);
      jest.spyOn(unitOfWork['metrics'], 'observe').mockImplementation((name, value) => {
        if (name === 'databaseCommitUnits') committed.push(value);
      });
    }
    const answers = await Promise.all(those.map(request));
    expect(answers.map((answer) => answer.status)).toEqual(those.map(() => status));
    expect(await other).toBe(200);
    for (const { text } of answers) expect(text.length).toBeLessThan((RECEIPT_MAX * 4) / 3);
    if (engine === 'sqlite') {
      expect(committed.length).toBeGreaterThanOrEqual(AT_ONCE);
      expect(Math.max(...committed)).toBe(1);
    }
  }

  it.each([
    ['a version', { consent_version: '1.0' }],
    ['the version that its declarations give', {}],
  ])('stops no other bot by requests that name 50 categories and %s', async (_, version) => {
    await attack((who) => bot.post('/consents/request', { ...who, ...version, categories }), 201);
  });

  it('stops no other bot by accepting, with receipts of all categories', async () => {
    const accept = (who: SubjectIds) => bot.post('/consents/accept', { ...who, consent_version: '1.0' });
    await attack(accept, 200, (who) => bot.hasRequest(who));
  });

  it('stops no other bot by withdrawing one of all categories', async () => {
    const [first] = categories;
    const withdraw = (who: SubjectIds) => bot.post('/consents/revoke', { ...who, categories: [first] });
    await attack(withdraw, 200, (who) => bot.hasConsent(who));
  });
});
