import { AsyncLocalStorage } from 'node:async_hooks';
import type { UnitOfWork } from '@app/database';

/**
 * What `work` answers, and each `read` or `snapshot` of a UnitOfWork that it causes, each followed by the next `turn` of the event loop.
 * Jobs read meanwhile. `first` is done before each of them; its error is that of the read.
 */
export async function readsAndTurns<T>(
  unitOfWork: UnitOfWork,
  work: () => Promise<T>,
  of: 'read' | 'snapshot' = 'read',
  first: () => Promise<void> = () => Promise.resolve(),
): Promise<{ readonly answer: T; readonly found: readonly string[] }> {
  const found: string[] = [];
  const own = new AsyncLocalStorage<true>();
  const read = unitOfWork[of].bind(unitOfWork);
  const spy = jest.spyOn(unitOfWork, of).mockImplementation(async (each) => {
    if (own.getStore() === true) {
      found.push(of);
      setImmediate(() => found.push('turn'));
      await first();
    }
    return read(each);
  });
  const answer = await own.run(true, work).finally(() => spy.mockRestore());
  return { answer, found };
}
