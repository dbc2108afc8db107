import { Inject, Injectable } from '@nestjs/common';
import { databaseBytes, UnitOfWork } from '@app/database';
import { CONFIG, type Config } from '@app/kernel';
import { diskOf } from './installation';
import type { StorageView } from './operator.dto';

interface SampleRow {
  readonly day: string;
  readonly bytes: number;
  readonly bots: number;
  readonly users: number;
}

/** The size of the installation now and on each day of the last 400. */
@Injectable()
export class Storage {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async view(): Promise<StorageView> {
    const rows = await this.unitOfWork.read((tx) =>
      tx.all<SampleRow>('SELECT day, bytes, bots, users FROM storage_samples ORDER BY day'),
    );
    const disk = diskOf(this.config);
    return {
      bytes: await databaseBytes(this.unitOfWork, this.config),
      disk: disk === undefined ? null : { bytes: disk.bytes, free_bytes: disk.freeBytes },
      samples: rows.map(({ day, bytes, bots, users }) => ({
        at: `${day}T00:00:00.000Z`,
        bytes,
        bots,
        subjects: users,
      })),
    };
  }
}
