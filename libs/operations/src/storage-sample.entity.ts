import { IntegerColumn } from '@app/database';
import { Entity, PrimaryColumn } from 'typeorm';

/** How large the installation was on one day (UTC). It names no bot and no user. */
@Entity('storage_samples')
export class StorageSample {
  @PrimaryColumn({ type: 'varchar', length: '10' }) day: string;
  @IntegerColumn() bytes: number;
  @IntegerColumn() bots: number;
  /** Subjects, which are users in guilds. */
  @IntegerColumn() users: number;
}
