import { type Logger } from '@nestjs/common';
import type { UnitOfWork } from '@app/database';
import { describeFault } from '@app/kernel';
import { LeaseLost } from './job-leases';

/**
 * Does `work` for one bot after the other, as `next` names them in the order of their ids. A fault of one is
 * logged and stops no other. Ends early once `stopping` says so, or when another process has taken the job over.
 */
export async function botByBot(
  next: (after: string) => Promise<string | undefined>,
  work: (botId: string) => Promise<void>,
  stopping: AbortSignal,
  logger: Logger,
): Promise<void> {
  for (let botId = await next(''); botId !== undefined && !stopping.aborted; botId = await next(botId)) {
    try {
      await work(botId);
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      logger.error(
        `The work for bot ${botId} failed and is done at the next run; other bots are not affected`,
        {
          botId,
          ...describeFault(error),
        },
      );
    }
  }
}

/** The `next` of {@link botByBot}: `sql` selects the first `bot_id` above its one parameter. */
export function nextBotBy(
  unitOfWork: UnitOfWork,
  sql: string,
): (after: string) => Promise<string | undefined> {
  return async (after) => (await unitOfWork.get<{ bot_id: string | null }>(sql, after))?.bot_id ?? undefined;
}
