import type { UnitOfWork } from '@app/database';

/** Runs `act` before each unit that writes; its error refuses the unit. Ends with `jest.restoreAllMocks`. */
export function beforeEachUnit(unitOfWork: UnitOfWork, act: () => Promise<void>): void {
  const { write, destroyKeys } = unitOfWork;
  // On PostgreSQL destroyKeys calls write, which runs `act`.
  if (unitOfWork.engine === 'sqlite')
    jest.spyOn(unitOfWork, 'destroyKeys').mockImplementation(async (...given) => {
      await act();
      return destroyKeys.apply(unitOfWork, given);
    });
  jest.spyOn(unitOfWork, 'write').mockImplementation(async (...given) => {
    await act();
    return write.apply(unitOfWork, given);
  });
}
