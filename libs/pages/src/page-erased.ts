import { Logger } from '@nestjs/common';
import { NO_CLAIM } from '@app/acts';
import type { ErasureEverywhere } from '@app/gdpr';
import type { Acting } from '@app/http';
import { ApiError, describeFault } from '@app/kernel';
import type { Forgotten, ShownErasure } from './page-last';

/** Guilds of one form, since their certificates are one page. A user of Discord is in no more. */
const GUILDS_MAX = 200;

/** Erasures as they were answered, with the salts that are answered once. */
interface Erased extends Pick<Forgotten, 'isWhole'> {
  readonly requests: readonly Pick<ShownErasure, 'request_id' | 'certificate_salt' | 'guild_id'>[];
}

/** Erases a user in all guilds, up to a number. Of an erasure that breaks off, what was completed before is answered. */
export async function erasedEverywhere(
  everywhere: Pick<ErasureEverywhere, 'forgetSome'>,
  acting: Acting,
  userId: string,
): Promise<Erased> {
  try {
    return await everywhere.forgetSome(acting, userId, NO_CLAIM, GUILDS_MAX);
  } catch (error) {
    const requests = error instanceof ApiError ? error.details?.['requests'] : undefined;
    if (requests === undefined) throw error;
    new Logger('Pages').warn(
      'An erasure in all guilds on a page broke off: the guilds done before are shown',
      describeFault(error),
    );
    return { requests: requests as Erased['requests'], isWhole: false };
  }
}
