import { BelongsToBot, DigestColumn, IdColumn, PrimaryIdColumn, TextColumn, TimeColumn } from '@app/database';
import type { Digest } from '@app/crypto';
import { Entity, Index } from 'typeorm';

/** Takes the place of the guild id in a link for all guilds. No guild has this id, so no subject has its digest. */
export const ALL_GUILDS = 'all_guilds';

/** A link to the privacy page of one user. Its token is not stored. */
@Entity('privacy_links')
@Index(['token'], { unique: true })
@Index(['botId', 'guildId', 'userId', 'id'])
@Index(['botId', 'expiresAt'])
export class PrivacyLink {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryIdColumn() id: string;
  /** SHA-256 of the token. */
  @TextColumn() token: string;
  /** The API key that has made the link. The link ends with it. */
  @IdColumn({ name: 'key_id' }) keyId: string;
  /** For all guilds the digest of {@link ALL_GUILDS}. */
  @DigestColumn({ name: 'guild_id' }) guildId: Digest;
  @DigestColumn({ name: 'user_id' }) userId: Digest;
  /** The ids, encrypted with the key of the subject. A subject without a key, and a link for all guilds, use the installation key. */
  @TextColumn() subject: string;
  /** What the page offers, separated by commas. */
  @TextColumn() allow: string;
  @TextColumn({ nullable: true }) language: string | null;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  @TimeColumn({ name: 'expires_at' }) expiresAt: string;
  @BelongsToBot('privacy_links') bot?: object;
}
