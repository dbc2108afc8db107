import type { UnitOfWork } from '@app/database';

/** Notes each `read` of a UnitOfWork, and after it the next `turn` of the event loop. */
export function readsAndTurns(unitOfWork: UnitOfWork): readonly string[] {
  const found: string[] = [];
  const read = unitOfWork.read.bind(unitOfWork);
  jest.spyOn(unitOfWork, 'read').mockImplementation((work) => {
    found.push('read');
    setImmediate(() => found.push('turn'));
    return read(work);
  });
  return found;
}
