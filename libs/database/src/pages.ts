import type { EntityManager } from 'typeorm';
import { Turns } from '@app/kernel';
import { type Engine, type SqlList, type SqlValue, Tx } from './tx';
import type { UnitOfWork } from './unit-of-work';

/**
 * Reads rows in the order of their keys, a page at a time. `read` returns the rows after `after`, or the first ones. A
 * page of fewer than `size` rows is the last; with a `size` of 1 the reading ends at an empty page.
 */
export async function* pages<Row>(
  size: number,
  read: (after: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[], void, undefined> {
  for (let after: Row | undefined, more = true; more;) {
    const page = await read(after);
    if (page.length > 0) yield page;
    after = page.at(-1);
    more = page.length >= size;
  }
}

/** The rows of {@link pages}, one by one. */
export async function* eachOf<Row>(
  size: number,
  read: (after: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<Row, void, undefined> {
  for await (const page of pages(size, read)) yield* page;
}

/**
 * The length of a portion, in UTF-16 units. A document that is sent takes the memory of one portion and of the rows of one
 * statement. The portions of all documents together have to fit into the young generation, or they become old garbage.
 */
const PORTION_LENGTH = 64 * 1024;

/** The documents that are read take turns, a piece in each. */
const turns = new Turns();

/**
 * The pieces that `make` yields, in portions. Each portion is read from one snapshot, which is closed before the portion
 * is handed out: a document that a stranger takes slowly holds no connection.
 */
export async function* inPortions(
  unitOfWork: UnitOfWork,
  make: (tx: Tx) => AsyncGenerator<string>,
): AsyncGenerator<readonly string[], void, undefined> {
  const tx = new PortionTx();
  const pieces = make(tx);
  for (let isLast = false; !isLast;) {
    const portion: string[] = [];
    await unitOfWork.snapshot(async (unit) => {
      tx.unit = unit;
      for (let length = 0; length < PORTION_LENGTH;) {
        const next = await pieces.next();
        if ((isLast = next.done === true)) return;
        portion.push(next.value);
        length += next.value.length;
        await turns.next();
      }
    });
    yield portion;
  }
}

/** A view of the database for one document. Its statements run in the unit of the present portion. */
class PortionTx extends Tx {
  unit: Tx;

  get engine(): Engine {
    return this.unit.engine;
  }

  protected get entityManager(): EntityManager {
    return this.unit.manager;
  }

  /** A document that reads much before its next piece takes turns too. */
  protected async fetch(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<unknown[]> {
    await turns.next();
    return this.unit.all(sql, ...values);
  }

  override async each<Row>(sql: string, asked: readonly (readonly string[])[]): Promise<Row[][]> {
    await turns.next();
    return this.unit.each(sql, asked);
  }

  protected fetchOne(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<unknown> {
    return this.unit.get(sql, ...values);
  }

  protected execute(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<number> {
    return this.unit.run(sql, ...values);
  }
}
