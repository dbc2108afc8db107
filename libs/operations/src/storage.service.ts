import { Inject, Injectable } from '@nestjs/common';
import { countBots } from '@app/bots';
import { countSubjects } from '@app/crypto';
import { databaseBytes, type Job, type Lease, PeriodicJob, UnitOfWork } from '@app/database';
import { Clock, CONFIG, type Config, Degradations, DISK_LOW } from '@app/kernel';
import { disksOf } from './installation';
import type { StorageView } from './operator.dto';

const SAMPLES =
  "SELECT day || 'T00:00:00.000Z' AS at, bytes, bots, users AS subjects FROM storage_samples ORDER BY day";

/** The size of the installation now and on each day of the last 400. */
@Injectable()
export class Storage {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async view(): Promise<StorageView> {
    const samples = await this.unitOfWork.read((tx) => tx.all<StorageView['samples'][number]>(SAMPLES));
    const [disk] = disksOf(this.config).sort((one, other) => one.freeBytes - other.freeBytes);
    return {
      bytes: await databaseBytes(this.unitOfWork, this.config),
      disk: disk === undefined ? null : { bytes: disk.bytes, free_bytes: disk.freeBytes },
      samples,
    };
  }
}

/** Days for which a sample is kept. */
const KEPT_DAYS = 400;

/**
 * Writes the size of the installation once for each day, by its first run on this day in any process, and removes what is
 * older than 400 days.
 */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class StorageSampling implements Job {
  readonly name = 'storage-samples';
  readonly everyMs = 3_600_000;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly degradations: Degradations,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async run(lease: Lease): Promise<void> {
    // The rest of the disk is for erasures.
    if (this.degradations.has(DISK_LOW)) return;
    const day = this.clock.confirmedIso().slice(0, 10);
    const known = await this.unitOfWork.get('SELECT 1 FROM storage_samples WHERE day = ?', day);
    if (known !== undefined) return;
    const { unitOfWork } = this;
    const bytes = await databaseBytes(unitOfWork, this.config);
    const { bots } = await countBots(unitOfWork);
    const subjects = await countSubjects(unitOfWork);
    const oldest = this.clock.daysAgoIso(KEPT_DAYS).slice(0, 10);
    await lease.batch(async (tx) => {
      await tx.run(
        'INSERT INTO storage_samples (day, bytes, bots, users) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
        ...[day, bytes, bots, subjects],
      );
      await tx.run('DELETE FROM storage_samples WHERE day < ?', oldest);
    });
  }
}
