import { Inject, Injectable, Logger } from '@nestjs/common';
import { orphanKeys, removeOrphans, sha256, storedAgain, storedOrphans } from '@app/crypto';
import { type Job, lastingUntil, type Lease, PeriodicJob, type Tx, UnitOfWork } from '@app/database';
import { type Config, CONFIG, DAY_MS, many } from '@app/kernel';
import { destroyKeys } from './ledger-entries.sql';
import { BEGINNING, inParts } from './parts';

/** Faults leave a few keys behind. More of them show that the data is older than the keys. */
const ORPHANS_MAX = 1_000;
/** The name of the job, and the beginning of its mark for many keys. */
const NAME = 'orphan-keys';
const MANY = 'many-';

/** Until when more than {@link ORPHANS_MAX} keys without a subject are kept, as an ISO time; undefined where there are not so many. */
export function orphansKeptUntil(reader: Pick<UnitOfWork, 'get'>): Promise<string | undefined> {
  return lastingUntil(reader, NAME, MANY);
}

/**
 * Removes keys that no subject has. On SQLite a key is committed before the data that needs it: a crash or a fault between
 * the two leaves such a key, which has encrypted nothing. On both engines a restore of older data does. A key is removed when a run
 * finds it that a run a day before has found, in whatever process: data that was restored by mistake can be replaced until then.
 * Many wait until the last backup that may have their data has ended, and anew when they are no longer the same: restored data can
 * have the mark of an earlier wait. One that the ledger names does not wait, and is not counted.
 */
@PeriodicJob({ lookEveryMs: 3_600_000 })
@Injectable()
export class OrphanKeys implements Job {
  readonly name = NAME;
  readonly everyMs = DAY_MS;
  private readonly logger = new Logger(OrphanKeys.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async run(lease: Lease, stopping: AbortSignal): Promise<void> {
    await lease.keep(async () => {
      let orphans = await this.orphans(stopping);
      if (orphans.length > 0 && (await this.destroyBack(stopping)) > 0)
        orphans = await this.orphans(stopping);
      if (stopping.aborted) return;
      if (orphans.length > ORPHANS_MAX) await this.removeMany(lease, stopping);
      else await lease.batch(async (tx) => removeOrphans(tx, await lease.lasting(tx, orphans, this.everyMs)));
    });
  }

  private async removeMany(lease: Lease, stopping: AbortSignal): Promise<void> {
    let mark = MANY;
    for await (const some of orphanKeys(this.unitOfWork)) {
      if (stopping.aborted) return;
      // A read can find the key of a unit that is being committed; a unit that writes does not.
      if (some.length > 0) mark = marked(mark, await lease.batch((tx) => storedOrphans(tx, some)));
    }
    const forMs = Math.max(1, this.config.backupRetentionDays) * DAY_MS;
    const lasting = await lease.batch((tx) => lease.lasting(tx, [mark], forMs));
    if (lasting.length === 0)
      return this.logger.warn(
        `More than ${ORPHANS_MAX} keys belong to no subject: the data is older than the keys, as after a restore. They are kept until ${await orphansKeptUntil(this.unitOfWork)}`,
      );
    for await (const some of orphanKeys(this.unitOfWork)) {
      if (stopping.aborted) return;
      if (some.length > 0) mark = await lease.batch((tx) => this.removeSome(tx, lease, mark, some));
    }
  }

  /** Returns the mark of those that are left: they have waited too. */
  private async removeSome(tx: Tx, lease: Lease, mark: string, some: readonly string[]): Promise<string> {
    const rest = marked(mark, await removeOrphans(tx, some));
    await lease.lasting(tx, rest === `${MANY}0` ? [] : [rest], 0);
    return rest;
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

/** The mark of a set of keys after these were added or taken away: the exclusive or of their digests, in whatever order. */
function marked(mark: string, ids: readonly string[]): string {
  let sum = BigInt(`0x0${mark.slice(MANY.length)}`);
  for (const id of ids) sum ^= BigInt(`0x${sha256(Buffer.from(id)).toString('hex')}`);
  return MANY + sum.toString(16);
}
