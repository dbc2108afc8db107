import {
  BelongsToBot,
  IntegerColumn,
  PrimaryIdColumn,
  SnowflakeColumn,
  TextColumn,
  TimeColumn,
} from '@app/database';
import { Column, Entity, Index } from 'typeorm';

/** A tenant: one bot with snowflake ids. */
@Entity('bots')
@Index(['platformBotId'], { unique: true })
export class Bot {
  @PrimaryIdColumn() id: string;
  @SnowflakeColumn({ name: 'platform_bot_id' }) platformBotId: string;
  @TextColumn() name: string;
  @TextColumn({ name: 'privacy_contact', nullable: true }) privacyContact: string | null;
  @TextColumn({ name: 'webhook_url', nullable: true }) webhookUrl: string | null;
  /** Encrypted by the Keyring; so is the secret that replaces it at `webhookSecretNextAt`. */
  @TextColumn({ name: 'webhook_secret' }) webhookSecret: string;
  @TextColumn({ name: 'webhook_secret_next', nullable: true }) webhookSecretNext: string | null;
  @TimeColumn({ name: 'webhook_secret_next_at', nullable: true }) webhookSecretNextAt: string | null;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  @TimeColumn({ name: 'updated_at' }) updatedAt: string;
  /** When the deletion of the bot began: its keys are void, its rows are being deleted. */
  @TimeColumn({ name: 'deleted_at', nullable: true }) deletedAt: string | null;
  /** The tier that the operator gave the bot; null for the tier of the settings. */
  @TextColumn({ nullable: true }) tier: string | null;
  /** Since when the operator suspends the bot, and when the latest suspension ended. */
  @TimeColumn({ name: 'suspended_at', nullable: true }) suspendedAt: string | null;
  @TimeColumn({ name: 'resumed_at', nullable: true }) resumedAt: string | null;
}

/** An API key of a bot. Only its digest is stored; the key itself is shown once. */
@Entity('api_keys')
@Index(['digest'], { unique: true })
export class ApiKey {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryIdColumn() id: string;
  @Column({ type: 'varchar', length: '64' }) digest: string;
  @TextColumn() prefix: string;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  /** The bits of its scopes. */
  @IntegerColumn({ default: 15 }) scopes: number;
  /** From then on the key is void. */
  @TimeColumn({ name: 'expires_at', nullable: true }) expiresAt: string | null;
  /** When a successor was issued for it. */
  @TimeColumn({ name: 'rotated_at', nullable: true }) rotatedAt: string | null;
  /** Written at most once a minute: see {@link KeyUses}. */
  @TimeColumn({ name: 'last_used_at', nullable: true }) lastUsedAt: string | null;
  /** What its team calls it. */
  @TextColumn({ nullable: true }) name: string | null;

  @BelongsToBot('api_keys') bot?: object;
}
