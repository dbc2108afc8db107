import type { Tx, UnitOfWork } from '@app/database';

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

/**
 * Keeps a unit open for as long as a test holds it. PostgreSQL ends a transaction that has no statement for 30 seconds, in which
 * a machine whose disk stalls may not have answered another request yet.
 */
export async function keptOpen(tx: Tx): Promise<void> {
  if (tx.engine === 'postgres') await tx.run('SET LOCAL idle_in_transaction_session_timeout = 0');
}
