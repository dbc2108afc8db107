import { Entity, PrimaryColumn } from 'typeorm';

/** The installation whose keys the data needs: one row, written at the first start. */
@Entity('installation')
export class Installation {
  /** A digest under the digest key. It tells nothing about the key, and no other key has it. */
  @PrimaryColumn({ type: 'varchar', length: 43 }) id: string;
}
