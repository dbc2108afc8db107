import type { UnitOfWork } from '@app/database';

/** Erasures that are neither completed nor failed. */
export interface ErasureBacklog {
  /** Counted up to {@link COUNTED_MAX}. */
  readonly processing: number;
  /** When the oldest of all began; undefined for none. */
  readonly oldest: string | undefined;
}

const COUNTED_MAX = 10_000;
const PROCESSING = `FROM deletion_requests WHERE status = 'processing'`;

export async function erasureBacklog(unitOfWork: UnitOfWork): Promise<ErasureBacklog> {
  const row = await unitOfWork.snapshot((tx) =>
    tx.get<{ at: string | null; processing: number | string }>(
      `SELECT MIN(created_at) AS at,
       (SELECT COUNT(*) FROM (SELECT 1 ${PROCESSING} LIMIT ${COUNTED_MAX}) found) AS processing ${PROCESSING}`,
    ),
  );
  return { processing: Number(row?.processing ?? 0), oldest: row?.at ?? undefined };
}
