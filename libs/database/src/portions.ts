import { Turns } from '@app/kernel';
import type { EntityManager } from 'typeorm';
import { type Engine, type SqlList, type SqlValue, Tx } from './tx';
import type { UnitOfWork } from './unit-of-work';

/** The length of a portion, in UTF-16 units: a document that is sent takes this memory. */
const PORTION_LENGTH = 256 * 1024;

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
  const tx = new PortionTx(unitOfWork);
  const pieces = unlessFailed(make(tx));
  for (let isLast = false; !isLast;) {
    const portion: string[] = [];
    let length = 0;
    // The unit may be run again, where its standby has failed: it continues with the pieces. Pieces that have failed would
    // only look complete.
    await unitOfWork.snapshot(async (unit) => {
      tx.unit = unit;
      while (!isLast && length < PORTION_LENGTH) {
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

/** The pieces of a generator, which throws its error at each further call. */
function unlessFailed(made: AsyncGenerator<string>): Pick<AsyncGenerator<string>, 'next'> {
  let failed: Promise<IteratorResult<string, void>> | undefined;
  return {
    next: () => {
      if (failed !== undefined) return failed;
      const next = made.next();
      next.catch(() => (failed = next));
      return next;
    },
  };
}

/**
 * A view of the database for one document. Its statements run in the unit of the present portion. A statement that fails on a
 * standby is run on the primary, since the pieces cannot be made again; so are the later ones of the portion.
 */
class PortionTx extends Tx {
  unit: Tx;

  constructor(private readonly unitOfWork: UnitOfWork) {
    super();
  }

  get engine(): Engine {
    return this.unit.engine;
  }

  protected get entityManager(): EntityManager {
    return this.unit.manager;
  }

  protected fetch(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<unknown[]> {
    return this.within((unit) => unit.all(sql, ...values));
  }

  protected fetchOne(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<unknown> {
    return this.within((unit) => unit.get(sql, ...values));
  }

  protected execute(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<number> {
    return this.unit.run(sql, ...values);
  }

  private async within<T>(statement: (unit: Tx) => Promise<T>): Promise<T> {
    const { unit } = this;
    try {
      return await statement(unit);
    } catch (error) {
      if (!unit.isOnStandby) throw error;
      return this.unitOfWork.read(statement);
    }
  }
}
