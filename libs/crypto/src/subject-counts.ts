import type { UnitOfWork } from '@app/database';

/** The number of subjects about whom anything is held: each has a key. */
export async function countSubjects(unitOfWork: UnitOfWork): Promise<number> {
  const row = await unitOfWork.get<{ total: number | string }>('SELECT COUNT(*) AS total FROM subjects');
  return Number(row?.total ?? 0);
}
