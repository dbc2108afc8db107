import type { UnitOfWork } from '@app/database';

/** When the oldest erasure that is neither completed nor failed began; undefined for none. */
export async function oldestErasure(unitOfWork: UnitOfWork): Promise<string | undefined> {
  const row = await unitOfWork.get<{ at: string | null }>(
    `SELECT MIN(created_at) AS at FROM deletion_requests WHERE status = 'processing'`,
  );
  return row?.at ?? undefined;
}
