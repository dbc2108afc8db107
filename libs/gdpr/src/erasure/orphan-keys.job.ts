import { Injectable, Logger } from '@nestjs/common';
import { orphanKeys, removeOrphans, storedAgain } from '@app/crypto';
import { type Job, type Lease, PeriodicJob, UnitOfWork } from '@app/database';
import { many } from '@app/kernel';
import { destroyKeys } from './ledger-entries.sql';
import { BEGINNING, inParts } from './parts';

/** Faults leave a few keys behind. More of them show that the data is older than the keys. */
const ORPHANS_MAX = 1_000;

/**
 * Removes keys that no subject has. On SQLite a key is committed before the data that needs it: a crash or a fault between
 * the two leaves such a key, which has encrypted nothing. On both engines a restore of older data does. A key is removed when a run
 * finds it that a run a day before has found, in whatever process: data that was restored by mistake can be replaced until then.
 * One that the ledger names does not wait, and is not counted.
 */
@PeriodicJob({ lookEveryMs: 3_600_000 })
@Injectable()
export class OrphanKeys implements Job {
  readonly name = 'orphan-keys';
  readonly everyMs = 86_400_000;
  private readonly logger = new Logger(OrphanKeys.name);

  constructor(private readonly unitOfWork: UnitOfWork) {}

  async run(lease: Lease, stopping: AbortSignal): Promise<void> {
    await lease.keep(async () => {
      let orphans = await this.orphans(stopping);
      if (orphans.length > 0 && (await this.destroyBack(stopping)) > 0)
        orphans = await this.orphans(stopping);
      if (stopping.aborted) return;
      const areMany = orphans.length > ORPHANS_MAX;
      if (areMany)
        this.logger.warn(
          `More than ${ORPHANS_MAX} keys belong to no subject and are kept: the data is older than the keys, as after a restore`,
        );
      await lease.batch(async (tx) =>
        removeOrphans(tx, await lease.lasting(tx, areMany ? [] : orphans, this.everyMs)),
      );
    });
  }

  /** Destroys the keys of erased users that a restore has brought back; returns their number. */
  private async destroyBack(stopping: AbortSignal): Promise<number> {
    let destroyed = 0;
    const ledger = { table: 'keys.erasure_ledger', id: 'request_id', before: BEGINNING };
    for await (const { found } of inParts(this.unitOfWork, ledger, storedAgain)) {
      if (stopping.aborted) break;
      if (found.length > 0) destroyed += await destroyKeys(this.unitOfWork, found);
    }
    if (destroyed > 0)
      this.logger.warn(
        `A restore has brought back keys of erased users: ${many(destroyed, 'key was', 'keys were')} destroyed again`,
      );
    return destroyed;
  }

  /** In the whole file, or more than {@link ORPHANS_MAX}. */
  private async orphans(stopping: AbortSignal): Promise<readonly string[]> {
    const found: string[] = [];
    for await (const some of orphanKeys(this.unitOfWork)) {
      found.push(...some);
      if (stopping.aborted || found.length > ORPHANS_MAX) break;
    }
    return found;
  }
}
