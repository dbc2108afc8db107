import { AsyncLocalStorage } from 'node:async_hooks';
import type { UnitOfWork } from '@app/database';

/** What `work` answers, and each `read` of a UnitOfWork that it causes, each followed by the next `turn` of the event loop. Jobs read meanwhile. */
export async function readsAndTurns<T>(
  unitOfWork: UnitOfWork,
  work: () => Promise<T>,
): Promise<{ readonly answer: T; readonly found: readonly string[] }> {
  const found: string[] = [];
  const own = new AsyncLocalStorage<true>();
  const read = unitOfWork.read.bind(unitOfWork);
  jest.spyOn(unitOfWork, 'read').mockImplementation((each) => {
    if (own.getStore() === true) {
      found.push('read');
      setImmediate(() => found.push('turn'));
    }
    return read(each);
  });
  return { answer: await own.run(true, work), found };
}
