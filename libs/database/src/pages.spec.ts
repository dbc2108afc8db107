import { eachOf, inPortions, pages } from './pages';
import type { Tx } from './tx';
import type { UnitOfWork } from './unit-of-work';

/** The numbers from 1 to `count`, read two at a time; notes behind which number each read began. */
function numbers(count: number) {
  const reads: (number | undefined)[] = [];
  const read = async (after: number | undefined): Promise<number[]> => {
    reads.push(after);
    return [1, 2].map((step) => (after ?? 0) + step).filter((number) => number <= count);
  };
  return { read, reads };
}

async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const found: Value[] = [];
  for await (const value of values) found.push(value);
  return found;
}

describe('pages', () => {
  it.each([
    ['nothing', 0, [], [undefined]],
    ['less than a page', 1, [[1]], [undefined]],
    ['a last page that is not full', 3, [[1, 2], [3]], [undefined, 2]],
    [
      'a last page that is full',
      4,
      [
        [1, 2],
        [3, 4],
      ],
      [undefined, 2, 4],
    ],
  ])('read each row once and end, with %s', async (_, count, expected, from) => {
    const { read, reads } = numbers(count);
    expect(await all<unknown>(pages(2, read))).toEqual(expected);
    expect(reads).toEqual(from);
    expect(await all<unknown>(eachOf(2, read))).toEqual(expected.flat());
  });

  it('go on behind a short page where only an empty one is the last', async () => {
    const { read, reads } = numbers(3);
    expect(await all<unknown>(pages(1, read))).toEqual([[1, 2], [3]]);
    expect(reads).toEqual([undefined, 2, 3]);
  });

  it('read nothing that is not asked for', async () => {
    const { read, reads } = numbers(9);
    for await (const row of eachOf(2, read)) if (row === 2) break;
    expect(reads).toEqual([undefined]);
  });

  it('end with the fault of a read', async () => {
    const reading = pages(2, () => Promise.reject(new Error('planted')));
    await expect(reading.next()).rejects.toThrow('planted');
  });
});

const PIECE = 'x'.repeat(1_000);
const PIECES = 1_000;
const STATEMENTS = 50;
/** The length of a portion, which the last of its pieces exceeds. */
const PORTION_MAX = 64 * 1024 + PIECE.length;

describe('a document in portions', () => {
  it('is held in memory a portion at a time, each of a snapshot that is closed before it is handed out', async () => {
    let [open, snapshots, made, taken] = [0, 0, 0, 0];
    const snapshot = async (work: (tx: Tx) => Promise<void>): Promise<void> => {
      snapshots++;
      open++;
      await work({} as Tx);
      open--;
    };
    async function* pieces(): AsyncGenerator<string> {
      for (; made < PIECES; made++) yield await Promise.resolve(PIECE);
    }
    let mostHeld = 0;
    for await (const portion of inPortions({ snapshot } as unknown as UnitOfWork, pieces)) {
      expect(open).toBe(0);
      taken += portion.length;
      // Nothing is made ahead of the reader.
      mostHeld = Math.max(mostHeld, portion.join('').length, (made - taken) * PIECE.length);
    }
    expect(taken).toBe(PIECES);
    expect(mostHeld).toBeLessThanOrEqual(PORTION_MAX);
    expect(snapshots).toBe(Math.ceil((PIECES * PIECE.length) / (PORTION_MAX - PIECE.length)));
  });

  it('gives a turn to others before each statement that reads rows, also where it makes nothing of them', async () => {
    let [statements, turns, isOver] = [0, 0, false];
    const unit = {
      all: () => Promise.resolve(void statements++),
    } as unknown as Tx;
    const snapshot = (work: (tx: Tx) => Promise<void>): Promise<void> => work(unit);
    async function* pieces(tx: Tx): AsyncGenerator<string> {
      for (let at = 0; at < STATEMENTS; at++) await tx.all('SELECT 1');
      yield '';
    }
    const turn = (): void => {
      turns++;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    for await (const portion of inPortions({ snapshot } as unknown as UnitOfWork, pieces))
      isOver = portion.length > 0;
    expect(statements).toBe(STATEMENTS);
    expect(turns).toBeGreaterThanOrEqual(STATEMENTS);
  });
});
