import type { Tx, UnitOfWork } from '@app/database';

/** The number of bots, and of those that the operator has suspended. */
export interface BotCounts {
  readonly bots: number;
  readonly suspended: number;
}

/** Counts the bots that are not being deleted. */
export async function countBots(unitOfWork: UnitOfWork): Promise<BotCounts> {
  const row = await unitOfWork.snapshot((tx) =>
    tx.get<Record<keyof BotCounts, number | string>>(
      'SELECT COUNT(*) AS bots, COUNT(suspended_at) AS suspended FROM bots WHERE deleted_at IS NULL',
    ),
  );
  return { bots: Number(row?.bots ?? 0), suspended: Number(row?.suspended ?? 0) };
}

/** Counts all bots, those that are being deleted too. */
export async function countAllBots(tx: Tx): Promise<number> {
  const row = await tx.get<{ total: number | string }>('SELECT COUNT(*) AS total FROM bots');
  return Number(row?.total ?? 0);
}
