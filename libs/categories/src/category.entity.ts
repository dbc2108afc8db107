import {
  BelongsToBot,
  IdColumn,
  IntegerColumn,
  JsonColumn,
  PrimaryIdColumn,
  TextColumn,
  TimeColumn,
} from '@app/database';
import type { Labels } from '@app/http';
import { Entity, Index, PrimaryColumn } from 'typeorm';
import type { Purposes } from './purposes';
import type { Reasons } from './reasons';

export const FIELD_TYPES = ['string', 'number', 'boolean', 'date', 'json'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** One declared value of a category. */
export interface DataField extends Purposes {
  readonly key: string;
  readonly type: FieldType;
  readonly label_de: string;
  readonly label_en: string;
  readonly labels?: Labels;
  readonly description: string | null;
  /** Users may correct the value on their privacy page. */
  readonly editable?: true;
}

/** A category of data that a bot declares, with its purpose and legal basis (GDPR Art. 6, 13). */
@Entity('categories')
@Index(['botId', 'id'], { unique: true })
@Index(['botId', 'retentionDays'], { where: '"retention_days" IS NOT NULL' })
export class Category {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryColumn({ type: 'varchar', length: '100' }) key: string;
  @IdColumn() id: string;
  @TextColumn({ name: 'label_de' }) labelDe: string;
  @TextColumn({ name: 'label_en' }) labelEn: string;
  /** In further languages. */
  @JsonColumn({ nullable: true }) labels: Labels | null;
  /** For readers of every language that the purposes below lack. */
  @TextColumn({ nullable: true }) description: string | null;
  @JsonColumn({ nullable: true }) purposes: Purposes | null;
  @IntegerColumn({ name: 'retention_days', nullable: true }) retentionDays: number | null;
  @TextColumn({ name: 'legal_basis' }) legalBasis: string;
  /** Why no consent is needed; null where one is. */
  @JsonColumn({ name: 'without_consent', nullable: true }) withoutConsent: Reasons | null;
  /** Empty for a category that takes any object. */
  @JsonColumn() fields: readonly DataField[];
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  @TimeColumn({ name: 'updated_at' }) updatedAt: string;
  /** When its deletion began, which is done in parts. From then on no consent comes to name it. */
  @TimeColumn({ name: 'deleting_at', nullable: true }) deletingAt: string | null;
  @BelongsToBot('categories') bot?: object;
}
