import { Logger } from '@nestjs/common';
import { ApiError, describeFault } from '@app/kernel';
import type { Forgotten, ShownErasure } from './page-last';

/** Erasures as they were answered, with the salts that are answered once. */
interface Erased extends Pick<Forgotten, 'isWhole'> {
  readonly requests: readonly Pick<ShownErasure, 'request_id' | 'certificate_salt' | 'guild_id'>[];
}

/** What an erasure in all guilds has erased: of one that breaks off, what was completed before. */
export async function erasedEverywhere(erasing: Promise<Pick<Erased, 'requests'>>): Promise<Erased> {
  try {
    const { requests } = await erasing;
    return { requests, isWhole: true };
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
