import { inPortions } from './portions';
import type { Tx } from './tx';
import type { UnitOfWork } from './unit-of-work';

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
